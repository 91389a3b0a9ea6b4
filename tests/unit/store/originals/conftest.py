"""Two stores, one contract: a folder, and a bucket of a real S3-speaking server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from service.config import OriginalsSettings
from service.store.originals import Originals, open_originals
from tests.fakes.s3.server import S3Proxy, S3Server

type OpenBucket = Callable[..., Originals]


def opened(settings: OriginalsSettings, home: Path) -> Originals:
    return open_originals(settings, home, lambda: datetime.now(UTC), uuid4)


@pytest.fixture
def open_bucket(s3_server: S3Server, s3_proxy: S3Proxy, bucket: str, tmp_path: Path) -> OpenBucket:
    """Open the new bucket through the proxy, with any setting changed."""

    def open_it(**changes: Any) -> Originals:
        patient = {"connect_timeout_seconds": 2, "timeout_seconds": 5, "retries": 3, "retry_seconds": 20}
        settings = s3_server.settings(f"s3://{bucket}/一部/originals", s3_proxy.address, **patient | changes)
        return opened(settings, tmp_path)

    return open_it


@pytest.fixture(params=["folder", "file url", "s3"])
def originals(request: pytest.FixtureRequest, tmp_path: Path) -> Originals:
    if request.param == "s3":
        open_it: OpenBucket = request.getfixturevalue("open_bucket")
        return open_it()
    url = None if request.param == "folder" else f"file://{tmp_path}/%E5%8E%9F%20%E4%BB%B6"
    return opened(OriginalsSettings(url=url), tmp_path)
