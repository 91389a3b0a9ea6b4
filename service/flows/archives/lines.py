"""Read an exported collection one document at a time, whatever its size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
from pydantic import TypeAdapter, ValidationError

from service.archive import Archive
from service.errors import InvalidArchive
from service.flows.archives.export import (
    CHILD_LINE,
    CHILDREN,
    DOCUMENT_LINE,
    DOCUMENTS,
    PARENT_LINE,
    PARENTS,
    VECTORS,
)
from service.store.portable.records import VECTOR_BYTES, PortableVersion

_LONGEST_LINE = 1024**3
_MOST_CHUNKS = 10_000_000
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")  # not preceded by a backslash that is one itself


class CollectionReader:
    """The documents of an exported collection, in its order."""

    def __init__(self, archive: Archive, dimension: int) -> None:
        self._archive, self._dimension = archive, dimension
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        names = (DOCUMENTS, PARENTS, CHILDREN, VECTORS)
        files = [self._stack.enter_context(self._archive.open(name)) for name in names]
        self._documents, self._parents, self._children, self._vectors = files
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def versions(self) -> Iterator[PortableVersion]:
        """Each document with its chunks and vectors, checked.

        Raises:
            InvalidArchive: a line cannot be read, or says what cannot be.
        """
        while line := self._documents.readline(_LONGEST_LINE):
            document = _parsed(DOCUMENT_LINE, line, DOCUMENTS)
            if not 0 <= document.parent_count <= _MOST_CHUNKS or not 0 <= document.child_count <= _MOST_CHUNKS:
                raise InvalidArchive(f"{document.source} in the archive has an impossible number of chunks")
            parents = self._some(PARENT_LINE, self._parents, PARENTS, document.parent_count)
            children = self._some(CHILD_LINE, self._children, CHILDREN, document.child_count)
            size = document.child_count * self._dimension * VECTOR_BYTES.itemsize
            raw = self._vectors.read(size)
            if len(raw) < size:
                raise InvalidArchive(f"the archive has fewer vectors than chunks, at {document.source}")
            vectors = np.frombuffer(raw, VECTOR_BYTES).reshape(-1, self._dimension).astype(np.float32)
            version = PortableVersion(document, parents, children, vectors)
            version.check()
            yield version
        if any(file.read(1) for file in (self._parents, self._children, self._vectors)):
            raise InvalidArchive("the archive has more chunks or vectors than its documents")

    @staticmethod
    def _some(line: TypeAdapter[Any], file: BinaryIO, name: str, count: int) -> list[Any]:
        return [_parsed(line, file.readline(_LONGEST_LINE), name) for _ in range(count)]


def _parsed(line: TypeAdapter[Any], content: bytes, name: str) -> Any:
    if _NUL.search(content):
        raise InvalidArchive(f"a line of {name} in the archive holds a NUL, which no text can have")
    try:
        return line.validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidArchive(f"a line of {name} in the archive cannot be read: {place} {first['msg']}") from error
