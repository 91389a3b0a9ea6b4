"""Expansion: what a passage knows of all its children."""

from __future__ import annotations

import hashlib
from pathlib import Path

import psycopg
import pytest

from service.db.spaces.rows_to_fill import missing_after
from service.embed.passage_text import passage_text
from service.flows.reembed.change import reembed
from tests.fakes.heard import Heard
from tests.flows.conftest import Library
from tests.flows.reembed.world import line, put_lines, world

_LAW = "第一章 总则\n\n" + "\n\n".join(
    f"第{number}条 {subject}应当在三十日内办理{subject}手续。"
    for number, subject in enumerate("登记变更注销备案", start=1)
)


async def test_a_passage_has_the_distances_of_all_its_children(library: Library, database: str) -> None:
    await library.put("办法.txt", _LAW)
    await library.put("别的.txt", "完全不同的内容。")
    passages = (await library.ask("第2条 记应当在三十日内办理记手续。")).passages
    best = passages[0]
    assert len(best.child_distances) == 8
    assert list(best.child_distances) == sorted(best.child_distances)
    of_hits = sorted(hit.candidate.vector_distance or 0 for hit in best.hits)
    assert of_hits == pytest.approx(best.child_distances), "every child is a hit of so small a corpus"
    assert {len(passage.child_distances) for passage in passages} == {8, 1}
    assert (best.heading_path, best.hits[0].inner_path) == (("第一章 总则",), ("第2条",))


async def test_without_the_vector_leg_there_are_no_distances(library: Library) -> None:
    await library.put("办法.txt", _LAW)
    passages = (await library.ask("登记手续", vector=0)).passages
    assert [passage.child_distances for passage in passages] == [()]


async def test_distances_to_half_vectors(database: str, tmp_path: Path) -> None:
    async with world(database, tmp_path, 2048) as here:
        await put_lines(here.library, range(5))
        await reembed(here.parts, here.second, Heard())
        passages = (await here.library.ask(line(3))).passages
        assert passages[0].child_distances == pytest.approx((0.0,), abs=0.001)
        assert [passage.child_distances[0] for passage in passages] == pytest.approx(
            [passage.hits[0].candidate.vector_distance for passage in passages]
        )


async def test_a_new_model_is_given_the_text_that_was_embedded(library: Library, database: str) -> None:
    await library.put("办法.txt", _LAW)
    with psycopg.connect(database) as connection:
        connection.execute("alter table rag.child_chunk add column embedding_standby vector")
        cached = {row[0] for row in connection.execute("select text_sha256 from rag.embedding_cache")}
    async with library.services.engine.connect() as connection:
        chunks = await missing_after(connection, 0, 100)
    texts = [passage_text(chunk.content, chunk.embedding_prefix, chunk.title, chunk.heading_path) for chunk in chunks]
    assert texts[1] == "办法 > 第一章 总则 > 第2条\n第2条 记应当在三十日内办理记手续。"
    assert {hashlib.sha256(text.encode()).digest() for text in texts} == cached
