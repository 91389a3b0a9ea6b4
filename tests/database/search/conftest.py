"""A fresh database with a searching connection."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.database.chunk_rows import Connection, search_connection


@pytest.fixture
def connection(database: str) -> Iterator[Connection]:
    """Autocommit connection to a fresh database, with the session settings of the service."""
    with search_connection(database) as opened:
        yield opened
