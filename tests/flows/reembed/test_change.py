"""A change of the embedding model, from the first chunk to the last, while everything is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from service.errors import Conflict
from service.flows.reembed.change import drop_old, reembed, rollback, spaces_state
from tests.database.migrations.comparing import compare_models
from tests.fakes.heard import Heard
from tests.flows.reembed.world import in_use, line, put_lines, world


@pytest.mark.parametrize(
    ("dimension", "vector_type", "made"),
    [(384, "auto", "vector"), (12, "halfvec", "halfvec"), (2048, "auto", "halfvec")],
    ids=["same dimension", "another dimension and type", "too long for vector"],
)
async def test_there_and_back_while_everything_is_in_use(
    database: str, tmp_path: Path, dimension: int, vector_type: Literal["auto", "halfvec"], made: str
) -> None:
    async with world(database, tmp_path, dimension, vector_type=vector_type) as here:
        await put_lines(here.library, range(20))
        heard = Heard()
        async with in_use(here) as use:
            done = await reembed(here.parts, here.second, heard)
            await use.goes_on()
            back = await rollback(here.parts, Heard())
            forth = await reembed(here.parts, here.second, Heard())

        assert (done.switched, back.switched, forth.switched) == (True, True, True)
        assert len(use.distances) > 10
        assert max(use.distances) < 0.001, "a query of one model was compared with vectors of another"
        # the fill asked for every text once, whatever was uploaded meanwhile
        passages = [text for text in here.asked() if here.asked().count(text) > 1]
        assert {text for text in passages if text not in {line(number) for number in range(8)}} == set()
        assert here.rows("select count(*) from rag.child_chunk where embedding is null") == [(0,)]
        assert heard.counts[-1][0] == heard.counts[-1][1]
        state = await spaces_state(here.parts.engine)
        assert (state.active.model, state.standby and state.standby.model) == (here.second.model, here.first.model)
        assert (state.active_type, state.standby_type) == (made, "vector")
        assert not state.needs_tidying
        compare_models(database)

        await drop_old(here.parts.engine)
        assert await here.distance(line(3)) < 0.001
        assert (await spaces_state(here.parts.engine)).standby is None
        with pytest.raises(Conflict, match="no former model"):
            await rollback(here.parts, Heard())
        compare_models(database)
