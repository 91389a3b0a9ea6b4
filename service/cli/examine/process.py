"""What this process may do on its machine: room for uploads, and the collector of its traces."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from rich.filesize import decimal

from service.cli.work.checks import Finding, State
from service.config import Settings

_MB = 1024 * 1024
_UPLOADS_AT_ONCE = 4
_CONNECT_SECONDS = 3.0
_PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter")
"""Below a package that FastAPI brings."""


async def check_uploads(settings: Settings) -> Iterable[Finding]:
    """Can uploads be put down while they arrive, a few of the largest at once?"""
    folder = settings.server.upload_folder or Path(tempfile.gettempdir())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        free = shutil.disk_usage(folder).free
    except OSError as error:
        mend = "make it, and let this account write there; or set FUZI_SERVER__UPLOAD_FOLDER to another"
        return [Finding("uploads", State.FAIL, f"{folder} cannot be written: {error.strerror}", mend)]
    needed = _UPLOADS_AT_ONCE * settings.limits.max_upload_mb * _MB
    told = f"{folder}: {decimal(free)} free for uploads on their way"
    if free >= needed:
        return [Finding("uploads", State.OK, told)]
    mend = "free some space, set FUZI_SERVER__UPLOAD_FOLDER to a larger disk, or lower FUZI_LIMITS__MAX_UPLOAD_MB"
    return [Finding("uploads", State.WARN, f"{told}, {_UPLOADS_AT_ONCE} of the largest need {decimal(needed)}", mend)]


async def check_tracing(settings: Settings) -> Iterable[Finding]:
    """Is there somebody who takes the traces? Nothing is sent."""
    endpoint = settings.tracing.endpoint
    if endpoint is None:
        return []
    if not all(find_spec(name) for name in _PACKAGES):
        return [Finding("tracing", State.FAIL, "OpenTelemetry is not installed", "pip install 'fuzi[otel]'")]
    parts = urlsplit(endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
        writer.close()
    except (OSError, TimeoutError) as error:
        reason = f"nobody listens at {endpoint} ({error or 'no answer'}): traces are lost, nothing else"
        return [Finding("tracing", State.WARN, reason, "start the collector, or mend FUZI_TRACING__ENDPOINT")]
    return [Finding("tracing", State.OK, f"{endpoint} listens; {settings.tracing.sample_share:.0%} of traces are sent")]
