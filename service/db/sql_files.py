"""Where the migrations and the SQL files are, and how a SQL file is run.

Both folders lie at the root of a checkout; a wheel carries them below ``service/_shipped``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import psycopg
from sqlalchemy import Connection

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped_folder(name: Literal["migrations", "sql"]) -> Path:
    """Folder of the given name, in a wheel or in a checkout."""
    in_wheel = _PACKAGE / "_shipped" / name
    return in_wheel if in_wheel.is_dir() else _PACKAGE.parent / name


def run_sql_file(connection: Connection, name: str) -> None:
    """Run all statements of ``sql/<name>`` in the connection's transaction, word for word."""
    driver: psycopg.Connection = connection.connection.driver_connection  # type: ignore[assignment]
    # straight to the driver: no parameters, so no character of the file has a second meaning
    driver.execute((shipped_folder("sql") / name).read_bytes())
