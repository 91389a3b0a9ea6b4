"""Write an archive: streamed, beside its final name, which it gets only when it is complete."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from service.archive.blocks import (
    DIGEST_MEMBER,
    END,
    FORMAT_MEMBER,
    MANIFEST_MEMBER,
    format_facts,
    header,
    json_bytes,
    padding,
)
from service.errors import Conflict, InvalidInput, Unavailable
from service.types import JsonObject


class MemberSink:
    """Takes the content of one member piece by piece."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, piece: bytes) -> None:
        """Append ``piece``."""
        self._digest.update(piece)
        self.size += len(piece)
        self._file.write(piece)

    @property
    def sha256(self) -> str:
        """Digest of what was written so far, in hexadecimal digits."""
        return self._digest.hexdigest()


class ArchiveWriter:
    """An archive that is being written to ``path``, which is not its final name."""

    def __init__(self, path: Path, file: IO[bytes], kind: str, version: int) -> None:
        self.path = path
        self._file = file
        self._format = format_facts(kind, version)
        self._members: list[dict[str, object]] = []
        self._plain(FORMAT_MEMBER, json_bytes(self._format))

    @contextmanager
    def member(self, name: str) -> Iterator[MemberSink]:
        """Write one member; its size need not be known before."""
        start = self._file.tell()
        self._file.write(header(name, 0))
        sink = MemberSink(self._file)
        yield sink
        self._file.write(bytes(padding(sink.size)))
        end = self._file.tell()
        self._file.seek(start)
        self._file.write(header(name, sink.size))
        self._file.seek(end)
        self._members.append({"name": name, "size": sink.size, "sha256": sink.sha256})

    def finish(self, facts: JsonObject) -> None:
        """Write the manifest with these facts and the digests of all members; nothing can be added afterwards."""
        manifest = json_bytes({**self._format, **facts, "members": self._members})
        self._plain(MANIFEST_MEMBER, manifest)
        self._plain(DIGEST_MEMBER, hashlib.sha256(manifest).hexdigest().encode() + b"\n")
        self._file.write(END)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _plain(self, name: str, content: bytes) -> None:
        self._file.write(header(name, len(content)) + content + bytes(padding(len(content))))


@contextmanager
def new_archive(path: Path, kind: str, version: int, *, overwrite: bool = False) -> Iterator[ArchiveWriter]:
    """Write an archive; at the end of the block it gets its name ``path``, after a failure nothing is left.

    A process that is killed leaves ``path`` untouched and a file ``….part`` that the next try replaces.

    Raises:
        InvalidInput: ``path`` exists and is not to be overwritten, or its folder does not.
        Conflict: another process is writing it.
        Unavailable: it cannot be written; the disk may be full.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInput(f"{path} is a folder" if path.is_dir() else f"there is no folder {path.parent}")
    if path.exists() and not overwrite:
        raise InvalidInput(f"{path} exists already; choose another name, or add --overwrite")
    part = path.with_name(f"{path.name}.part")
    try:
        # it holds all that was ever uploaded: for the owner's eyes only
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            _lock(file, part)
            try:
                file.truncate(0)
                yield ArchiveWriter(part, file, kind, version)
                part.replace(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        _sync_folder(path.parent)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror or error}") from error


def _lock(file: IO[bytes], part: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Conflict(f"another process is writing {part}") from None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
