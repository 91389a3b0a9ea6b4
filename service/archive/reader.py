"""Read an archive: every byte is checked before anything is taken from it, and each member again as it is read."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from service.archive.blocks import (
    BLOCK,
    DIGEST_MEMBER,
    END,
    FORMAT_MEMBER,
    MANIFEST_MEMBER,
    format_facts,
    json_bytes,
    padding,
    read_header,
)
from service.errors import InvalidArchive, InvalidInput
from service.types import JsonObject

PIECE = 1024 * 1024
_LARGEST_MANIFEST = 512 * 1024 * 1024
_LARGEST_FORMAT = 4096

type Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member: where its content begins in the file, its size in bytes, its digest in hexadecimal digits."""

    name: str
    offset: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive all of whose bytes were checked."""

    path: Path
    manifest: JsonObject
    members: Mapping[str, Member]

    def member(self, name: str) -> Member:
        """The member of this name.

        Raises:
            InvalidArchive: there is none.
        """
        if name not in self.members:
            raise InvalidArchive(f"the archive has no member {name}")
        return self.members[name]

    def below(self, folder: str) -> list[Member]:
        """The members whose names begin with ``folder/``, in the order of the archive."""
        return [member for name, member in self.members.items() if name.startswith(f"{folder}/")]

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of a member.

        Raises:
            InvalidArchive: at the end of the content, when the file was changed since the archive was opened.
        """
        member = self.member(name)
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            file.seek(member.offset)
            left = member.size
            while left and (piece := file.read(min(left, PIECE))):
                left -= len(piece)
                digest.update(piece)
                yield piece
        if left or digest.hexdigest() != member.sha256:
            raise InvalidArchive(f"{self.path} was changed while it was read", member=name)

    def open(self, name: str) -> BinaryIO:
        """A member as a file, for reading it line by line."""
        file = self.path.open("rb")
        return io.BufferedReader(_MemberFile(file, self.member(name)), PIECE)


class _MemberFile(io.RawIOBase):
    """The bytes of one member; owns the file."""

    def __init__(self, file: IO[bytes], member: Member) -> None:
        super().__init__()
        file.seek(member.offset)
        self._file, self._left = file, member.size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read(min(len(buffer), self._left))
        buffer[: len(piece)] = piece
        self._left -= len(piece)
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_archive(path: Path, kind: str, version: int, on_progress: Progress | None = None) -> Archive:
    """Check every byte of an archive and return what is in it. Reads the whole file; blocks meanwhile.

    Args:
        kind: format that it must have.
        version: newest version of that format that can be read.

    Raises:
        InvalidArchive: it is cut, changed, of another format or of a newer version.
        InvalidInput: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            return _Scan(file, size, on_progress or (lambda _done, _all: None)).run(path, kind, version)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from error


class _Scan:
    def __init__(self, file: IO[bytes], size: int, on_progress: Progress) -> None:
        self._file, self._size, self._on_progress = file, size, on_progress

    def run(self, path: Path, kind: str, version: int) -> Archive:
        written = self._check_format(kind, version)
        members = dict[str, Member]()
        while (member := self._next()).name != MANIFEST_MEMBER:
            if member.name in members:
                raise InvalidArchive(f"the archive has two members {member.name}")
            members[member.name] = member
        manifest = self._manifest(member)
        with _unreadable("the manifest of the archive cannot be read"):
            listed = [(entry["name"], entry["size"], entry["sha256"]) for entry in manifest.pop("members")]
        if written != {name: manifest.get(name) for name in written}:
            raise InvalidArchive("the manifest of the archive belongs to another format")
        if listed != [(found.name, found.size, found.sha256) for found in members.values()]:
            raise InvalidArchive("the members of the archive are not those that its manifest lists")
        return Archive(path, manifest, members)

    def _check_format(self, kind: str, version: int) -> JsonObject:
        with _unreadable("this is no archive of Fuzi"):
            content = self._content(self._next(), FORMAT_MEMBER, _LARGEST_FORMAT)
            found = json.loads(content)
            name, number = found["format"], int(found["format_version"])
            written = format_facts(name, number)
            if content != json_bytes(written):
                raise ValueError
        if name != kind:
            raise InvalidArchive(f"this is a {name}, not a {kind}", format=name)
        if number > version:
            raise InvalidArchive(
                f"this {kind} was written by a newer version of Fuzi (format {number}, this one reads up to {version})"
            )
        return written

    def _manifest(self, member: Member) -> dict[str, Any]:
        content = self._content(member, MANIFEST_MEMBER, _LARGEST_MANIFEST)
        expected = member.sha256.encode() + b"\n"
        if self._content(self._next(), DIGEST_MEMBER, len(expected)) != expected:
            raise InvalidArchive("the manifest of the archive was changed")
        if self._file.read(len(END) + 1) != END:
            raise InvalidArchive("the archive does not end where it should")
        with _unreadable("the manifest of the archive cannot be read"):
            return dict(json.loads(content))

    def _next(self) -> Member:
        """Read and digest one member, with its header and the zeros behind it."""
        start = self._file.tell()
        name, size = read_header(self._file.read(BLOCK), start)
        offset, left, digest = start + BLOCK, size, hashlib.sha256()
        while left and (piece := self._file.read(min(left, PIECE))):
            left -= len(piece)
            digest.update(piece)
            self._on_progress(self._file.tell(), self._size)
        zeros = padding(size)
        if left or self._file.read(zeros) != bytes(zeros):
            raise InvalidArchive(f"the archive is cut or changed at member {name}", member=name)
        return Member(name, offset, size, digest.hexdigest())

    def _content(self, member: Member, name: str, limit: int) -> bytes:
        """Content of a small member that was just read."""
        if member.name != name or member.size > limit:
            raise InvalidArchive(f"the archive has {member.name} where {name} should be")
        here = self._file.tell()
        self._file.seek(member.offset)
        content = self._file.read(member.size)
        self._file.seek(here)
        return content


@contextmanager
def _unreadable(message: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidArchive(message) from error
