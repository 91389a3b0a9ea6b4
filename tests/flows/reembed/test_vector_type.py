"""Another type for the vectors of the same model: copied while everything is in use, and no model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from service.cli.app import app
from service.cli.work.checks import State
from service.cli.work.database_checks import check_database
from service.config import EmbedSettings
from service.db.spaces.rows_to_fill import copy_to_standby
from service.errors import Conflict, Misconfigured
from service.flows.reembed.change import Done, drop_old, reembed, rollback, spaces_state
from service.types import EmbeddingModel
from tests.database.chunk_rows import Child, collection, document, random_vector, search_connection
from tests.database.migrations.comparing import compare_models
from tests.fakes.heard import Heard
from tests.fakes.recording_embedder import RecordingEmbedder
from tests.flows.conftest import flow_settings
from tests.flows.reembed.world import World, in_use, line, put_lines, world

_INDEX = "select pg_get_indexdef('rag.child_chunk_embedding_hnsw'::regclass)"
_VECTORS = "select content, embedding::text from rag.child_chunk order by content"


@asynccontextmanager
async def _lines(
    database: str, folder: Path, count: int = 20, first: RecordingEmbedder | None = None
) -> AsyncIterator[World]:
    async with world(database, folder, 12, first) as here:
        await put_lines(here.library, range(count))
        yield here


async def _copy(
    here: World, to: Literal["vector", "halfvec"], heard: Heard | None = None, *, and_switch: bool = True
) -> Done:
    parts = replace(here.parts, settings=here.parts.settings.model_copy(update={"vector_type": to}))
    active = (await spaces_state(here.parts.engine)).active
    return await reembed(parts, active, heard or Heard(), and_switch=and_switch)


def _vectors(here: World) -> dict[object, NDArray[np.float64]]:
    return {text: np.fromstring(str(vector).strip("[]"), sep=",") for text, vector in here.rows(_VECTORS)}


async def test_to_halfvec_and_back_while_everything_is_in_use(database: str, tmp_path: Path) -> None:
    model = RecordingEmbedder()
    async with _lines(database, tmp_path, first=model) as here:
        before = _vectors(here)
        heard = Heard()
        async with in_use(here) as use:
            done = await _copy(here, "halfvec", heard)
            await use.goes_on()

        assert (done.switched, done.copied, done.embedded_count) == (True, True, 0)
        assert max(use.distances) < 0.001
        assert heard.counts[-1][0] == heard.counts[-1][1]
        assert here.asked() == []
        assert [model.asked.count(line(number)) for number in range(8, 19)] == [1] * 11, "by the upload alone"
        state = await spaces_state(here.parts.engine)
        assert (state.active_type, state.standby, state.standby_type) == ("halfvec", None, None)
        assert not state.needs_tidying
        assert "halfvec_cosine_ops" in str(here.rows(_INDEX))
        assert here.rows("select count(*) from rag.child_chunk where embedding is null") == [(0,)]
        compare_models(database)
        after = _vectors(here)
        for number in range(19):
            exact = before[line(number)]
            np.testing.assert_allclose(after[line(number)], exact.astype(np.float16), atol=1e-6)

        assert (await _copy(here, "halfvec")).already_active
        await put_lines(here.library, range(200, 203))
        back = await _copy(here, "vector")
        assert (back.switched, back.copied, back.filled_count) == (True, True, len(_vectors(here)))
        assert "(embedding vector_cosine_ops)" in str(here.rows(_INDEX))
        assert await here.distance(line(201)) < 0.001


async def test_a_copy_that_was_broken_off_goes_on_or_makes_room(database: str, tmp_path: Path) -> None:
    async with _lines(database, tmp_path, 6) as here:
        engine = here.parts.engine
        ready = await _copy(here, "halfvec", and_switch=False)
        assert (ready.switched, ready.filled_count) == (False, 6)
        await put_lines(here.library, range(50, 52))
        state = await spaces_state(engine)
        assert (state.active_type, state.standby, state.standby_type) == ("vector", None, "halfvec")
        assert (state.chunk_count, state.missing_count, state.is_indexed) == (8, 2, True)
        with pytest.raises(Conflict, match="no former model"):
            await rollback(here.parts, Heard())
        gone_on = await _copy(here, "halfvec")
        assert (gone_on.switched, gone_on.filled_count) == (True, 2)

        # a half-made copy is no vector of another model, not even of one with as many dimensions
        await _copy(here, "vector", and_switch=False)
        second = replace(here.second, model=EmbeddingModel("openai", "second", 12))
        done = await reembed(here.parts, second, Heard())
        assert (done.switched, done.copied, done.embedded_count) == (True, False, 8)
        assert await here.distance(line(3)) < 0.001

        with pytest.raises(Conflict, match="drop-old"):
            await _copy(here, "halfvec")
        assert await drop_old(engine) is not None
        await _copy(here, "halfvec", and_switch=False)
        assert await drop_old(engine) is None
        assert (await spaces_state(engine)).standby_type is None
        assert await here.distance(line(4)) < 0.001
        compare_models(database)


async def test_rows_that_are_held_are_passed_over_and_every_page_ends(database: str, tmp_path: Path) -> None:
    async with _lines(database, tmp_path, 5) as here:
        await _copy(here, "halfvec", and_switch=False)
        ids = [row[0] for row in here.rows("select id from rag.child_chunk order by id")]
        with psycopg.connect(database) as holder:
            holder.execute("update rag.child_chunk set embedding_standby = null")
            holder.commit()
            holder.execute("select from rag.child_chunk where id = %s for update", [ids[1]])
            pages, after = list[int](), 0
            while after is not None:
                async with here.parts.engine.begin() as connection:
                    count, after = await copy_to_standby(connection, after, 2)
                pages.append(count)
            assert pages == [2, 2, 0]
        assert here.rows("select id from rag.child_chunk where embedding_standby is null") == [(ids[1],)]


async def test_vectors_too_long_for_the_type_of_the_settings_change_nothing(database: str, tmp_path: Path) -> None:
    async with world(database, tmp_path, 2048, vector_type="vector") as here:
        with pytest.raises(Misconfigured, match=r"VECTOR_TYPE=vector .* 2048"):
            await reembed(here.parts, here.second, Heard())
        state = await spaces_state(here.parts.engine)
        assert (state.standby, state.standby_type) == (None, None)


async def test_the_doctor_names_the_difference_and_the_command_mends_it(database: str, tmp_path: Path) -> None:
    with search_connection(database) as connection:
        children = [Child(line(number), random_vector(number)) for number in range(3)]
        document(connection, collection(connection, "default"), "手册.txt", [children])
    settings = flow_settings(database, tmp_path)
    assert [found.part for found in await check_database(settings) if found.part == "vectors"] == []
    settings = settings.model_copy(update={"embed": EmbedSettings(vector_type="halfvec")})
    (found,) = [found for found in await check_database(settings) if found.part == "vectors"]
    assert found.state is State.WARN
    assert "stored as vector" in found.message
    said = {"FUZI_HOME": str(tmp_path), "FUZI_DATABASE__URL": database, "FUZI_EMBED__VECTOR_TYPE": "halfvec"}
    result = await asyncio.to_thread(CliRunner().invoke, app, ["reembed"], env=said | {"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "3 chunks (copied, no model was asked)" in result.output
    assert "multilingual-e5-small (384 dimensions), halfvec" in result.output
    assert [found.part for found in await check_database(settings) if found.part == "vectors"] == []
