"""How often a search waits for the database: as seldom as it can, once it is warm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import DatabaseSettings, SearchSettings
from service.db.engine import create_engine
from service.search import search
from service.types import DocumentFilter, SearchRequest
from tests.flows.conftest import Library

_OFTEN = 8
"""Searches until the driver has prepared every statement."""


@contextmanager
def _messages(engine: AsyncEngine, file: Path) -> Iterator[list[str]]:
    """Names of the messages that end what was sent at once, as libpq itself traces them."""
    sent = list[str]()
    traced = set[Any]()
    with file.open("wb") as out:

        def trace(dbapi_connection: Any, *_: Any) -> None:
            pgconn = dbapi_connection.driver_connection.pgconn
            pgconn.trace(out.fileno())
            traced.add(pgconn)

        event.listen(engine.sync_engine, "checkout", trace)
        yield sent
        event.remove(engine.sync_engine, "checkout", trace)
        for pgconn in traced:
            pgconn.untrace()
    lines = [line.split("\t") for line in file.read_text(errors="replace").splitlines()]
    sent += [line[3] for line in lines if len(line) > 3 and line[1] == "F" and line[3] in {"Sync", "Query"}]


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        # opening the snapshot, both legs, their parents, closing it; the pool's look at the connection comes first
        pytest.param({}, 4, id="everything"),
        pytest.param({"collections": ["default"]}, 4, id="a collection"),
        pytest.param({"filters": DocumentFilter(metadata={"year": 2024})}, 5, id="a filter is resolved to documents"),
    ],
)
async def test_a_search_waits_for_the_database_a_few_times(
    library: Library, database: str, tmp_path: Path, asked: dict[str, Any], waits: int
) -> None:
    await library.put("a.md", "保修期为三年。", metadata={"year": 2024})
    # of its own, since the worker talks to the database as well
    engine = create_engine(database, DatabaseSettings(pool_size=1), SearchSettings())
    parts = replace(library.services.for_search, engine=engine)
    request = SearchRequest("保修期", 5, 50, 70, 30, 60, **asked)
    try:
        for _ in range(_OFTEN):
            await search(parts, request)
        with _messages(engine, tmp_path / "trace") as sent:
            result = await search(parts, request)
    finally:
        await engine.dispose()
    assert [passage.source for passage in result.passages] == ["a.md"]
    assert len(sent) == waits, sent
