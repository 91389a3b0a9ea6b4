"""What the tests of the embedded server share: quick settings, one query, a start in another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg

QUICK = {"fsync": "off", "shared_buffers": "32MB"}
REPOSITORY = Path(__file__).parents[2]

_START = """
import sys
from pathlib import Path
from service.db.embedded import EmbeddedServer
from tests.database.embedded_homes import QUICK
print(EmbeddedServer(Path(sys.argv[1]), options=QUICK).start().dsn, flush=True)
"""


def query(dsn: str, statement: str) -> Any:
    """First column of the first row, or ``None`` when there are no rows."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


def start_elsewhere(home: Path, then: str = "", environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start the server of ``home`` from a new process in a new session, which prints the URL and then runs ``then``."""
    path = os.pathsep.join([(environment or {}).get("PYTHONPATH", ""), str(REPOSITORY)]).strip(os.pathsep)
    return subprocess.Popen(
        [sys.executable, "-c", f"{_START}\n{then}", str(home)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | dict(environment or {}) | {"PYTHONPATH": path},
    )
