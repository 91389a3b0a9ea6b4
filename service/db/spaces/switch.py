"""The switch: in one short transaction searches go from one space to the other."""

from __future__ import annotations

import re

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.corpus import raise_revision
from service.db.engine import driver_connection
from service.db.spaces.column import HNSW, MISSING, STANDBY_COMMENT, STANDBY_HNSW, drop_column, is_indexed
from service.db.spaces.rows import active_space, swap_models
from service.db.spaces.rows_to_fill import lacks_any
from service.db.sql_files import shipped_folder
from service.errors import Conflict

_CHECK = "child_chunk_embedding_present_check"
_FOLDERS = ("functions", "definers")
_LOCK = text("lock table rag.child_chunk in access exclusive mode")
# Functions with a parsed body and views are bound to a column by its number, not by its name.
_DEPENDENTS = text("""
    select distinct
        case
            when d.classid = 'pg_proc'::regclass then 'function'
            when c.relkind = 'm' then 'materialized view'
            when c.relkind = 'v' then 'view'
            when d.classid = 'pg_constraint'::regclass then 'constraint'
            when d.classid = 'pg_publication_rel'::regclass then 'publication'
            else 'object'
        end as kind,
        coalesce(p.pronamespace, c.relnamespace)::regnamespace::text as schema_name,
        coalesce(p.proname, c.relname, pg_describe_object(d.classid, d.objid, 0))::text as name
    from pg_depend as d
    join pg_attribute as a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    left join pg_proc as p on d.classid = 'pg_proc'::regclass and p.oid = d.objid
    left join pg_rewrite as r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
    left join pg_class as c on c.oid = r.ev_class
    where d.refclassid = 'pg_class'::regclass
        and d.refobjid = 'rag.child_chunk'::regclass
        and a.attname in ('embedding', 'embedding_standby')
        and d.deptype = 'n'
    order by kind, schema_name, name
""")
_HAS_CHECK = text("""
    select exists (select from pg_constraint where conrelid = 'rag.child_chunk'::regclass and conname = :name)
""")
_RENAMES = f"""
    alter table rag.child_chunk rename column embedding to embedding_former;
    alter table rag.child_chunk rename column embedding_standby to embedding;
    alter table rag.child_chunk rename column embedding_former to embedding_standby;
    alter table rag.child_chunk alter column embedding_standby drop not null;
    alter table rag.child_chunk add constraint {_CHECK} check (embedding is not null) not valid;
    drop index rag.{MISSING};
    alter index rag.{HNSW} rename to child_chunk_embedding_former_hnsw;
    alter index rag.{STANDBY_HNSW} rename to {HNSW};
    alter index rag.child_chunk_embedding_former_hnsw rename to {STANDBY_HNSW};
    comment on column rag.child_chunk.embedding is 'Vector of the active embedding model';
    comment on column rag.child_chunk.embedding_standby is '{STANDBY_COMMENT}';
    comment on index rag.{HNSW} is null
"""


async def switch(connection: AsyncConnection, *, same_model: bool = False) -> bool:
    """Make the standby space the active one and the other way round; False when chunks still lack their vector.

    Either all of it happens, at the commit of the caller's transaction, or nothing. Reads no vector and no chunk.

    Args:
        same_model: the standby column has the vectors in use, in another type; the former ones are dropped.

    Raises:
        Conflict: the vectors have no index yet, or something that is not ours depends on the column.
    """
    functions = await functions_to_rebind(connection)
    await connection.execute(_LOCK)
    if await lacks_any(connection):
        return False
    if not await is_indexed(connection):
        raise Conflict("the standby vectors have no index yet; run `fuzi reembed` again")
    for statement in _RENAMES.split(";"):
        await connection.execute(text(statement))
    if not same_model:
        await swap_models(connection)
    driver = await driver_connection(connection)
    for name in functions:
        # straight to the driver: several statements, and no character of the file has a second meaning
        await driver.execute(_replacing(name))
    if same_model:
        await drop_column(connection, (await active_space(connection)).model)
    await raise_revision(connection)
    return True


async def functions_to_rebind(connection: AsyncConnection) -> list[str]:
    """Names of our functions that read the vectors.

    Raises:
        Conflict: something else is bound to the column, and would silently go on with the former space; or a replica is
            fed with it.
    """
    dependents = (await connection.execute(_DEPENDENTS)).all()
    if any(row.kind == "publication" for row in dependents):
        raise Conflict(
            "a replica is fed with the vectors in use: `fuzi replica drop`, then `fuzi reembed`, then "
            "`fuzi replica init`; meanwhile searches go to the primary"
        )
    foreign = [
        f"{row.kind} {row.schema_name}.{row.name}"
        for row in dependents
        if not (row.kind == "function" and row.schema_name == "rag" and _newest_file(row.name))
    ]
    if foreign:
        raise Conflict(
            f"bound to rag.child_chunk.embedding, and not made by Fuzi: {', '.join(foreign)}; drop what is named and "
            "make it again after the switch, it would go on reading the former model's vectors"
        )
    return sorted({row.name for row in dependents})


async def needs_tidying(connection: AsyncConnection) -> bool:
    """Whether `validate` and `require` are still to be run after a switch."""
    return bool(await connection.scalar(_HAS_CHECK, {"name": _CHECK}))


async def validate(connection: AsyncConnection) -> None:
    """Prove that every chunk has its vector, beside reads and writes."""
    await connection.execute(text("set local statement_timeout = 0"))
    await connection.execute(text(f"alter table rag.child_chunk validate constraint {_CHECK}"))


async def require(connection: AsyncConnection) -> None:
    """Let the column itself refuse null: at once, since the validated constraint proves it."""
    await connection.execute(text("alter table rag.child_chunk alter column embedding set not null"))
    await connection.execute(text(f"alter table rag.child_chunk drop constraint {_CHECK}"))


def _newest_file(name: str) -> str | None:
    """Text of the newest version of a function's file."""
    files = [file for folder in _FOLDERS for file in (shipped_folder("sql") / folder).glob(f"{name}.v*.sql")]
    if not files:
        return None
    return max(files, key=lambda file: int(file.stem.rpartition(".v")[2])).read_text(encoding="utf-8")


def _replacing(name: str) -> bytes:
    """The function's file, putting it in its own place: what calls it, its rights and comment stay."""
    return re.sub(
        r"^create function ", "create or replace function ", _newest_file(name) or "", flags=re.MULTILINE
    ).encode()
