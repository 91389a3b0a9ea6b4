"""The schema's revision: read it, and move it with a word on each step."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from alembic.util.exc import CommandError
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from service.config import Settings
from service.db.engine import database_errors, driver_url
from service.db.migrate import upgrade
from service.db.replica.primary import PUBLICATION
from service.errors import InvalidInput


def schema_revision(dsn: str) -> str | None:
    """The revision of the database, or None when it has no schema of ours.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    engine = create_engine(driver_url(dsn), poolclass=NullPool)
    with database_errors(), engine.connect() as connection:
        if not connection.execute(text("select to_regclass('rag.alembic_version') is not null")).scalar_one():
            return None
        return connection.execute(text("select version_num from rag.alembic_version")).scalar_one_or_none()


def feeds_replicas(dsn: str) -> bool:
    """Whether the database publishes its tables to replicas."""
    engine = create_engine(driver_url(dsn), poolclass=NullPool)
    published = text("select exists (select from pg_publication where pubname = :name)")
    with database_errors(), engine.connect() as connection:
        return bool(connection.execute(published, {"name": PUBLICATION}).scalar_one())


def migrate_to(dsn: str, settings: Settings, revision: str, tell: Callable[[str], None]) -> None:
    """Migrate upwards; ``tell`` hears of every step as it begins.

    Raises:
        InvalidInput: there is no such revision.
        Misconfigured, DatabaseUnavailable: see `service.db.migrate.upgrade`.
    """
    with _steps_told(tell):
        try:
            upgrade(dsn, settings, revision)
        except CommandError as error:
            raise InvalidInput(f"cannot migrate to revision {revision}: {error}") from error


@contextmanager
def _steps_told(tell: Callable[[str], None]) -> Iterator[None]:
    """Alembic tells its steps to a logger only."""
    logger = logging.getLogger("alembic.runtime.migration")
    handler = _Teller(tell)
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


class _Teller(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message.startswith(("Running upgrade", "Running downgrade")):
            self._tell(" ".join(message.replace("Running upgrade", "migrating:").split()))
