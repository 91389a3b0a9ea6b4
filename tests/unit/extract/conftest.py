"""Extractors and documents shared by the tests of this room."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from service.config import ExtractSettings
from service.extract import Extractor, create_extractor
from tests.fakes.tika_server import FakeTikaServer, running_tika_server


@pytest.fixture(scope="session")
def tika_server() -> Iterator[FakeTikaServer]:
    """A Tika server on loopback that reads files for real."""
    with running_tika_server() as fake:
        yield fake


@pytest.fixture(scope="session")
async def native() -> AsyncIterator[Extractor]:
    """Native extractor without OCR, so that a machine with Tesseract gives the same answers as one without."""
    made = create_extractor(ExtractSettings(ocr=False, workers=1))
    yield made
    await made.close()


@pytest.fixture(scope="session", params=["native", "server"])
async def extractor(request: pytest.FixtureRequest) -> AsyncIterator[Extractor]:
    """Both adapters in turn."""
    url = request.getfixturevalue("tika_server").url if request.param == "server" else None
    made = create_extractor(ExtractSettings(adapter=request.param, tika_url=url, ocr=False, workers=1))
    yield made
    await made.close()
