"""Keep, read, list and delete originals, whatever the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore

from service.errors import FuziError, InvalidInput, Misconfigured, NotFound, OriginalsUnavailable
from service.store.originals.complaints import Complaint

if TYPE_CHECKING:
    from obstore import GetOptions

type Clock = Callable[[], datetime]
type IdMaker = Callable[[], UUID]

FOLDER = "rag"
_LONGEST_EXTENSION = 16
_PIECE_BYTES = 1024 * 1024
_PART_BYTES, _PARTS_AT_ONCE = 8 * 1024 * 1024, 3
"""Of an upload so many bytes are in memory at most; S3 takes ten thousand parts, here 80 GB."""
_CHECK_SECONDS = 15.0


class Shelf(Protocol):
    """What the two kinds of store do beyond what obstore offers for both."""

    @property
    def name(self) -> str:
        """The store in messages: a folder or a bucket."""

    async def make_durable(self, key: str) -> None:
        """Return when the object outlives a power cut.

        Raises:
            OSError: the disk refuses.
        """

    async def sweep_unfinished(self, before: datetime) -> int:
        """Remove what uploads left that were begun before this moment and never finished; return how many.

        Raises:
            OSError, OriginalsUnavailable: the store does not let us.
        """


class Originals:
    """Keeps original files under ``rag/yyyy/mm/dd/<uuid>.<ext>``.

    Args:
        store: the obstore store.
        shelf: its own ways.
        now: gives the current time in UTC.
        new_id: gives a fresh UUID for each key.
    """

    def __init__(self, store: ObjectStore, shelf: Shelf, now: Clock, new_id: IdMaker) -> None:
        self._store = store
        self._shelf = shelf
        self._now = now
        self._new_id = new_id

    async def check(self) -> None:
        """See whether the store lets us in.

        Raises:
            Misconfigured: it does not, and will not by itself; the message says what to do.
            OriginalsUnavailable: it does not answer.
        """
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                async for _page in obstore.list(self._store, FOLDER, chunk_size=1):
                    return
        except TimeoutError as error:
            raise OriginalsUnavailable(f"{self._shelf.name} does not answer") from error
        except (BaseError, OSError) as error:
            complaint = self._complaint(error)
            kind = Misconfigured if complaint.for_the_operator else OriginalsUnavailable
            raise kind(f"the originals cannot be reached: {complaint}") from error

    async def put(self, path: Path, file_name: str) -> str:
        """Copy the file at ``path`` into the store and return its key, once it outlives a power cut.

        Raises:
            OriginalsUnavailable: the store does not answer, or is full.
        """
        key = f"{FOLDER}/{self._now():%Y/%m/%d}/{self._new_id()}{_extension(file_name)}"
        try:
            await obstore.put_async(self._store, key, path, chunk_size=_PART_BYTES, max_concurrency=_PARTS_AT_ONCE)
            await self._shelf.make_durable(key)
        except (BaseError, OSError) as error:
            raise self._unavailable("stored", error) from error
        return key

    async def put_back(self, key: str, pieces: Iterator[bytes]) -> None:
        """Store an original under the key that it had before; what is there is replaced in one step.

        Raises:
            InvalidInput: the key is none of ours.
            OriginalsUnavailable: the store does not answer, or is full.
        """
        if not key.startswith(f"{FOLDER}/"):
            raise InvalidInput(f"{key} is no key of an original")
        try:
            await obstore.put_async(self._store, key, pieces, chunk_size=_PART_BYTES, max_concurrency=_PARTS_AT_ONCE)
            await self._shelf.make_durable(key)
        except (BaseError, OSError) as error:
            raise self._unavailable("stored", error) from error

    async def size(self, key: str) -> int:
        """Return the size of an original in bytes.

        Raises:
            NotFound, OriginalsUnavailable: see `stream`.
        """
        try:
            return (await obstore.head_async(self._store, key))["size"]
        except FileNotFoundError:
            # Without a body the answer cannot tell a missing object from a missing bucket; that of a reading can.
            size, _pieces = await self.stream(key)
            return size
        except (BaseError, OSError) as error:
            raise self._unavailable("read", error) from error

    async def stream(self, key: str, start: int = 0, end: int | None = None) -> tuple[int, AsyncIterator[bytes]]:
        """Return the size in bytes of an original, and its bytes ``[start, end)`` in pieces; by default all of them.

        The pieces are complete, or their iterator raises: a connection that breaks never looks like the end.

        Raises:
            NotFound: nothing is stored under this key.
            OriginalsUnavailable: the store does not answer; also while the pieces are read.
        """
        asked: GetOptions = {}
        if end is not None:
            asked = {"range": (start, end)}
        elif start:
            asked = {"range": {"offset": start}}
        try:
            result = await obstore.get_async(self._store, key, options=asked)
        except FileNotFoundError as error:
            raise self._missing(error) from error
        except (BaseError, OSError) as error:
            raise self._unavailable("read", error) from error
        first, last = result.range

        async def pieces() -> AsyncIterator[bytes]:
            left = last - first
            try:
                async for piece in result.stream(min_chunk_size=_PIECE_BYTES):
                    left -= len(piece)
                    yield bytes(piece)
            except (BaseError, OSError) as error:
                raise self._unavailable("read", error) from error
            if left:
                raise OriginalsUnavailable(f"the original could not be read: {left} bytes of it did not arrive")

        return result.meta["size"], pieces()

    async def fetch(self, key: str, path: Path) -> None:
        """Copy an original to a new file at ``path``.

        Raises:
            NotFound, OriginalsUnavailable: see `stream`.
        """
        _size, pieces = await self.stream(key)
        try:
            with path.open("xb") as file:
                async for piece in pieces:
                    file.write(piece)
        except OSError as error:
            raise OriginalsUnavailable(f"the original could not be copied to {path}: {error.strerror}") from error

    async def older_than(self, moment: datetime) -> AsyncIterator[list[str]]:
        """List the keys of originals stored before ``moment``, some hundred at a time.

        Raises:
            OriginalsUnavailable: the store does not answer.
        """
        try:
            async for page in obstore.list(self._store, FOLDER, chunk_size=500):
                yield [item["path"] for item in page if item["last_modified"] < moment]
        except (BaseError, OSError) as error:
            raise self._unavailable("listed", error) from error

    async def sweep_unfinished(self, before: datetime) -> int:
        """Remove what uploads left that began before this moment and never finished; return how many.

        Raises:
            OriginalsUnavailable: the store does not answer.
        """
        try:
            return await self._shelf.sweep_unfinished(before)
        except OSError as error:
            raise self._unavailable("swept", error) from error

    async def delete(self, key: str) -> None:
        """Remove an original; removing one that is not there is no error.

        Raises:
            OriginalsUnavailable: the store does not answer.
        """
        try:
            await obstore.delete_async(self._store, key)
        except FileNotFoundError as error:
            if isinstance(self._missing(error), OriginalsUnavailable):
                raise self._unavailable("deleted", error) from error
        except (BaseError, OSError) as error:
            raise self._unavailable("deleted", error) from error

    def _missing(self, error: FileNotFoundError) -> FuziError:
        """Not found is said of an object and of its whole bucket alike; only the first is about this document."""
        if self._complaint(error).for_the_operator:
            return self._unavailable("read", error)
        return NotFound("the original of this document is not in the object store")

    def _unavailable(self, done: str, error: Exception) -> OriginalsUnavailable:
        return OriginalsUnavailable(f"the original could not be {done}: {self._complaint(error)}")

    def _complaint(self, error: Exception) -> Complaint:
        return Complaint.of(error, self._shelf.name)


def _extension(file_name: str) -> str:
    """The lower-case extension when it is short and plain ASCII: a key must never carry the caller's path."""
    suffix = PurePosixPath(file_name.replace("\\", "/")).suffix.lower()
    plain = suffix[1:].isascii() and suffix[1:].isalnum() and len(suffix) <= _LONGEST_EXTENSION
    return suffix if plain else ""
