"""RESTORE FLOW: verify → compare with the settings → originals → database → check → take the place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from service.archive import Archive
from service.config import EmbedSettings, Settings
from service.db.dump.checks import check_restored, check_vector_index
from service.db.dump.dump import INDEXES, TABLES, contents, function_script, run_dump, run_rights
from service.db.dump.programs import Programs
from service.db.dump.replacement import replacement
from service.db.dump.session import unhurried
from service.db.dump.target import (
    Content,
    content_of,
    finish,
    is_superuser,
    knows_revision,
    let_analysts_in,
    make_functions,
    make_ready,
    server_major,
)
from service.db.keep_originals import keep_originals
from service.db.migrate import upgrade
from service.db.spaces.deferred import build_by
from service.errors import DatabaseNotEmpty, InvalidArchive, Misconfigured, ModelMismatch, NotMigrated
from service.flows.archives.backup import DUMP, dump_pieces, read_back
from service.flows.archives.parts import ORIGINALS, ArchiveParts, Watch, silent
from service.store.originals import Originals
from service.types import JsonObject

log = structlog.get_logger()

_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was restored; ``rights_left_out`` is what PostgreSQL said about rights of roles that do not exist here."""

    facts: JsonObject
    original_count: int
    replaced: bool
    rights_left_out: str


async def restore(
    parts: ArchiveParts, path: Path, settings: Settings, *, replace: bool = False, watch: Watch = silent
) -> RestoreReport:
    """Make database and originals what they were when the backup was made.

    Nothing is written before every byte of the file was checked. The database comes back in one transaction, with
    ``replace`` in a database of its own, which takes the place of the old one when it was checked.

    Raises:
        InvalidArchive: the file is cut, changed, foreign or of a newer version.
        ModelMismatch: the vectors come from another embedding model than the settings name.
        DatabaseNotEmpty: there are data, and ``replace`` is not set.
        Conflict: another backup or restore is at work.
        Misconfigured, NotMigrated: this server or this version cannot hold the backup; the message says why.
        DatabaseUnavailable, OriginalsUnavailable: a part does not play along; what was there is as it was.
    """
    archive = await read_back(path, watch)
    facts = archive.manifest
    _check_fits(facts, settings.embed)
    async with AsyncExitStack() as stack:
        keeper = await stack.enter_async_context(unhurried(parts.dsn))
        content, major = await content_of(keeper), await server_major(keeper)
        if content is Content.DATA and not replace:
            raise DatabaseNotEmpty(
                "the database holds data already: restore into an empty one, or add --replace to put the backup in "
                "their place"
            )
        if major < facts["postgresql"]["major"]:
            raise Misconfigured(
                f"the backup comes from PostgreSQL {facts['postgresql']['major']}, this server is version {major}: "
                "use one that is as new"
            )
        filling = _Filling(archive, settings, Programs(major, parts.programs), watch)
        entries = await contents(dump_pieces(archive), filling.programs)
        await keep_originals(keeper)
        await _put_back(parts.originals, archive, set(), watch)
        # Where the role may not do that, an empty database is filled in place: its revision is written last.
        if content is Content.DATA or await is_superuser(keeper):
            async with replacement(parts.dsn) as new:
                rights = await filling.fill(new.dsn, entries)
                await stack.aclose()
                await new.take_place()
        else:
            rights = await filling.fill(parts.dsn, entries)
    # A deletion that was allowed just before may have hit an original that was put back.
    there = {key async for keys in parts.originals.older_than(_END_OF_TIME) for key in keys}
    await _put_back(parts.originals, archive, there, watch)
    log.info("restored", path=str(path), replaced=content is Content.DATA)
    return RestoreReport(facts, len(archive.below(ORIGINALS)), content is Content.DATA, rights)


def _check_fits(facts: JsonObject, embed: EmbedSettings) -> None:
    """Compare the manifest with this version and these settings."""
    try:
        model, revision = facts["embedding_model"], facts["alembic_revision"]
        names = (model["provider"], model["name"], model["dimension"])
        int(facts["postgresql"]["major"])
        dict(facts["counts"]), dict(facts["extensions"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArchive("the manifest of the backup lacks what a restore has to know") from error
    if not knows_revision(revision):
        raise NotMigrated(
            f"the backup has a schema of revision {revision}, which this version does not know; "
            "restore it with the newer version of Fuzi"
        )
    if names != (embed.provider, embed.model, embed.dimension):
        raise ModelMismatch(
            f"the vectors in the backup come from {names[0]} {names[1]} ({names[2]} dimensions), but the settings name "
            f"{embed.provider} {embed.model} ({embed.dimension} dimensions); nothing was changed. Set "
            f"FUZI_EMBED__PROVIDER={names[0]}, FUZI_EMBED__MODEL={names[1]} and FUZI_EMBED__DIMENSION={names[2]} to "
            "restore; afterwards `fuzi reembed` changes the model",
            backup=dict(model),
        )


async def _put_back(originals: Originals, archive: Archive, there: set[str], watch: Watch) -> None:
    """Store the originals of a backup under their keys, but for those that are ``there``."""
    members = [m for m in archive.below(ORIGINALS) if m.name.removeprefix(f"{ORIGINALS}/") not in there]
    done, total = 0, sum(member.size for member in members)
    for member in members:
        await originals.put_back(member.name.removeprefix(f"{ORIGINALS}/"), archive.pieces(member.name))
        done += member.size
        watch("originals", done, total)


@dataclass(frozen=True, slots=True)
class _Filling:
    archive: Archive
    settings: Settings
    programs: Programs
    watch: Watch

    async def fill(self, dsn: str, entries: list[str]) -> str:
        """Restore into the database ``dsn``, bring it to this version's revision and check it.

        Returns:
            What PostgreSQL said about rights that could not be restored.
        """
        facts = self.archive.manifest
        async with unhurried(dsn, "READ COMMITTED") as connection:
            await make_ready(connection, facts)
            await connection.commit()
        async with unhurried(dsn) as witness:
            await run_dump(dsn, entries, self._told(), self.programs, TABLES)
            functions = await function_script(entries, dump_pieces(self.archive), self.programs)
            async with unhurried(dsn, "READ COMMITTED") as connection, connection.begin():
                await make_functions(connection, functions)
            self.watch("indexes", 0, None)
            await run_dump(dsn, entries, dump_pieces(self.archive), self.programs, INDEXES)
            await build_by(witness)  # where an import was under way
            self.watch("check", 0, None)
            await check_vector_index(witness)
            async with unhurried(dsn, "READ COMMITTED") as connection:
                await finish(connection, facts)
                await connection.commit()
            await let_analysts_in(witness)
            rights = await run_rights(dsn, entries, dump_pieces(self.archive), self.programs)
            await asyncio.to_thread(upgrade, dsn, self.settings)
            await check_restored(witness, facts)
        return rights

    def _told(self) -> Iterator[bytes]:
        """The dump, and a word about how much of it PostgreSQL has taken."""
        done, total = 0, self.archive.member(DUMP).size
        for piece in dump_pieces(self.archive):
            yield piece
            done += len(piece)
            self.watch("database", done, total)
