"""Which files an ingestion takes, and what it calls them."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to take in; ``complaint`` says why it cannot be, ``size_bytes`` is 0 then."""

    path: Path
    source: str
    size_bytes: int
    complaint: str | None = None


def find_files(paths: Sequence[Path], source_prefix: str = "") -> list[FoundFile]:
    """Return the files at ``paths`` and below them, each once, sorted by source within each given path.

    The source of a file below a given folder is its path relative to that folder; that of a file
    given itself is its name. Hidden files and folders (``.git``, ``~$report.docx``) below a given
    folder are passed over, as are pipes, sockets and devices. A linked folder is entered unless
    what it leads to is taken already, so that loops end. Two files of one source: the first is taken.
    """
    found: list[FoundFile] = []
    taken: dict[str, Path] = {}
    seen: set[Path] = set()
    for given in paths:
        for file in sorted(_below(given) if given.is_dir() else _given(given), key=lambda file: file.source):
            where = file.path.absolute()
            if where in seen:
                continue
            seen.add(where)
            source = _join(source_prefix, file.source)
            first = taken.setdefault(source, file.path)
            complaint = file.complaint
            if complaint is None and first != file.path:
                complaint = f"its source '{source}' belongs to {first} already; give --source-prefix and run it alone"
            found.append(FoundFile(file.path, source, 0 if complaint else file.size_bytes, complaint))
    return found


def _given(path: Path) -> Iterator[FoundFile]:
    name = spell(path.absolute().name)
    try:
        status = path.stat()
    except OSError as error:
        yield FoundFile(path, name, 0, _reason(error))
        return
    if stat.S_ISREG(status.st_mode):
        yield FoundFile(path, name, status.st_size)
    else:
        yield FoundFile(path, name, 0, "it is neither a file nor a folder")


def _below(root: Path) -> Iterator[FoundFile]:
    """Real folders first, linked ones after them: a folder is known by its own name, not by a link's."""
    entered: set[tuple[int, int]] = set()
    folders, links = [root], list[Path]()
    while folders or links:
        folder = folders.pop() if folders else links.pop(0)
        try:
            status = folder.stat()
            if (status.st_dev, status.st_ino) in entered:
                continue
            entered.add((status.st_dev, status.st_ino))
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield FoundFile(folder, _relative(folder, root), 0, _reason(error))
            continue
        for entry in entries:
            if entry.name.startswith((".", "~$")):
                continue
            path = folder / entry.name
            if entry.is_dir():
                (links if entry.is_symlink() else folders).append(path)
            else:
                yield from _entry(path, root)
        links.sort()


def _entry(path: Path, root: Path) -> Iterable[FoundFile]:
    try:
        status = path.stat()
    except OSError as error:
        return [FoundFile(path, _relative(path, root), 0, _reason(error))]
    return [FoundFile(path, _relative(path, root), status.st_size)] if stat.S_ISREG(status.st_mode) else []


def _relative(path: Path, root: Path) -> str:
    return spell(path.relative_to(root).as_posix())


def _join(prefix: str, source: str) -> str:
    return f"{spell(prefix).strip('/')}/{source}" if prefix.strip("/") else source


def spell(name: str) -> str:
    """A file name as readable text in NFC; bytes that are no UTF-8 are read as GB18030 (old Chinese archives)."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        name = os.fsencode(name).decode("gb18030", "replace")
    return unicodedata.normalize("NFC", name)


def _reason(error: OSError) -> str:
    return f"it cannot be read: {error.strerror or error}"
