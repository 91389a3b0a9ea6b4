"""Readers and extractors shared by the tests of this room."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.config import ExtractSettings
from service.extract import Extractor, create_extractor


@pytest.fixture(scope="package")
async def extractor() -> AsyncIterator[Extractor]:
    """Native extractor without OCR, so that a machine with Tesseract gives the same answers as one without."""
    native = create_extractor(ExtractSettings(ocr=False, workers=1))
    yield native
    await native.close()
