"""BACKUP FLOW: hold a moment → dump → copy originals → read back → name. Work goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

from service.archive import Archive, ArchiveWriter, new_archive, open_archive
from service.db.dump.dump import contents, dump
from service.db.dump.programs import Programs
from service.db.dump.snapshot import Snapshot, open_snapshot
from service.errors import NotFound
from service.flows.archives.parts import BACKUP, BACKUP_VERSION, ORIGINALS, ArchiveParts, Watch, provenance, silent
from service.store.originals import Originals
from service.types import JsonObject

log = structlog.get_logger()

DUMP = "database.dump"


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What was backed up. ``missing`` are originals that the database knows and the store does not have any more,
    ``damaged`` those whose bytes are not the ones that were uploaded; both are keys."""

    path: Path
    size_bytes: int
    facts: JsonObject
    original_count: int
    missing: tuple[str, ...]
    damaged: tuple[str, ...]


async def backup(parts: ArchiveParts, path: Path, *, overwrite: bool = False, watch: Watch = silent) -> BackupReport:
    """Write everything of one moment into the file ``path``: the database and all originals it refers to.

    Uploads, searches and deletions go on; originals that would be deleted meanwhile stay until the end. The file gets
    its name when it was read back and found whole.

    Raises:
        InvalidInput: ``path`` exists and is not to be overwritten, or its folder does not.
        Conflict: another backup is at work.
        Misconfigured: there is no pg_dump that is new enough.
        NotMigrated, DatabaseUnavailable, OriginalsUnavailable, Unavailable: a part or the disk does not play along.
    """
    with new_archive(path, BACKUP, BACKUP_VERSION, overwrite=overwrite) as archive:
        async with open_snapshot(parts.dsn) as snapshot:
            await _dump(parts, snapshot, archive, watch)
            missing, damaged = await _copy_originals(parts.originals, snapshot.originals, archive, watch)
        original_count = len(snapshot.originals) - len(missing)
        originals = {"count": original_count, "missing": missing, "damaged": damaged}
        archive.finish({**provenance(), **snapshot.facts, "originals": originals})
        written = await read_back(archive.path, watch)
        await contents(dump_pieces(written), Programs(snapshot.server_major, parts.programs))
        size_bytes = archive.path.stat().st_size
    log.info("backed_up", path=str(path), size_bytes=size_bytes)
    return BackupReport(path, size_bytes, written.manifest, original_count, tuple(missing), tuple(damaged))


async def read_back(path: Path, watch: Watch) -> Archive:
    """Check every byte of a backup.

    Raises:
        InvalidArchive, InvalidInput: see `service.archive.open_archive`.
    """
    return await asyncio.to_thread(open_archive, path, BACKUP, BACKUP_VERSION, partial(watch, "verify"))


def dump_pieces(archive: Archive) -> Iterator[bytes]:
    """The dump of the database in a backup."""
    return archive.pieces(DUMP)


async def _dump(parts: ArchiveParts, snapshot: Snapshot, archive: ArchiveWriter, watch: Watch) -> None:
    with archive.member(DUMP) as member:
        async for piece in dump(parts.dsn, snapshot.id, Programs(snapshot.server_major, parts.programs)):
            member.write(piece)
            watch("database", member.size, None)


async def _copy_originals(
    originals: Originals, keys: Mapping[str, str], archive: ArchiveWriter, watch: Watch
) -> tuple[list[str], list[str]]:
    """Copy originals; returns the keys of those that are not there, and of those that are not what was uploaded."""
    missing, damaged, done = list[str](), list[str](), 0
    for key, sha256 in keys.items():
        try:
            _size, pieces = await originals.stream(key)
        except NotFound:
            missing.append(key)
            continue
        with archive.member(f"{ORIGINALS}/{key}") as member:
            async for piece in pieces:
                member.write(piece)
                watch("originals", done + member.size, None)
            done += member.size
            if sha256 is not None and member.sha256 != sha256:
                damaged.append(key)
    for kind, found in (("missing", missing), ("damaged", damaged)):
        if found:
            log.warning("originals_not_whole", kind=kind, count=len(found))
    return missing, damaged
