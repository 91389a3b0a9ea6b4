"""Write a dump, read its table of contents, and run it into a database."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

from service.db.dump.programs import Programs, Running, running
from service.db.sql_files import shipped_folder

# Every table but the sentinel of the BM25 indexes: what is in it is only true of the server that wrote it.
_DUMP = (
    "--format=custom",
    "--schema=rag",
    "--schema=queue",
    "--schema=analytics",
    "--exclude-table-data=rag.bm25_sentinel",
    # vectors as text hardly shrink further with more effort
    "--compress=1",
    "--lock-wait-timeout=60s",
)
_RESTORE = ("--no-owner", "--no-privileges")
TABLES, INDEXES = ("pre-data", "data"), ("post-data",)
_SCHEMA = re.compile(r"^\d+; \d+ \d+ SCHEMA ")
# written last, by hand: a database without it was not restored to the end
_REVISION = re.compile(r"^\d+; \d+ \d+ TABLE DATA rag alembic_version ")
_FUNCTION = re.compile(r"^\d+; \d+ \d+ (FUNCTION rag|COMMENT rag FUNCTION) ")
_ANALYTICS = re.compile(r"^\d+; \d+ \d+ (VIEW|COMMENT) analytics (VIEW |COLUMN )?(?P<name>\w+)[. ]")
# PostgreSQL asks pg_search how to write the types of its queries, and 0.21 leaves the brackets out: pdb.const0
_BARE_MODIFIER = re.compile(r"(::pdb\.(?:const|boost|slop))(\d[\d.]*)")
# what else somebody put into that schema may stand on what is not in the dump
_IN_ANALYTICS = re.compile(r"^\d+; \d+ \d+ [A-Z ]+ analytics ")
# rights of roles that may not exist here, and remarks on schemas that an administrator may own
_OPTIONAL = re.compile(r"^\d+; \d+ \d+ (ACL|DEFAULT ACL|COMMENT - SCHEMA) ")


async def dump(dsn: str, snapshot_id: str, programs: Programs) -> AsyncIterator[bytes]:
    """The schemas ``rag`` and ``queue`` as of a snapshot, in pg_dump's custom format, in pieces.

    Raises:
        Misconfigured: there is no pg_dump that is new enough.
        DatabaseUnavailable: pg_dump failed; what was returned so far is worth nothing.
    """
    program = await programs.find("pg_dump")
    async with running(program, [*_DUMP, f"--snapshot={snapshot_id}"], dsn) as process:
        async for piece in process.output():
            yield piece
        await process.must_end_well("pg_dump")


async def contents(pieces: Iterable[bytes], programs: Programs) -> list[str]:
    """The entries in a dump's table of contents, one line each.

    Raises:
        DatabaseUnavailable: pg_restore cannot read it.
    """
    program = await programs.find("pg_restore")
    async with running(program, ["--list"]) as process:
        # it reads the head of the dump and goes
        await process.feed(pieces)
        lines = b"".join([piece async for piece in process.output()]).decode("utf-8", errors="replace").splitlines()
        await process.must_end_well("pg_restore --list")
    return [line for line in lines if line and not line.startswith(";")]


async def run_dump(
    dsn: str, entries: Sequence[str], pieces: Iterable[bytes], programs: Programs, sections: Sequence[str]
) -> None:
    """Restore sections of a dump in one transaction: all of them, or nothing.

    Args:
        dsn: database with the extensions and with empty schemas ``rag`` and ``queue``.
        entries: the table of contents, see `contents`.
        sections: `TABLES` with their rows and views, or `INDEXES`, whose expressions may need functions.

    Raises:
        DatabaseUnavailable: pg_restore failed; nothing was changed.
    """
    apart = (_SCHEMA, _OPTIONAL, _FUNCTION, _REVISION, _IN_ANALYTICS)
    wanted = [line for line in entries if not any(kind.match(line) for kind in apart)]
    options = [*_RESTORE, *(f"--section={name}" for name in sections), "--single-transaction", "--exit-on-error"]
    async with _restoring(wanted, options, programs, dsn) as process:
        await process.feed(pieces)
        await process.must_end_well("pg_restore")


async def function_script(entries: Sequence[str], pieces: Iterable[bytes], programs: Programs) -> bytes:
    """The statements that make the functions of ``rag`` and the analysts' views, in words that PostgreSQL reads back.

    Raises:
        DatabaseUnavailable: pg_restore failed.
    """
    views = {file.name.partition(".")[0] for file in (shipped_folder("sql") / "analytics").glob("*.sql")}
    wanted = [line for line in entries if _FUNCTION.match(line) or _analysts_view(line) in views]
    async with _restoring(wanted, [*_RESTORE, "--file=-"], programs) as process:
        feeding = asyncio.create_task(process.feed(pieces))
        script = b"".join([piece async for piece in process.output()]).decode()
        await feeding
        await process.must_end_well("pg_restore")
    lines = [line for line in script.splitlines() if not line.startswith("\\")]  # commands of psql
    return _BARE_MODIFIER.sub(r"\1(\2)", "\n".join(lines)).encode()


async def run_rights(dsn: str, entries: Sequence[str], pieces: Iterable[bytes], programs: Programs) -> str:
    """Restore rights, as far as the roles exist here; returns what could not be, in pg_restore's words."""
    wanted = [line for line in entries if _OPTIONAL.match(line)]
    async with _restoring(wanted, ["--no-owner"], programs, dsn) as process:
        await process.feed(pieces)
        return (await process.end())[1]


def _analysts_view(entry: str) -> str | None:
    """The view of schema ``analytics`` that an entry makes or describes."""
    found = _ANALYTICS.match(entry)
    return None if found is None else found["name"]


@asynccontextmanager
async def _restoring(
    entries: Sequence[str], options: Sequence[str], programs: Programs, dsn: str | None = None
) -> AsyncIterator[Running]:
    program = await programs.find("pg_restore")
    with tempfile.NamedTemporaryFile("w", prefix="fuzi-", suffix=".list", encoding="utf-8") as file:
        file.write("\n".join(entries) + "\n")
        file.flush()
        async with running(program, [*options, f"--use-list={file.name}"], dsn) as process:
            yield process
