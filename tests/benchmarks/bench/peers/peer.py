"""What all peers have in common: chunks from a file, questions with prepared vectors, lines of JSON.

Runs in the peers' virtual environment, which has none of Fuzi's libraries.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, islice
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.bench.load.drive import drive

CANDIDATES, ANSWERS = 50, 5
"""Rows of each leg, and answers of a hybrid search: those of Fuzi."""
HNSW_M, EF_CONSTRUCTION, EF_SEARCH = 24, 200, 400
"""Those of Fuzi: with their own, smaller ones the peers' vector legs miss a fifth of the nearest chunks."""
CONNECTIONS = 40


@dataclass(frozen=True, slots=True)
class Chunk:
    """A child chunk as the peer stores it."""

    number: int
    text: str
    source: str
    vector: Any


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the peer asks it; ``source`` answers it."""

    text: str
    source: str | None
    vector: list[float]


class Peer:
    """Answers the bench; what a peer is like is in the methods at the end."""

    segmented = False

    async def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request."""
        match request["do"]:
            case "open":
                self.dsn, self.segmented = request["dsn"], request.get("segmented", False)
                return await self.open() or {}
            case "fill":
                return await self.fill(self._chunks(request)) or {}
            case "questions":
                self.questions = self._questions(request)
                return {}
            case "load":
                return await self._load(request)
            case "quality":
                return await self._quality()
            case "nearest":
                return {"numbers": [await self.nearest(question) for question in self.questions]}
            case "write":
                return await self._write(request)
        raise ValueError(f"no such request: {request['do']}")

    def _chunks(self, request: dict[str, Any]) -> Iterator[Chunk]:
        file = Path(request["chunks"])
        lines = segmented_lines(file) if self.segmented else file
        vectors = np.load(request["vectors"], mmap_mode="r")
        with lines.open(encoding="utf-8") as rows:
            skip = request.get("skip", 0)
            for number, row in enumerate(map(json.loads, islice(rows, skip, None)), start=skip):
                yield Chunk(number + request.get("first", 1), row["text"], row["source"], vectors[number])

    def _questions(self, request: dict[str, Any]) -> list[Question]:
        file = Path(request["queries"])
        vectors = np.load(request["vectors"]).tolist()
        with (segmented_lines(file) if self.segmented else file).open(encoding="utf-8") as rows:
            asked = [json.loads(row) for row in rows]
        return [Question(row["text"], row["source"], vector) for row, vector in zip(asked, vectors, strict=True)]

    async def _write(self, request: dict[str, Any]) -> dict[str, Any]:
        """Batches until the ``seconds`` are over, at least one; without these all of them."""
        written, begin = 0, time.perf_counter()

        def batches() -> Iterator[Sequence[Chunk]]:
            nonlocal written
            for part in batched(self._chunks(request), request["batch"]):
                yield part
                written += len(part)
                if time.perf_counter() - begin > request.get("seconds", math.inf):
                    return

        await self.write(batches())
        return {"chunks": written, "seconds": time.perf_counter() - begin}

    async def _load(self, request: dict[str, Any]) -> dict[str, Any]:
        search, questions = getattr(self, request["what"]), self.questions

        async def ask(_client: int, number: int) -> str:
            await search(questions[number % len(questions)])
            return "ok"

        return await drive(ask, request["clients"], request["seconds"])

    async def _quality(self) -> dict[str, Any]:
        """Places of the first answer from the right source, from 1 or null, and questions whose words found a chunk."""
        places, with_hits = list[int | None](), 0
        for question in self.questions:
            sources = list(dict.fromkeys(await self.hybrid(question)))
            places.append(sources.index(question.source) + 1 if question.source in sources else None)
            with_hits += bool(await self.words(question))
        return {"places": places, "with_hits": with_hits}

    async def open(self) -> dict[str, Any] | None:
        """Connect; the answer may name versions."""
        raise NotImplementedError

    async def fill(self, chunks: Iterator[Chunk]) -> dict[str, Any] | None:
        """Write the library and build the indexes, unless that was done before."""
        raise NotImplementedError

    async def write(self, batches: Iterator[Sequence[Chunk]]) -> None:
        """Write chunks as a user of the peer does, a batch a call, with the indexes in place."""
        raise NotImplementedError

    async def vector(self, question: Question) -> Sequence[str]:
        """Sources that the vector leg alone brings, best first."""
        raise NotImplementedError

    async def nearest(self, question: Question) -> list[int]:
        """Numbers of the chunks that the vector leg alone brings."""
        raise NotImplementedError

    async def words(self, question: Question) -> Sequence[str]:
        """Sources that the keyword leg alone brings."""
        raise NotImplementedError

    async def hybrid(self, question: Question) -> Sequence[str]:
        """Sources that both bring."""
        raise NotImplementedError


def segmented_lines(file: Path) -> Path:
    """A file of the same rows whose texts have blanks between the words that jieba finds; made once."""
    segmented = file.with_suffix(".segmented.jsonl")
    if not segmented.exists() or segmented.stat().st_mtime < file.stat().st_mtime:
        import jieba  # noqa: PLC0415 - takes a second to load

        unfinished = segmented.with_suffix(".part")
        with file.open(encoding="utf-8") as rows, unfinished.open("w", encoding="utf-8") as out:
            for row in map(json.loads, rows):
                words = (word for word in jieba.cut(row["text"]) if word.strip())
                out.write(json.dumps({**row, "text": " ".join(words)}, ensure_ascii=False) + "\n")
        unfinished.rename(segmented)
    return segmented


def vector_text(vector: Any) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map(repr, map(float, vector))) + "]"
