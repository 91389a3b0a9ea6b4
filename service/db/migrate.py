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

CODE_OF_BEFORE_WORKS = frozenset({"0009", "0010", "0011", "0012", "0013", "0014"})
"""Revisions whose schema serves the code of the revision before as well: they only add what it need not know."""
NEEDS_ITS_OWN_CODE = frozenset({"0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008"})
"""All others: processes of before are stopped first."""
_SERVES = "serves code from revision "
_NOTE = text("""
    select obj_description(oid, 'pg_class') as note, pg_has_role(relowner, 'usage') as is_ours
    from pg_class
    where oid = to_regclass('rag.alembic_version')
""")


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


def note_oldest_code(connection: Connection) -> None:
    """Write beside the revision which code the schema serves, for code that does not know the revision yet."""
    revision = connection.scalar(text("select version_num from rag.alembic_version"))
    if revision is None:
        return
    note, present = _SERVES + oldest_code(revision), connection.execute(_NOTE).one()
    if note != present.note and present.is_ours:
        connection.execute(text(f"comment on table rag.alembic_version is '{note}'"))


def oldest_code(revision: str) -> str:
    """The oldest revision whose code works on the schema of ``revision``."""
    scripts = _scripts()
    while revision in CODE_OF_BEFORE_WORKS:
        revision = str(scripts.get_revision(revision).down_revision)
    return revision


async def check_revision(connection: AsyncConnection) -> None:
    """Refuse a database that this code does not fit. A newer schema fits when its migration noted that it does.

    Raises:
        NotMigrated: the schema is missing, older, or too new.
    """
    known = _scripts()
    wanted = str(known.get_current_head())
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
        note = str(await connection.scalar(_NOTE))
        if note.startswith(_SERVES) and note.removeprefix(_SERVES) <= wanted:
            return  # a newer version migrated, and its processes take over one by one
        raise NotMigrated(
            f"the database schema is at revision {revision}, which this version does not know (it ends at {wanted}); "
            "run the newer version of Fuzi"
        )
    raise NotMigrated(f"the database schema is at revision {revision}, this version needs {wanted}; run `fuzi migrate`")


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config(None, None))


def _config(connection: Connection | None, settings: Settings | None) -> Config:
    config = Config(attributes={"connection": connection, "settings": settings})
    config.set_main_option("script_location", str(shipped_folder("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
