"""Running processes at the moment of the switch: no query and no chunk meets vectors of another model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from fastapi import Response
from sqlalchemy import text

from service.api.health import readiness
from service.db.spaces import EmbeddingSpace, begin_reading, reading
from service.db.spaces.briefly import briefly
from service.db.spaces.switch import switch
from service.embed import Embedder, FollowingEmbedder
from service.errors import Conflict, EmbedderUnavailable, Misconfigured
from service.flows.reembed.change import drop_old, reembed, spaces_state
from service.types import Vector, VectorBatch
from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.heard import Heard
from tests.flows.conftest import Library
from tests.flows.reembed.world import line, put_lines, world


class Interrupted(HashEmbedder):
    """Does something once, after it embedded and before its caller has the vector."""

    def __init__(self) -> None:
        super().__init__()
        self.after: Callable[[], Awaitable[object]] | None = None

    async def embed_query(self, text: str) -> Vector:
        vector = await super().embed_query(text)
        await self._interrupt()
        return vector

    async def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> VectorBatch:
        vectors = await super().embed_passages(texts, on_progress)
        await self._interrupt()
        return vectors

    async def _interrupt(self) -> None:
        if self.after is not None:
            after, self.after = self.after, None
            await after()


async def test_a_query_and_a_chunk_embedded_before_the_switch_are_embedded_again_after_it(
    database: str, tmp_path: Path
) -> None:
    first = Interrupted()
    async with world(database, tmp_path, 384, first) as here:
        await put_lines(here.library, range(3))
        first.after = lambda: reembed(here.parts, here.second, Heard())
        assert await here.distance(line(1)) < 0.001
        assert first.after is None
        assert here.services.embedder.model == here.second.model
        # settings that only the next start has to mend take no process out of service
        assert (await readiness(here.services, Response())).status == "ready"

        # and back again, by an upload that was embedded by the second model
        back = EmbeddingSpace(first.model)
        here.services.embedder.follow(back)
        first.after = None
        await reembed(here.parts, back, Heard())
        first.after = lambda: reembed(here.parts, here.second, Heard())
        result = await here.library.put("9.txt", line(9))
        assert first.after is None
        assert (result.outcome, result.embedded_count) == ("created", 1)
        assert await here.distance(line(9)) < 0.001
        assert here.rows("select attempts from rag.job order by created_at desc limit 1") == [(1,)]


async def test_no_switch_happens_under_a_search_that_has_its_snapshot(database: str, tmp_path: Path) -> None:
    async with world(database, tmp_path, 384) as here:
        await put_lines(here.library, range(2))
        await reembed(here.parts, here.second, Heard(), and_switch=False)
        engine = here.services.engine
        async with reading(engine) as connection:
            space, _ = await begin_reading(connection, "select 1", {})
            assert space.model == here.first.model
            with pytest.raises(Conflict, match="held by another session"):
                await briefly(engine, switch, patience_seconds=0.2)
            query = await here.first.embed_query(line(0))
            found = await connection.execute(
                text("select vector_distance from rag.vector_candidates(:query, 1)"), {"query": query}
            )
            assert found.scalar_one() < 0.001
        assert await briefly(engine, switch)
        assert await here.distance(line(0)) < 0.001


async def test_a_chunk_without_its_vector_stops_the_switch(database: str, tmp_path: Path) -> None:
    async with world(database, tmp_path, 5) as here:
        await put_lines(here.library, range(2))
        await reembed(here.parts, here.second, Heard(), and_switch=False)
        await put_lines(here.library, range(2, 3))
        assert not await briefly(here.services.engine, switch)
        assert await here.distance(line(2)) < 0.001
        assert (await reembed(here.parts, here.second, Heard())).filled_count == 1
        assert await here.distance(line(2)) < 0.001


async def test_a_process_that_cannot_follow_says_what_to_set(database: str, tmp_path: Path) -> None:
    def refuse(_space: EmbeddingSpace) -> Embedder:
        raise Misconfigured("no key")

    async with world(database, tmp_path, 5) as here:
        await put_lines(here.library, range(2))
        await reembed(here.parts, here.second, Heard())
        left_behind = replace(here.services, embedder=FollowingEmbedder(here.first, refuse))
        library = Library(left_behind, tmp_path)
        result = await library.ask(line(1))
        assert result.passages[0].content == line(1)
        [warning] = result.warnings
        assert warning.code == "vector_unavailable"
        assert "FUZI_EMBED__PROVIDER=openai FUZI_EMBED__MODEL=second FUZI_EMBED__DIMENSION=5" in warning.message
        with pytest.raises(EmbedderUnavailable, match="FUZI_EMBED__MODEL=second"):
            await library.ask(line(1), fts=0)


async def test_what_stands_in_the_way_is_said_before_any_work(database: str, tmp_path: Path) -> None:
    async with world(database, tmp_path, 5) as here:
        await put_lines(here.library, range(1))
        with psycopg.connect(database) as connection:
            connection.execute("create view public.vectors as select id, embedding from rag.child_chunk")
        with pytest.raises(Conflict, match=r"view public\.vectors"):
            await reembed(here.parts, here.second, Heard())
        assert here.asked() == []
        assert (await spaces_state(here.parts.engine)).standby is None
        with psycopg.connect(database) as connection:
            connection.execute("drop view public.vectors")
        await reembed(here.parts, here.second, Heard(), and_switch=False)
        third = replace(here.second, model=replace(here.second.model, name="third"))
        with pytest.raises(Conflict, match="--drop-old"):
            await reembed(here.parts, third, Heard())
        await drop_old(here.parts.engine)
        assert (await reembed(here.parts, third, Heard())).switched
        assert (await spaces_state(here.parts.engine)).active.model == third.model
