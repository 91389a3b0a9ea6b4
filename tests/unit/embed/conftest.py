"""A scripted embedding server for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.embedding_server import EmbeddingServer


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimension=3) as running:
        yield running
