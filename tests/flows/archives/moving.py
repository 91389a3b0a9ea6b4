"""What the tests of archives share: parts of a service, databases to move into, and what is in them."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psycopg
from psycopg import sql

from service.config import OriginalsSettings, Settings
from service.flows.archives.parts import ArchiveParts
from service.store.originals import open_originals
from tests.flows.conftest import Library, flow_settings

REPOSITORY = Path(__file__).parents[3]

_TABLES = """
    select 'rag', relname
    from pg_class
    where relnamespace = 'rag'::regnamespace and relkind = 'r' and relname <> 'bm25_sentinel'
    order by relname
"""
_OBJECTS = """
    select 'index ' || indexname, indexdef from pg_indexes where schemaname = 'rag'
    union all
    select 'column ' || table_name || '.' || column_name, data_type || coalesce(column_default, '')
    from information_schema.columns where table_schema = 'rag'
    union all
    select 'function ' || oid::regprocedure,
        pg_get_functiondef(oid) || array(select a::text from unnest(proacl) as a order by 1)::text
    from pg_proc where pronamespace in ('rag'::regnamespace, 'queue'::regnamespace) and prokind = 'f'
    union all
    select 'comment ' || c.oid::regclass || d.objsubid, d.description
    from pg_description as d join pg_class as c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
    where c.relnamespace = 'rag'::regnamespace
    union all
    select 'rights ' || oid::regclass, array(select a::text from unnest(relacl) as a order by 1)::text
    from pg_class where relnamespace = 'rag'::regnamespace
    union all
    select 'view ' || oid::regclass, reloptions::text || array(select a::text from unnest(relacl) as a order by 1)::text
    from pg_class where relnamespace = 'analytics'::regnamespace and relname <> 'of_somebody_else'
    union all
    select 'policy ' || polrelid::regclass || polname, pg_get_expr(polqual, polrelid) || c.relrowsecurity
    from pg_policy as p join pg_class as c on c.oid = p.polrelid
    order by 1
"""


def dsn_of(library: Library) -> str:
    url = library.services.settings.database.url
    assert url is not None
    return url.get_secret_value()


def parts_of(dsn: str, home: Path, bucket: OriginalsSettings | None = None) -> tuple[ArchiveParts, Settings]:
    """Parts of the archive flows for a database and the originals below ``home``, or in a bucket."""
    settings = flow_settings(dsn, home)
    if bucket is not None:
        settings = settings.model_copy(update={"originals": bucket})
    originals = open_originals(settings.originals, settings.home, lambda: datetime.now(UTC), uuid4)
    return ArchiveParts(dsn, originals), settings


def rows(dsn: str) -> dict[str, str]:
    """A digest of all rows of each table in `rag`, vectors with every digit."""
    with psycopg.connect(dsn) as connection:
        return {
            f"{schema}.{table}": str(
                connection.execute(
                    sql.SQL(
                        "select count(*) || md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) from {} as t"
                    ).format(sql.Identifier(str(schema), str(table)))
                ).fetchone()
            )
            for schema, table in connection.execute(_TABLES).fetchall()
        }


def objects(dsn: str) -> list[tuple[object, ...]]:
    """Definitions of indexes, views and functions, remarks and rights."""
    with psycopg.connect(dsn) as connection:
        return connection.execute(_OBJECTS).fetchall()


def sentinels(dsn: str) -> set[str]:
    """The BM25 indexes that are known to be whole."""
    with psycopg.connect(dsn) as connection:
        return {str(name) for (name,) in connection.execute("select index_name from rag.bm25_sentinel")}


def databases_like(dsn: str) -> list[str]:
    """Names of all databases that begin with that of ``dsn``."""
    name = dsn.rsplit("/", 1)[1]
    with psycopg.connect(dsn) as connection:
        found = connection.execute("select datname from pg_database where starts_with(datname, %s) order by 1", [name])
        return [str(database) for (database,) in found]


def stored(home: Path) -> dict[str, str]:
    """Digests of the originals below ``home``, by key."""
    folder = home / "originals"
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


_KILLED = """
import asyncio, os, sys
from pathlib import Path
from service.flows.archives.backup import backup
from service.db.engine import create_engine
from service.flows.archives.restore import restore
from service.flows.archives.take_in import ImportParts, take_in
from tests.flows.archives.moving import parts_of

flow, dsn, home, path, moment = sys.argv[1:]
parts, settings = parts_of(dsn, Path(home))

def watch(step, done, total):
    if step == moment:
        os.kill(os.getpid(), 9)

if flow == "backup":
    asyncio.run(backup(parts, Path(path), overwrite=True, watch=watch))
elif flow == "import":
    engine = create_engine(dsn, settings.database, settings.search)
    asyncio.run(take_in(ImportParts(engine, parts.originals, settings.limits), Path(path), watch=watch))
else:
    asyncio.run(restore(parts, Path(path), settings, replace=flow == "replace", watch=watch))
"""


def killed(flow: str, dsn: str, home: Path, path: Path, moment: str) -> None:
    """Run ``backup``, ``restore``, ``replace`` or ``import`` in a process that is killed at a step."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", _KILLED, flow, dsn, str(home), str(path), moment]
    done = subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
