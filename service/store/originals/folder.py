"""Originals in a folder: obstore writes and renames, but leaves it to us that the disk has them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

# obstore writes to "<name>#<number>" beside the target and renames it at the end; its listing passes these over
_UNFINISHED = re.compile(r".+#\d+")


class Folder:
    """See `Shelf`.

    ``LocalStore`` of obstore 0.12 (object_store 0.14) never calls fsync, as strace shows, and its Python side offers no
    switch for it. So the file and every folder up to the root are synced before the database hears of the key.

    Args:
        root: the folder that holds ``rag``.
        sync: writes what an open file or folder has to the disk.
    """

    def __init__(self, root: Path, sync: Callable[[int], None] = os.fsync) -> None:
        self._root = root
        self._fsync = sync

    @property
    def name(self) -> str:
        """See `Shelf`."""
        return f"the folder {self._root}"

    async def make_durable(self, key: str) -> None:
        """See `Shelf`."""
        await asyncio.to_thread(self._sync, self._root / key)

    async def sweep_unfinished(self, before: datetime) -> int:
        """See `Shelf`."""
        return await asyncio.to_thread(self._sweep, before.timestamp())

    def _sync(self, path: Path) -> None:
        for part in (path, *path.parents):
            self._sync_one(part)
            if part == self._root:
                return

    def _sync_one(self, path: Path) -> None:
        if os.name == "nt" and path.is_dir():  # Windows opens no folders, and logs names by itself
            return
        handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        try:
            self._fsync(handle)
        finally:
            os.close(handle)

    def _sweep(self, before: float) -> int:
        removed = 0
        for path in self._unfinished():
            try:
                if path.stat().st_mtime < before:
                    path.unlink()
                    removed += 1
            except FileNotFoundError:  # it was finished just now, or another process sweeps too
                continue
        return removed

    def _unfinished(self) -> Iterator[Path]:
        for folder, _, names in os.walk(self._root):
            yield from (Path(folder) / name for name in names if _UNFINISHED.fullmatch(name))
