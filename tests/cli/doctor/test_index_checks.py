"""What `fuzi doctor` says of an index while it is built."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psycopg

from service.cli.work.checks import State
from service.cli.work.database_checks import check_database
from tests.flows.conftest import flow_settings

_BUILD = "create index concurrently second_hnsw on rag.child_chunk using hnsw (embedding vector_cosine_ops)"
_STARTED = "select count(*) from pg_stat_progress_create_index where index_relid = to_regclass('rag.second_hnsw')"


def _build(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_BUILD)


async def test_an_index_under_way_is_not_called_broken(database: str, tmp_path: Path) -> None:
    with psycopg.connect(database) as writer, psycopg.connect(database, autocommit=True) as watcher:
        writer.execute("lock table rag.child_chunk in row exclusive mode")  # a build waits for writers
        building = threading.Thread(target=_build, args=(database,))
        building.start()
        try:
            while watcher.execute(_STARTED).fetchone() == (0,):
                assert building.is_alive()
                time.sleep(0.05)
            found = {finding.part: finding for finding in await check_database(flow_settings(database, tmp_path))}
        finally:
            writer.rollback()
            building.join()
    assert (found["second_hnsw"].state, found["second_hnsw"].message) == (State.WARN, "the index is being built")
    assert found["child_chunk_embedding_hnsw"].state is State.OK
