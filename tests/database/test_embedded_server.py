"""What a running embedded server is like."""

from __future__ import annotations

import stat
from pathlib import Path

import psycopg
import pytest

from service.db.embedded import EmbeddedAddress
from tests.database.embedded_homes import query


def test_both_urls_lead_to_the_database_and_its_role(server: EmbeddedAddress) -> None:
    for dsn in (server.dsn, server.socket_dsn):
        assert query(dsn, "select current_database() || '/' || current_user") == "fuzi/fuzi"
    assert server.password not in repr(server)


def test_password_is_needed_on_both_ways(server: EmbeddedAddress) -> None:
    for dsn in (server.dsn, server.socket_dsn):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(dsn.replace(server.password, "wrong"))


def test_database_is_utf8_and_sorts_the_same_everywhere(server: EmbeddedAddress) -> None:
    row = "select concat_ws(' ', pg_encoding_to_char(encoding), datlocprovider, datlocale)"
    assert query(server.dsn, f"{row} from pg_database where datname = 'fuzi'") == "UTF8 b C.UTF-8"
    order = "select string_agg(x, '' order by x) from unnest(array['父', 'b', 'Ä', 'a', '子']) x"
    assert query(server.dsn, order) == "abÄ子父"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_parallel_workers_per_gather", "0"),
        ("jit", "off"),
        ("listen_addresses", "127.0.0.1"),
        ("data_checksums", "on"),
        ("shared_buffers", "256MB"),  # an option of the fixture wins over the default by machine size
    ],
)
def test_settings_in_force(server: EmbeddedAddress, setting: str, value: str) -> None:
    assert query(server.dsn, f"show {setting}") == value


def test_folders_and_password_are_private(server: EmbeddedAddress) -> None:
    folder = Path(query(server.dsn, "show data_directory")).parent
    modes = {path: stat.S_IMODE((folder / path).stat().st_mode) for path in ("data", "run", "log", "password")}
    assert modes == {"data": 0o700, "run": 0o700, "log": 0o700, "password": 0o600}
