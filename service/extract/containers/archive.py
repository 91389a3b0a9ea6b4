"""ZIP archives: every file inside is read like an upload of its own."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from service.errors import Corrupt, Encrypted, ExtractionLimit
from service.extract.containers.parts import Budget, Collector, ReadPart
from service.extract.read.decode import decode
from service.extract.read.reading import Reading
from service.extract.tidy.clean import clean
from service.types import ExtractRequest

_UTF8_NAME = 0x800
_ENCRYPTED = 0x1
_BOMB_RATIO = 200
_BOMB_SIZE = 50 << 20
_RUBBISH_NAMES = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


def read_archive(request: ExtractRequest, media_type: str, read: ReadPart, budget: Budget, depth: int) -> Reading:
    """Blocks of all files in the archive, in its order, each below a heading with its name.

    Raises:
        Corrupt, Encrypted, ExtractionLimit, NoText: as the file as a whole deserves.
    """
    try:
        with zipfile.ZipFile(request.path) as archive, TemporaryDirectory(prefix="fuzi-") as folder:
            collector = Collector(read, budget, depth, Path(folder))
            members = [info for info in archive.infolist() if not info.is_dir() and not _is_rubbish(info.filename)]
            _refuse_bomb(members)
            for info in members:
                _add(archive, info, collector)
    except zipfile.BadZipFile as error:
        raise Corrupt("the archive is damaged or cut off", reason=str(error)) from error
    collector.refuse_if_empty()
    return Reading(
        media_type,
        draft=collector.draft,
        has_title_heading=False,
        metadata={"files": collector.names[:200]},
        notices=collector.notices,
    )


def name_of_member(info: zipfile.ZipInfo) -> str:
    """Name of a member; one without the UTF-8 flag is decoded like a text (GB18030 from Chinese Windows)."""
    if info.flag_bits & _UTF8_NAME:
        return clean(info.filename)
    try:
        return clean(decode(info.filename.encode("cp437")).text)
    except UnicodeEncodeError:
        return clean(info.filename)


def _add(archive: zipfile.ZipFile, info: zipfile.ZipInfo, collector: Collector) -> None:
    name = name_of_member(info)
    if info.flag_bits & _ENCRYPTED:
        collector.names.append(name)
        collector.errors.append(Encrypted("the files in the archive are encrypted and need a password"))
        collector.note("part_not_read", f"{name}: encrypted")
        return
    collector.budget.take(info.file_size)
    try:
        data = archive.read(info)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError) as error:
        collector.names.append(name)
        collector.errors.append(Corrupt("the archive is damaged or cut off", reason=str(error)))
        collector.note("part_not_read", f"{name}: damaged")
        return
    collector.add(name, data, level=1)


def _is_rubbish(name: str) -> bool:
    return name.startswith("__MACOSX/") or PurePosixPath(name).name.lower() in _RUBBISH_NAMES


def _refuse_bomb(members: list[zipfile.ZipInfo]) -> None:
    unpacked = sum(info.file_size for info in members)
    packed = sum(info.compress_size for info in members)
    if unpacked > _BOMB_SIZE and unpacked > _BOMB_RATIO * max(packed, 1):
        raise ExtractionLimit(
            f"the archive unpacks from {packed >> 10} KB to {unpacked >> 20} MB (a decompression bomb)"
        )
