"""A replica has what the primary has, finds it with both legs by its own indexes, and is made anew when it must be."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import psycopg
import pytest

from service.config import DatabaseSettings, EmbedSettings, SearchSettings, Settings
from service.db.dump.replacement import replacement
from service.db.engine import create_engine
from service.db.migrate import upgrade
from service.db.replica.tables import PUBLISHED, column_names
from service.db.spaces import EmbeddingSpace
from service.embed import embedder_of
from service.errors import Conflict, DatabaseNotEmpty, InvalidInput, InvalidSettings, Misconfigured
from service.flows.reembed.change import ReembedParts, reembed
from service.flows.replica.give_up import give_up, give_up_slot
from service.flows.replica.make import make
from service.flows.replica.status import status
from service.search import search
from service.types import EmbeddingModel, SearchRequest
from tests.conftest import Databases
from tests.database.bm25.library import fetch, found_by_vector, found_by_words, write
from tests.fakes.heard import Heard
from tests.flows.replica.conftest import Fed
from tests.flows.replica.servers import ReplicaServer, parts_of, rows, searching, until


def contents(dsn: str) -> dict[str, list[tuple[object, ...]]]:
    """Every copied table, row by row and column by column."""
    return {
        model.__tablename__: rows(
            dsn, f"select {', '.join(column_names(model))} from rag.{model.__tablename__} order by 1"
        )
        for model in PUBLISHED
    }


async def wait_for(fed: Fed) -> None:
    """Wait until the replica shows what the primary shows now."""
    wanted = contents(fed.primary)
    await until(lambda: contents(fed.replica) == wanted)


async def reason_of(fed: Fed) -> str | None:
    return (await status(fed.primary, fed.replica, most_lag_seconds=30)).state.reason


async def test_it_is_copied_and_follows_uploads_changes_and_deletions(fed: Fed) -> None:
    assert not fed.made.already_whole
    assert fed.heard.counts[-1] == (fed.made.copied_rows, fed.made.copied_rows)
    assert fed.made.copied_rows > 40, "ten documents with a parent and two children each"
    assert "building child_chunk_bm25" in fed.heard.stages
    numbers = [*range(10), *fed.write(12)]
    with psycopg.connect(fed.primary) as connection:
        connection.execute("delete from rag.document where source in ('s3', 's11')")
        connection.execute("update rag.document set metadata = '{\"year\": 2024}' where source = 's4'")
        connection.execute("""update rag.collection set settings = '{"top_n": 3}'""")
        connection.execute("update rag.corpus set revision = revision + 1")
    await wait_for(fed)
    kept = [number for number in numbers if number not in {3, 11}]
    assert found_by_words(fed.replica, numbers) == kept
    assert found_by_vector(fed.replica, numbers) == kept

    again = await make(parts_of(fed.primary, fed.replica), Heard())
    assert (again.already_whole, again.copied_rows) == (True, 0)
    found = await status(fed.primary, fed.replica, most_lag_seconds=30)
    assert found.state.is_used
    assert found.state.lag_seconds is not None
    assert [slot.name for slot in found.slots] == [fed.made.slot]

    async with searching(fed.primary, fed.replica) as parts:
        await until(lambda: parts.reads is not None and parts.reads.state.is_used)
        for query in ("N7 合同", "通用条款", "第4份合同"):
            request = SearchRequest(query, 5, 50, 70, 30, 60)
            on_replica, on_primary = await search(parts, request), await search(replace(parts, reads=None), request)
            assert on_replica.passages == on_primary.passages
            assert on_replica.corpus_revision == on_primary.corpus_revision


async def test_the_vectors_of_a_fed_replica_are_not_swapped(fed: Fed) -> None:
    engine = create_engine(fed.primary, DatabaseSettings(), SearchSettings())
    changing = ReembedParts(engine, EmbedSettings(), partial(embedder_of, EmbedSettings()))
    space = EmbeddingSpace(EmbeddingModel("openai", "second", 16), "http://127.0.0.1:9/v1")
    with pytest.raises(Conflict, match="fuzi replica drop"):
        await reembed(changing, space, Heard())
    await engine.dispose()
    with pytest.raises(Conflict, match="fuzi replica drop"):
        async with replacement(fed.primary):
            pass
    with pytest.raises(Conflict, match="still reads"):
        await give_up_slot(fed.primary, fed.made.slot, patience_seconds=0)
    # nor is a column dropped by hand
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        fetch(fed.primary, "alter table rag.child_chunk drop column embedding")
    assert await reason_of(fed) is None


async def test_one_that_no_longer_fits_is_made_anew(fed: Fed) -> None:
    damages = {
        "model_differs": "update rag.embedding_model set name = 'another' where active",
        "schema_differs": "update rag.alembic_version set version_num = '0001'",
    }
    for reason, damage in damages.items():
        fetch(fed.replica, damage)
        assert await reason_of(fed) == reason
    fetch(fed.replica, "delete from rag.document where source = 's5'")
    assert not (await make(parts_of(fed.primary, fed.replica), Heard())).already_whole
    await wait_for(fed)
    assert await reason_of(fed) is None
    assert rows(fed.replica, "select count(*) from rag.document where source = 's5'") == [(1,)]


async def test_one_that_was_begun_is_given_up(
    fed: Fed, empty_replica: str, second_server: ReplicaServer, databases: Databases
) -> None:
    unreachable = "postgresql://fuzi:x@127.0.0.1:9/nowhere"
    parts = parts_of(fed.primary, empty_replica)
    with pytest.raises(Misconfigured, match="--primary-url"):
        await make(replace(parts, primary_url=unreachable), Heard())
    begun = await status(fed.primary, empty_replica, most_lag_seconds=30)
    assert begun.state.reason == "not_subscribed"
    assert len(begun.slots) == 2
    dropped = await give_up(parts)
    assert (dropped.emptied, dropped.publication) == (True, False), "another replica is left"
    assert dropped.slot in {slot.name for slot in begun.slots} - {fed.made.slot}
    assert rows(empty_replica, "select nspname from pg_namespace where nspname in ('rag', 'queue', 'replica')") == []
    assert (await status(fed.primary, empty_replica, most_lag_seconds=30)).state.reason == "not_made"
    with pytest.raises(InvalidInput, match="no replica"):
        await give_up(parts)
    with pytest.raises(InvalidInput, match="no slot"):
        await give_up_slot(fed.primary, "fuzi_replica_0_0")
    assert await reason_of(fed) is None


async def test_servers_and_roles_that_do_not_allow_it(fed: Fed, empty_replica: str) -> None:
    with pytest.raises(InvalidSettings, match="primary itself"):
        await make(parts_of(fed.primary, fed.primary), Heard())
    with pytest.raises(InvalidSettings, match="leads to a replica"):
        await make(parts_of(fed.replica, empty_replica), Heard())
    fetch(fed.primary, "drop role if exists feeble")
    fetch(fed.primary, "create role feeble login password 'x'")
    fetch(fed.primary, "grant usage on schema rag to feeble")
    as_feeble = fed.primary.replace(fed.primary.partition("//")[2].partition("@")[0], "feeble:x")
    database = fed.primary.rpartition("/")[2]
    steps = {
        "alter role feeble replication": "alter role feeble replication",
        "grant create on database": f"grant create on database {database} to feeble",
        "does not own the tables": None,
    }
    try:
        for complaint, mend in steps.items():
            with pytest.raises(Misconfigured, match=complaint):
                await make(parts_of(as_feeble, empty_replica), Heard())
            if mend is not None:
                fetch(fed.primary, mend)
    finally:
        fetch(fed.primary, "drop owned by feeble")
        fetch(fed.primary, "drop role feeble")


async def test_documents_of_others_are_never_overwritten(fed: Fed, databases: Databases) -> None:
    with databases.fresh() as other:
        write(other, range(1))
        before = contents(other)
        with pytest.raises(DatabaseNotEmpty):
            await make(parts_of(fed.primary, other), Heard())
        assert contents(other) == before


async def test_a_primary_that_writes_too_little_into_its_log(second_server: ReplicaServer, empty_replica: str) -> None:
    settings = Settings(_env_file=None)
    upgrade(empty_replica, settings)
    with pytest.raises(Misconfigured, match="wal_level"):
        await make(parts_of(empty_replica, second_server.new_database()), Heard())


async def test_its_vectors_have_the_type_of_the_primary_whatever_the_settings_say(
    databases: Databases, empty_replica: str
) -> None:
    with databases.fresh(migrated=False) as primary:
        upgrade(primary, Settings(_env_file=None, embed=EmbedSettings(vector_type="halfvec")))
        write(primary, range(3))
        try:
            await make(parts_of(primary, empty_replica), Heard())
            kind = "select format_type(atttypid, atttypmod) from pg_attribute where attname = 'embedding'"
            kind += " and attrelid = 'rag.child_chunk'::regclass"
            assert rows(empty_replica, kind) == rows(primary, kind) == [("halfvec(384)",)]
            assert found_by_vector(empty_replica, range(3)) == [0, 1, 2]
        finally:
            await give_up(parts_of(primary, empty_replica))
