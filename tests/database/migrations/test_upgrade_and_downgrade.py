"""Migrations up, down and up again, from many processes at once, and whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import psycopg
import pytest
from alembic.script import ScriptDirectory
from pydantic import ValidationError

from service.config import DatabaseSettings, EmbedSettings, Settings
from service.db.migrate import downgrade, upgrade
from service.db.sql_files import shipped_folder
from service.errors import DatabaseUnavailable, Misconfigured
from tests.database.chunk_rows import Child, collection, document, random_vector, search_connection, unit_vector

_SETTINGS = Settings(_env_file=None)
_SCRIPTS = ScriptDirectory(str(shipped_folder("migrations")))
_OBJECTS = """
    select relkind::text || ' ' || relname from pg_class where relnamespace = to_regnamespace('rag') and relkind <> 't'
    union all
    select 'a ' || relname from pg_class where relnamespace = to_regnamespace('analytics')
    union all
    select 'p ' || polrelid::regclass::text || ' ' || polname from pg_policy
    union all
    select 's ' || relname from pg_class where relnamespace = to_regnamespace('rag') and relrowsecurity
    union all
    select 'o ' || relname || ' ' || unnest(reloptions) from pg_class where relnamespace = to_regnamespace('rag')
    union all
    select 'x ' || split_part(indexdef, ' WITH (', 1)
    from pg_indexes
    where schemaname = 'rag' and tablename <> 'alembic_version'
    union all
    select 'f ' || oid::regprocedure from pg_proc where pronamespace = to_regnamespace('rag')
    union all
    select 'c ' || c.relname || '.' || a.attname
    from pg_attribute as a
    join pg_class as c on c.oid = a.attrelid
    where c.relnamespace = to_regnamespace('rag') and c.relkind = 'r' and c.relname <> 'alembic_version'
        and a.attnum > 0 and not a.attisdropped
"""


def _objects(dsn: str) -> set[str]:
    with psycopg.connect(dsn) as connection:
        return {row[0] for row in connection.execute(_OBJECTS)}


def _revision(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as connection:
        return [row[0] for row in connection.execute("select version_num from rag.alembic_version")]


def test_up_down_and_up_again_gives_the_same_schema(empty_database: str) -> None:
    upgrade(empty_database, _SETTINGS)
    first = _objects(empty_database)
    downgrade(empty_database, _SETTINGS, "base")
    assert _objects(empty_database) == {"r alembic_version", "i alembic_version_pkc"}
    assert _revision(empty_database) == []
    upgrade(empty_database, _SETTINGS)
    assert _objects(empty_database) == first
    assert {"r child_chunk", "i child_chunk_bm25", "v index_health"} <= first


def test_every_single_step_goes_both_ways(empty_database: str) -> None:
    for revision in reversed([script.revision for script in _SCRIPTS.walk_revisions()]):
        below = _objects(empty_database)
        upgrade(empty_database, _SETTINGS, revision)
        above = _objects(empty_database)
        downgrade(empty_database, _SETTINGS, "-1")
        assert _objects(empty_database) == below | {"r alembic_version", "i alembic_version_pkc"} != above
        upgrade(empty_database, _SETTINGS, revision)
        assert _objects(empty_database) == above


def test_a_second_upgrade_changes_nothing(database: str) -> None:
    with psycopg.connect(database) as connection:
        before = connection.execute("select id, created_at from rag.embedding_model").fetchall()
    upgrade(database, Settings(_env_file=None, embed=EmbedSettings(dimension=512)))
    with psycopg.connect(database) as connection:
        assert connection.execute("select id, created_at from rag.embedding_model").fetchall() == before


def test_several_processes_at_once_all_succeed(empty_database: str) -> None:
    command = (
        "from service.config import Settings; from service.db.migrate import upgrade; import sys;"
        "upgrade(sys.argv[1], Settings(_env_file=None))"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", command, empty_database], stderr=subprocess.PIPE) for _ in range(4)
    ]
    errors = [process.communicate(timeout=120)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0, 0], errors
    assert _revision(empty_database) == [_SCRIPTS.get_current_head()]
    with psycopg.connect(empty_database) as connection:
        models = connection.execute("select provider, name, dimension, active from rag.embedding_model").fetchall()
    assert models == [("local", "multilingual-e5-small", 384, True)]


def test_the_alembic_command_works_on_its_own(empty_database: str) -> None:
    environment = {**os.environ, "FUZI_DATABASE__URL": empty_database}

    def alembic(*arguments: str) -> str:
        done = subprocess.run(
            [Path(sys.executable).with_name("alembic"), *arguments],
            cwd=Path(__file__).parents[3],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    alembic("upgrade", "head")
    assert alembic("current").startswith(str(_SCRIPTS.get_current_head()))
    assert "No new upgrade operations" in alembic("check")
    alembic("downgrade", "base")
    alembic("upgrade", "head")
    assert _revision(empty_database) == [_SCRIPTS.get_current_head()]


@pytest.mark.case("BR-047")
@pytest.mark.parametrize(
    ("dimension", "vector_type", "kind", "storage"),
    [
        (1024, "auto", "vector(1024)", "p"),
        (1900, "vector", "vector(1900)", "p"),
        (2000, "auto", "vector(2000)", "e"),
        (2000, "halfvec", "halfvec(2000)", "p"),
        (3072, "auto", "halfvec(3072)", "p"),
        (4000, "halfvec", "halfvec(4000)", "e"),
    ],
)
def test_dimension_and_type_are_those_of_the_settings(
    empty_database: str, dimension: int, vector_type: Literal["auto", "vector", "halfvec"], kind: str, storage: str
) -> None:
    embed = EmbedSettings(provider="openai", model="large", dimension=dimension, vector_type=vector_type)
    upgrade(empty_database, Settings(_env_file=None, embed=embed))
    with search_connection(empty_database) as connection:
        column = connection.execute(
            "select format_type(atttypid, atttypmod), attstorage::text from pg_attribute"
            " where attrelid = 'rag.child_chunk'::regclass and attname = 'embedding'"
        ).fetchone()
        assert column == (kind, storage)
        own = connection.execute("select provider, name, dimension from rag.embedding_model where active").fetchall()
        assert own == [("openai", "large", dimension)]
        connection.execute("set enable_seqscan = off")
        full = random_vector(1, dimension)
        written = document(
            connection,
            collection(connection, "c"),
            "s",
            [[Child("汉" * 2000, full), Child("甲", unit_vector(90, dimension))]],
        )
        found = connection.execute("select child_id, vector_distance from rag.vector_candidates(%s, 1)", [full])
        child_id, distance = found.fetchone() or (None, None)
        assert child_id == written.child_ids[0][0]
        assert distance == pytest.approx(0, abs=1e-4)


def test_more_dimensions_than_an_index_can_hold_are_refused_before_any_change(empty_database: str) -> None:
    # settings refuse this already; whoever builds them otherwise meets the migration's own check
    embed = EmbedSettings.model_construct(provider="openai", model="huge", dimension=5000)
    with pytest.raises(Misconfigured, match=r"5000 dimensions .* 4000"):
        upgrade(empty_database, Settings.model_construct(database=DatabaseSettings(), embed=embed))
    with psycopg.connect(empty_database) as connection:
        assert connection.execute("select to_regnamespace('rag')").fetchone() == (None,)
    with pytest.raises(ValidationError, match="dimension"):
        EmbedSettings(dimension=5000)
    with pytest.raises(ValidationError, match=r"`vector` holds up to 2,000 .* 3,072: take `halfvec`"):
        EmbedSettings(dimension=3072, vector_type="vector")


def test_hnsw_parameters_come_from_the_settings(empty_database: str) -> None:
    upgrade(empty_database, Settings(_env_file=None, database=DatabaseSettings(hnsw_m=8, hnsw_ef_construction=40)))
    with psycopg.connect(empty_database) as connection:
        options = connection.execute(
            "select reloptions from pg_class where oid = 'rag.child_chunk_embedding_hnsw'::regclass"
        ).fetchone()
    assert options == (["m=8", "ef_construction=40"],)
    with pytest.raises(ValidationError, match="at least 32"):
        DatabaseSettings(hnsw_m=16, hnsw_ef_construction=20)


def test_a_server_that_is_not_there_is_said_to_be_unavailable() -> None:
    with pytest.raises(DatabaseUnavailable):
        upgrade("postgresql://fuzi@127.0.0.1:1/none", _SETTINGS)


def test_the_url_of_another_database_product_is_refused() -> None:
    with pytest.raises(Misconfigured, match="postgresql://"):
        upgrade("mysql://root:secret@localhost/x", _SETTINGS)
