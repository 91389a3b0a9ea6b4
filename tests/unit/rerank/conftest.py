"""A scripted rerank server for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.rerank_server import RerankServer


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer({"甲": 0.4, "乙": 0.05, "丙": 0.91}) as running:
        yield running
