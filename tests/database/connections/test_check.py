"""The check at start: schema and embedding model have to fit this code and its settings."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from service.config import EmbedSettings, Settings
from service.db.engine import create_engine
from service.db.migrate import check, upgrade
from service.errors import ModelMismatch, NotMigrated

_SETTINGS = Settings(_env_file=None)


async def _connection(dsn: str) -> AsyncIterator[AsyncConnection]:
    engine = create_engine(dsn, _SETTINGS.database, _SETTINGS.search)
    async with engine.connect() as connection:
        yield connection
    await engine.dispose()


async def _check(dsn: str, embed: EmbedSettings = _SETTINGS.embed) -> None:
    async for connection in _connection(dsn):
        await check(connection, embed)


async def test_a_migrated_database_passes(database: str) -> None:
    await _check(database)


async def test_an_empty_database_is_not_migrated(empty_database: str) -> None:
    with pytest.raises(NotMigrated, match="fuzi migrate"):
        await _check(empty_database)


async def test_an_older_schema_is_named(empty_database: str) -> None:
    upgrade(empty_database, _SETTINGS, "0001")
    with pytest.raises(NotMigrated, match=r"at revision 0001, .*`fuzi migrate`"):
        await _check(empty_database)


async def test_a_newer_schema_is_not_to_be_migrated(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("update rag.alembic_version set version_num = '9999'")
        connection.execute("comment on table rag.alembic_version is null")  # it serves no older code
    with pytest.raises(NotMigrated, match=r"9999.*newer version"):
        await _check(database)


@pytest.mark.parametrize(
    "embed",
    [
        EmbedSettings(provider="openai", model="text-embedding-3-large", dimension=1024),
        EmbedSettings(provider="openai"),
        EmbedSettings(model="other"),
        EmbedSettings(dimension=256),
    ],
    ids=["all differs", "provider", "model", "dimension"],
)
async def test_another_model_is_refused_with_the_command_that_embeds_anew(database: str, embed: EmbedSettings) -> None:
    with pytest.raises(ModelMismatch) as caught:
        await _check(database, embed)
    message = caught.value.message
    assert "local multilingual-e5-small (384 dimensions)" in message
    assert f"{embed.provider} {embed.model} ({embed.dimension} dimensions)" in message
    assert f"fuzi reembed --provider {embed.provider} --model {embed.model}" in message
    assert caught.value.details["settings"] == {
        "provider": embed.provider,
        "name": embed.model,
        "dimension": embed.dimension,
    }


async def test_a_database_without_an_active_model_is_refused(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("update rag.embedding_model set active = false")
    with pytest.raises(NotMigrated, match="no active embedding model"):
        await _check(database)
