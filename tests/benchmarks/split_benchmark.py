"""How fast texts are split, beside LangChain and LlamaIndex in the same run.

    python -m tests.benchmarks.split_benchmark [--megabytes 0.1 1 10 50] [--rivals]

Texts are the two kinds of ``shared/data/bulk``: laws (plain text) and a product manual (Markdown), as one document of
each size and as all documents one by one. Fuzi makes parents, children and token estimates; the others make one level
of chunks of 200 characters. Speed is measured in processor time of this process (all splitters use one thread), best
of three runs (of one from 10 MB on), so that neighbours on the machine matter less. ``--rivals`` needs the packages of
the group ``bench``, for example in an environment of their own that also sees Fuzi's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from service.config import SplitSettings
from service.split import split
from service.types import ExtractedText, TextFormat
from tests.benchmarks.bench.peers.split_peer import rivals
from tests.inputs import SHARED

BULK = SHARED / "data" / "bulk"

type Splitter = Callable[[ExtractedText], int]
"""Splits one document, gives the number of chunks that are searched."""


@dataclass(frozen=True, slots=True)
class Input:
    """Documents that are measured together."""

    name: str
    documents: Sequence[ExtractedText]

    @property
    def characters(self) -> int:
        return sum(len(document.text) for document in self.documents)

    @property
    def megabytes(self) -> float:
        return sum(len(document.text.encode()) for document in self.documents) / 1e6


def ours(strategy: str, **settings: object) -> Splitter:
    chosen = SplitSettings.model_validate({"strategy": strategy, **settings})
    return lambda document: len(split(document, chosen).children)


def _of_documents(splitters: dict[str, Callable[[str], int]]) -> dict[str, Splitter]:
    def of_document(count: Callable[[str], int]) -> Splitter:
        return lambda document: count(document.text)

    return {name: of_document(count) for name, count in splitters.items()}


def inputs(megabytes: Sequence[float]) -> Iterator[Input]:
    """Both kinds of text in every size, and one line without any punctuation."""
    for name, file, text_format in (
        ("laws", "laws.jsonl.gz", TextFormat.PLAIN),
        ("manual", "techdocs.jsonl.gz", TextFormat.MARKDOWN),
    ):
        with gzip.open(BULK / file, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        document = partial(ExtractedText, format=text_format, media_type="text/plain")
        yield Input(f"{name}, {len(texts)} documents", [document(text) for text in texts])
        whole = "\n\n".join(texts)
        bytes_a_character = len(whole.encode()) / len(whole)
        for size in megabytes:
            length = int(size * 1e6 / bytes_a_character)
            repeated = "\n\n".join([whole] * (length // len(whole) + 1))[:length]
            yield Input(f"{name}, one of {size:g} MB", [document(repeated)])
    line = ExtractedText("字" * 3_333_333, TextFormat.PLAIN, "text/plain")
    yield Input("one line of 10 MB", [line])


def seconds(splitter: Splitter, documents: Sequence[ExtractedText], rounds: int) -> tuple[float, int]:
    """Least processor time of a round over all documents, and the chunks it made."""
    best, chunks = float("inf"), 0
    for _ in range(rounds):
        start = time.process_time()
        chunks = sum(splitter(document) for document in documents)
        best = min(best, time.process_time() - start)
    return max(best, 1e-9), chunks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, nargs="*", default=[0.1, 1, 10, 50])
    parser.add_argument("--rivals", action="store_true", help="measure LangChain and LlamaIndex too")
    arguments = parser.parse_args()
    splitters = {
        "Fuzi, sentence": ours("sentence"),
        "Fuzi, structure": ours("structure"),
        "Fuzi, structure in tokens": ours("structure", unit="tokens"),
        **(_of_documents(rivals()) if arguments.rivals else {}),
    }
    for splitter in splitters.values():
        splitter(ExtractedText("预热。", TextFormat.PLAIN, "text/plain"))
    print(f"{'input':26} {'splitter':32} {'M chars/s':>10} {'MB/s':>8} {'ratio':>7} {'chunks':>9}")
    for each in inputs(arguments.megabytes):
        first = 0.0
        for name, splitter in splitters.items():
            took, chunks = seconds(splitter, each.documents, rounds=1 if each.megabytes > 9 else 3)
            first = first or took
            row = f"{each.characters / took / 1e6:10.1f} {each.megabytes / took:8.1f} {first / took:7.2f} {chunks:9d}"
            print(f"{each.name:26} {name:32} {row}", flush=True)
    print(f"ratio: speed against {next(iter(splitters))}; Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
