"""Old and new code on one schema: which revisions allow it, that they keep what old code asks for, who may start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from alembic.script import ScriptDirectory

from service.config import Settings
from service.db.engine import create_engine
from service.db.migrate import CODE_OF_BEFORE_WORKS, NEEDS_ITS_OWN_CODE, check_revision, oldest_code, upgrade
from service.db.sql_files import shipped_folder
from service.errors import NotMigrated

_SETTINGS = Settings(_env_file=None)
_SCRIPTS = ScriptDirectory(str(shipped_folder("migrations")))
_COLUMNS = """
    select c.relnamespace::regnamespace || '.' || c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        a.attnotnull and not a.atthasdef and a.attidentity = ''
    from pg_attribute as a
    join pg_class as c on c.oid = a.attrelid
    where c.relnamespace::regnamespace::text in ('rag', 'queue') and c.relkind in ('r', 'v')
        and a.attnum > 0 and not a.attisdropped
"""
_FUNCTIONS = """
    select pronamespace::regnamespace || '.' || proname, pronargs, pronargdefaults, coalesce(proargnames, '{}'),
        array(select format_type(kind, null) from unnest(coalesce(proallargtypes, proargtypes::oid[])) as kind),
        format_type(prorettype, null)
    from pg_proc
    where pronamespace::regnamespace::text in ('rag', 'queue')
"""
_CONSTRAINTS = """
    select r.conrelid::regclass::text, r.conname,
        array(select attname::text from pg_attribute where attrelid = r.conrelid and attnum = any (r.conkey))
    from pg_constraint as r
    where r.connamespace::regnamespace::text in ('rag', 'queue') and r.contype <> 'n'
"""


@dataclass(frozen=True)
class Contract:
    """What code can rely on, and what it must give."""

    columns: dict[tuple[str, str], str]
    required: set[tuple[str, str]]
    functions: dict[str, tuple[Any, ...]]
    constraints: dict[tuple[str, str], list[str]]


def _contract(dsn: str) -> Contract:
    with psycopg.connect(dsn) as connection:
        columns = connection.execute(_COLUMNS).fetchall()
        functions = connection.execute(_FUNCTIONS).fetchall()
        constraints = connection.execute(_CONSTRAINTS).fetchall()
    return Contract(
        {(table, name): kind for table, name, kind, _ in columns},
        {(table, name) for table, name, _, is_required in columns if is_required},
        {f"{row[0]}({row[1]})" if row[0].startswith("queue.") else row[0]: row[1:] for row in functions},
        {(table, name): names for table, name, names in constraints},
    )


def _problems(before: Contract, after: Contract) -> list[str]:
    """What code that knows ``before`` would stumble over; empty when there is nothing."""
    tables = {table for table, _ in before.columns}
    found = [f"{key} is gone or changed" for key, kind in before.columns.items() if after.columns.get(key) != kind]
    found += [f"{key} has to be given" for key in after.required - before.required if key[0] in tables]
    for key in after.constraints.keys() - before.constraints.keys():
        # one of new columns only cannot refuse what old code writes, which leaves them to their defaults
        if key[0] in tables and any((key[0], name) in before.columns for name in after.constraints[key]):
            found.append(f"{key} may refuse what was accepted")
    for name, (count, _, names, kinds, result) in before.functions.items():
        now = after.functions.get(name)
        if now is None:
            found.append(f"{name} is gone")
            continue
        count_now, default_count, names_now, kinds_now, result_now = now
        same_inputs = (names[:count], kinds[:count]) == (names_now[:count], kinds_now[:count])
        same_outputs = (names[count:], kinds[count:]) == (names_now[count_now:], kinds_now[count_now:])
        if not (same_inputs and same_outputs and result == result_now and count_now - count <= default_count):
            found.append(f"{name} is called otherwise")
    return found


def test_it_is_decided_for_every_revision() -> None:
    revisions = {script.revision for script in _SCRIPTS.walk_revisions()}
    assert not CODE_OF_BEFORE_WORKS & NEEDS_ITS_OWN_CODE
    assert revisions == CODE_OF_BEFORE_WORKS | NEEDS_ITS_OWN_CODE, "say of the new revision whether old code may go on"


def test_what_code_of_before_asks_for_stays(empty_database: str) -> None:
    first, *steps = sorted(CODE_OF_BEFORE_WORKS)
    upgrade(empty_database, _SETTINGS, str(_SCRIPTS.get_revision(first).down_revision))
    before = _contract(empty_database)
    assert before.functions["rag.hybrid_search"][0] == 10
    for revision in [first, *steps]:
        upgrade(empty_database, _SETTINGS, revision)
        after = _contract(empty_database)
        assert _problems(before, after) == [], f"code of the revision before {revision} cannot go on"
        before = after


@pytest.mark.parametrize(
    "change",
    [
        "alter table rag.document drop column metadata cascade",
        "alter table rag.collection alter column created_at type timestamp",
        "alter table rag.document add column owner text not null",
        "alter table rag.document add constraint short check (length(source) < 10)",
        "drop function rag.hybrid_search cascade",
        "alter function rag.fts_candidates rename to fts_rows",
    ],
)
def test_the_comparison_sees_what_old_code_would_stumble_over(database: str, change: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        for view in ("documents_overview", "parent_chunks_overview", "child_chunks_overview"):
            connection.execute(f"drop view rag.{view} cascade")  # type: ignore[call-overload]
        connection.execute("drop schema if exists analytics cascade")
        before = _contract(database)
        assert _problems(before, _contract(database)) == []
        connection.execute(change)  # type: ignore[call-overload]
    assert _problems(before, _contract(database)) != []


async def test_code_of_before_starts_on_a_schema_that_serves_it(database: str) -> None:
    head = str(_SCRIPTS.get_current_head())
    assert oldest_code("0010") == "0008"
    with psycopg.connect(database, autocommit=True) as connection:

        def note() -> str:
            row = connection.execute("select obj_description('rag.alembic_version'::regclass)").fetchone()
            return str(row and row[0])

        assert note() == f"serves code from revision {oldest_code(head)}"
        # as a version that comes after this one leaves it
        connection.execute("update rag.alembic_version set version_num = '9999'")
        await _look(database)
        connection.execute(f"comment on table rag.alembic_version is 'serves code from revision {head}'")
        await _look(database)
        for refused in ("'serves code from revision 9998'", "null", "'something else'"):
            connection.execute(f"comment on table rag.alembic_version is {refused}")  # type: ignore[call-overload]
            with pytest.raises(NotMigrated, match="run the newer version"):
                await _look(database)


async def _look(dsn: str) -> None:
    engine = create_engine(dsn, _SETTINGS.database, _SETTINGS.search)
    try:
        async with engine.connect() as connection:
            await check_revision(connection)
    finally:
        await engine.dispose()
