"""Originals: the uploaded files, in any object store that obstore speaks to (folder, S3, MinIO)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path, PurePosixPath
from uuid import UUID

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from service.config import OriginalsSettings
from service.errors import NotFound, OriginalsUnavailable

type Clock = Callable[[], datetime]
type IdMaker = Callable[[], UUID]

_LONGEST_EXTENSION = 16


class Originals:
    """Keeps original files under ``rag/yyyy/mm/dd/<uuid>.<ext>``.

    Args:
        store: the obstore store.
        now: gives the current time in UTC.
        new_id: gives a fresh UUID for each key.
    """

    def __init__(self, store: ObjectStore, now: Clock, new_id: IdMaker) -> None:
        self._store = store
        self._now = now
        self._new_id = new_id

    async def put(self, path: Path, file_name: str) -> str:
        """Copy the file at ``path`` into the store and return its key.

        Raises:
            OriginalsUnavailable: the store does not answer, or is full.
        """
        key = f"rag/{self._now():%Y/%m/%d}/{self._new_id()}{_extension(file_name)}"
        try:
            await obstore.put_async(self._store, key, path)
        except (BaseError, OSError) as error:
            raise OriginalsUnavailable(f"the original could not be stored: {error}") from error
        return key

    async def stream(self, key: str) -> tuple[int, AsyncIterator[bytes]]:
        """Return the size in bytes of an original and its content in pieces.

        Raises:
            NotFound: nothing is stored under this key.
            OriginalsUnavailable: the store does not answer.
        """
        try:
            result = await obstore.get_async(self._store, key)
        except FileNotFoundError as error:
            raise NotFound("the original of this document is not in the object store") from error
        except (BaseError, OSError) as error:
            raise OriginalsUnavailable(f"the original could not be read: {error}") from error

        async def pieces() -> AsyncIterator[bytes]:
            async for piece in result.stream():
                yield bytes(piece)

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
        except (BaseError, OSError) as error:
            raise OriginalsUnavailable(f"the original could not be read: {error}") from error

    async def older_than(self, moment: datetime) -> AsyncIterator[list[str]]:
        """List the keys of originals stored before ``moment``, some hundred at a time.

        Raises:
            OriginalsUnavailable: the store does not answer.
        """
        try:
            async for page in obstore.list(self._store, "rag", chunk_size=500):
                yield [item["path"] for item in page if item["last_modified"] < moment]
        except (BaseError, OSError) as error:
            raise OriginalsUnavailable(f"the originals could not be listed: {error}") from error

    async def delete(self, key: str) -> None:
        """Remove an original; removing one that is not there is no error.

        Raises:
            OriginalsUnavailable: the store does not answer.
        """
        try:
            await obstore.delete_async(self._store, key)
        except FileNotFoundError:
            return
        except (BaseError, OSError) as error:
            raise OriginalsUnavailable(f"the original could not be deleted: {error}") from error


def open_originals(settings: OriginalsSettings, home: Path, now: Clock, new_id: IdMaker) -> Originals:
    """Open the configured object store, by default the folder ``originals`` below ``home``."""
    if settings.url is None:
        folder = home / "originals"
        return Originals(LocalStore(folder, automatic_cleanup=True, mkdir=True), now, new_id)
    return Originals(from_url(settings.url), now, new_id)


def _extension(file_name: str) -> str:
    """The lower-case extension when it is short and plain ASCII: a key must never carry the caller's path."""
    suffix = PurePosixPath(file_name.replace("\\", "/")).suffix.lower()
    plain = suffix[1:].isascii() and suffix[1:].isalnum() and len(suffix) <= _LONGEST_EXTENSION
    return suffix if plain else ""
