"""An import keeps the ids of chunks, also those that are no digests, as older versions made them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from service.flows.archives.export import export
from service.flows.archives.parts import ArchiveParts
from service.flows.archives.take_in import ImportParts, take_in
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.archives.moving import dsn_of
from tests.flows.conftest import Library, flow_settings, idle_services

_IDS = """
    select p.chunk_id, c.ordinal, c.chunk_id
    from rag.child_chunk as c join rag.parent_chunk as p on p.id = c.parent_id
    order by p.ordinal, c.ordinal
"""


def ids(dsn: str) -> list[Any]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(_IDS).fetchall()


async def test_ids_that_are_no_digests_are_kept(library: Library, databases: Databases, tmp_path: Path) -> None:
    await library.put(
        "泵.md", "# 泵\n\n" + "".join(f"第{n}条：保修期为{n}年，每月检查一次密封圈。" for n in range(120))
    )
    with psycopg.connect(dsn_of(library)) as connection:
        connection.execute("update rag.child_chunk set chunk_id = gen_random_uuid()")
        connection.execute("update rag.parent_chunk set chunk_id = gen_random_uuid()")
    before = ids(dsn_of(library))
    assert len(before) > 3
    parts = ArchiveParts(dsn_of(library), library.services.originals)
    report = await export(parts, "default", tmp_path / "kb.fuzi")
    with databases.fresh() as dsn:
        async with idle_services(flow_settings(dsn, tmp_path / "there"), HashEmbedder(384)) as there:
            await take_in(ImportParts(there.engine, there.originals, there.settings.limits), report.path)
        assert ids(dsn) == before
