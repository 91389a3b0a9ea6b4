"""A server that does not have an extension is told from a role that may not create it."""

from __future__ import annotations

from sqlalchemy import create_engine

from service.db.engine import driver_url
from service.db.extensions import EXTENSIONS, INSTALL, is_available


def test_what_the_server_has_and_what_it_lacks(empty_database: str) -> None:
    engine = create_engine(driver_url(empty_database))
    with engine.connect() as connection:
        assert all(is_available(connection, extension) for extension in EXTENSIONS)
        assert not is_available(connection, "no_such_extension")
    engine.dispose()


def test_every_extension_has_a_word_on_how_to_install_it() -> None:
    assert INSTALL.keys() == set(EXTENSIONS)
