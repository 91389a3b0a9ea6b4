"""Who writes in the bench writes by turns and within its time, and what it takes of the processors is counted whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.bench.load.processor import processor_seconds
from tests.benchmarks.bench.load.writers import BATCH, Written, by_turns
from tests.benchmarks.bench.peers.peer import Chunk, Peer

_BURN = "import time\nwhile time.process_time() < 0.3: pass"


def test_the_first_writes_for_a_time_and_the_others_as_many_documents() -> None:
    told = list[tuple[str, float, int]]()

    def writer(name: str, chunks: int) -> Any:
        def write(seconds: float, documents: int) -> Written:
            told.append((name, seconds, documents))
            return Written(chunks, 2.0, 0.5)

        return write

    writers = {"other": writer("other", 3 * BATCH), "floor": writer("floor", 2 * BATCH + 1)}
    found = by_turns(writers, "floor", seconds=9, rounds=3)
    assert told == [("floor", 3, 0), ("other", 3, 3)] * 3
    assert found == {"floor": Written(6 * BATCH + 3, 6.0, 1.5), "other": Written(9 * BATCH, 6.0, 1.5)}
    assert found["other"].rate == 9 * BATCH / 6
    assert found["other"].processor_ms == 1500 / (9 * BATCH)


class _Noting(Peer):
    """Notes what it is given."""

    def __init__(self) -> None:
        self.batches = list[list[Chunk]]()

    async def write(self, batches: Iterator[Sequence[Chunk]]) -> None:
        self.batches += [list(batch) for batch in batches]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [["a", "b"], ["c", "d"], ["e"]]),
        ({"skip": 3}, [["d", "e"]]),
        ({"seconds": 0}, [["a", "b"]]),
        ({"seconds": 0, "skip": 2}, [["c", "d"]]),
    ],
)
async def test_a_peer_gets_batches_until_its_time_is_over(
    more: dict[str, Any], expected: list[list[str]], tmp_path: Path
) -> None:
    chunks, vectors = tmp_path / "chunks.jsonl", tmp_path / "vectors.npy"
    chunks.write_text("".join(json.dumps({"text": text, "source": "s"}) + "\n" for text in "abcde"), encoding="utf-8")
    np.save(vectors, np.arange(10, dtype=np.float32).reshape(5, 2))
    peer = _Noting()
    files = {"chunks": str(chunks), "vectors": str(vectors)}
    answer = await peer.handle({"do": "write", **files, "first": 100, "batch": 2, **more})
    assert [[chunk.text for chunk in batch] for batch in peer.batches] == expected
    assert answer["chunks"] == sum(map(len, expected))
    for chunk in (chunk for batch in peer.batches for chunk in batch):
        place = "abcde".index(chunk.text)
        assert (chunk.number, list(chunk.vector)) == (100 + place, [2 * place, 2 * place + 1])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nobody tells of processes that ended")
def test_processor_time_of_processes_that_ended_counts() -> None:
    before = processor_seconds(os.getpid())
    subprocess.run([sys.executable, "-c", _BURN], check=True)
    assert processor_seconds(os.getpid()) - before > 0.25
