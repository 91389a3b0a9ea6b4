"""Fixtures of tests that keep originals in a bucket; `tests/conftest.py` names this module as a plugin."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.fakes.s3.server import S3Proxy, S3Server


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """The S3 server of this process; started by the first test that asks."""
    with S3Server() as server:
        yield server


@pytest.fixture
def s3_proxy(s3_server: S3Server) -> Iterator[S3Proxy]:
    """A proxy before it that does what this test scripts."""
    with S3Proxy(s3_server.address) as proxy:
        yield proxy


@pytest.fixture
def bucket(s3_server: S3Server) -> str:
    """Name of a new bucket."""
    name = f"fuzi-{uuid4().hex}"
    s3_server.create_bucket(name)
    return name
