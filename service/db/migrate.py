"""Bring the schema to a revision, and check at start that it fits this code and these settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.pool import NullPool

from service.config import EmbedSettings, Settings
from service.db.engine import database_errors, driver_url
from service.db.models import SCHEMA
from service.db.spaces import active_space
from service.db.sql_files import shipped_folder
from service.errors import ModelMismatch, NotMigrated

_LOCK = 0x66757A69  # "fuzi": any number will do, as long as all migrations take the same


def upgrade(dsn: str, settings: Settings, revision: str = "head") -> None:
    """Migrate upwards in one transaction; several processes may do so at once, one works and the others wait.

    Raises:
        Misconfigured: an extension is missing, nothing was changed.
        DatabaseUnavailable: the server does not answer.
    """
    with migration_connection(dsn) as connection:
        command.upgrade(_config(connection, settings), revision)


def downgrade(dsn: str, settings: Settings, revision: str) -> None:
    """Migrate downwards in one transaction; ``base`` drops all tables with what is in them."""
    with migration_connection(dsn) as connection:
        command.downgrade(_config(connection, settings), revision)


@contextmanager
def migration_connection(dsn: str) -> Iterator[Connection]:
    """Connection in a transaction that holds the migration lock; commits at the end."""
    engine = create_engine(driver_url(dsn), poolclass=NullPool)
    try:
        with database_errors(), engine.begin() as connection:
            connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            yield connection
    finally:
        engine.dispose()


async def check(connection: AsyncConnection, embed: EmbedSettings) -> None:
    """Refuse a database that this code or these settings do not fit.

    Raises:
        NotMigrated: the schema is missing or at another revision.
        ModelMismatch: the stored vectors come from another embedding model than ``embed`` names.
    """
    await check_revision(connection)
    space = await active_space(connection)
    model = space.model
    if (model.provider, model.name, model.dimension) != (embed.provider, embed.model, embed.dimension):
        back = f"FUZI_EMBED__PROVIDER={model.provider} FUZI_EMBED__MODEL={model.name} "
        back += f"FUZI_EMBED__DIMENSION={model.dimension}"
        if space.base_url is not None:
            back += f" FUZI_EMBED__BASE_URL={space.base_url}"
        raise ModelMismatch(
            f"the vectors in the database come from {space.title}, but the settings name "
            f"{embed.provider} {embed.model} ({embed.dimension} dimensions). Either let the settings name the model "
            f"of the database: {back}; or change the database to the model of the settings, while it is in use: "
            f"`fuzi reembed --provider {embed.provider} --model {embed.model}`",
            database={"provider": model.provider, "name": model.name, "dimension": model.dimension},
            settings={"provider": embed.provider, "name": embed.model, "dimension": embed.dimension},
        )


async def check_revision(connection: AsyncConnection) -> None:
    """Refuse a database that this code does not fit.

    Raises:
        NotMigrated: the schema is missing or at another revision.
    """
    known = ScriptDirectory.from_config(_config(None, None))
    wanted = known.get_current_head()
    present = (await connection.execute(text("select to_regclass('rag.alembic_version') is not null"))).scalar_one()
    revision = (
        (await connection.execute(text("select version_num from rag.alembic_version"))).scalar_one_or_none()
        if present
        else None
    )
    if revision == wanted:
        return
    if revision is None:
        raise NotMigrated(f"the database has no schema {SCHEMA} yet; run `fuzi migrate`")
    if revision not in {script.revision for script in known.walk_revisions()}:
        raise NotMigrated(
            f"the database schema is at revision {revision}, which this version does not know (it ends at {wanted}); "
            "run the newer version of Fuzi"
        )
    raise NotMigrated(f"the database schema is at revision {revision}, this version needs {wanted}; run `fuzi migrate`")


def _config(connection: Connection | None, settings: Settings | None) -> Config:
    config = Config(attributes={"connection": connection, "settings": settings})
    config.set_main_option("script_location", str(shipped_folder("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
