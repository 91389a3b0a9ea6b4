"""A library of any size from real sentences: texts recombined, vectors around real embeddings of the same sentences.

The passages of cmrc2018 with their own vectors are spread evenly among documents of 20 chunks, four a parent: each
chunk of these is three real sentences, its vector lies between the embeddings of two of them, with a little noise. So
near texts have near vectors, and words are as frequent as in real texts.

The order matters: with all passages first, then 20,000 other chunks, the HNSW index (m 16, ef_construction 64) brought
.757 of the 50 nearest of a question about them at ef_search 100; with the same rows shuffled .909.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.bench.data.sentences import (
    PASSAGES,
    Floats,
    Question,
    embedded,
    lay_questions,
    passages,
    questions,
    sample,
    sentences,
)

type Integers = NDArray[np.int64]

DIMENSION = 384
PARENTS, CHILDREN = 5, 4
"""Parents of a made document, and children of each."""
NUMBERS = 2000
"""Documents are numbered from 0 to this, over and over, in the metadata field ``n``."""
ANCHORS = 600
"""Sentences of laws, and as many of a product manual, whose embeddings are real."""
_NOISE = 0.15
"""Length of the noise beside a mixture of length 1."""
_BLOCK = 2000


@dataclass(frozen=True, slots=True)
class Document:
    """Texts of the children of each parent, and their vectors ``[child_count, DIMENSION]`` in the same order."""

    number: int
    source: str
    parents: tuple[tuple[str, ...], ...]
    vectors: Floats
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def document_id(self) -> UUID:
        """The id it is stored with."""
        return document_id(self.number)

    @property
    def texts(self) -> list[str]:
        """All children."""
        return [text for children in self.parents for text in children]


def document_id(number: int) -> UUID:
    """Id of the document of this number."""
    return UUID(int=number + 1)


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions and their vectors ``[question_count, DIMENSION]``."""

    questions: list[Question]
    vectors: Floats


class Generator:
    """Makes the same library every time; real embeddings are kept in ``folder``. A ``small`` one needs few of them."""

    def __init__(self, folder: Path, tell: Callable[[str], None], *, small: bool) -> None:
        self._folder, self._tell = folder, tell
        self._passages, self._anchors = (10, 50) if small else (PASSAGES, ANCHORS)

    def answerable(self) -> Asked:
        """Questions about the passages."""
        return self._asked(questions(self._passages))

    def everyday(self) -> Asked:
        """What the clients ask: questions about the passages and about laws, in turns."""
        about_passages = questions(self._passages)
        about_laws = lay_questions(len(about_passages))
        pairs = zip(about_passages, about_laws, strict=False)
        return self._asked([question for pair in pairs for question in pair])

    def _asked(self, asked: list[Question]) -> Asked:
        return Asked(asked, embedded(self._folder, [each.text for each in asked], queries=True, tell=self._tell))

    def documents(self, chunks: int) -> Iterator[Document]:
        """Documents of so many chunks together; the last one may be shorter."""
        left, number = chunks, 0
        for document in self._unbounded(chunks):
            texts = len(document.texts)
            fitting = document if texts <= left else shortened(document, left)
            yield replace(fitting, number=number, metadata={"n": number % NUMBERS})
            left, number = left - texts, number + 1
            if left <= 0:
                return

    def _unbounded(self, chunks: int) -> Iterator[Document]:
        real = passages(self._passages)
        texts = [text for passage in real for children in passage.parents for text in children]
        vectors, place = embedded(self._folder, texts, queries=False, tell=self._tell), 0
        made, between = self.made(), max(0, chunks - len(texts)) // (PARENTS * CHILDREN * len(real))
        for passage in real:
            count = sum(map(len, passage.parents))
            yield Document(0, passage.source, passage.parents, vectors[place : place + count])
            yield from islice(made, between)
            place += count
        yield from made

    def made(self, seed: int = 7) -> Iterator[Document]:
        """Recombined documents without end; those of different seeds are different."""
        pools = [list(sentences(name)) for name in ("laws", "techdocs")]
        anchors = [text for pool in pools for text in sample(pool, self._anchors)]
        everything = [text for pool in pools for text in pool]
        real = embedded(self._folder, anchors, queries=False, tell=self._tell)
        for block in range(10**9):
            dice = np.random.default_rng([seed, block])
            first, second = dice.integers(len(anchors), size=(2, _BLOCK))
            third = dice.integers(len(everything), size=_BLOCK)
            vectors = mixed(real, first, second, dice)
            texts = [anchors[a] + anchors[b] + everything[c] for a, b, c in zip(first, second, third, strict=True)]
            of_document = PARENTS * CHILDREN
            for start in range(0, _BLOCK, of_document):
                parts = texts[start : start + of_document]
                parents = tuple(tuple(parts[at : at + CHILDREN]) for at in range(0, of_document, CHILDREN))
                source = f"made/{seed}/{block}/{start}.txt"
                yield Document(0, source, parents, vectors[start : start + of_document])


def mixed(real: Floats, first: Integers, second: Integers, dice: np.random.Generator) -> Floats:
    """Vectors ``[count, DIMENSION]``, length 1, between two of the real ones each, as far from their mean as those.

    The embeddings of this model all point into one direction. A plain mixture lies closer to it than any real text and
    so closer to every question (mean cosine .840, where passages have .818 and these .815), which buries the passages.
    """
    mean = real.mean(axis=0)
    apart = real - mean
    share = dice.uniform(0.2, 0.8, size=(len(first), 1)).astype(np.float32)
    between = share * apart[first] + (1 - share) * apart[second]
    between += dice.normal(0, _NOISE / np.sqrt(DIMENSION), between.shape).astype(np.float32)
    length = np.linalg.norm(apart, axis=1).mean()
    vectors = mean + length * between / np.linalg.norm(between, axis=1, keepdims=True)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def shortened(document: Document, chunks: int) -> Document:
    """The document without its last chunks: ``chunks`` of them stay."""
    parents, left = list[tuple[str, ...]](), chunks
    for children in document.parents:
        if left > 0:
            parents.append(children[:left])
        left -= len(children)
    return replace(document, parents=tuple(parents), vectors=document.vectors[:chunks])
