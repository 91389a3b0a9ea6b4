"""A Tika server by URL, through the ``tika`` package as a client only. Used inside a parser process.

``TIKA_CLIENT_ONLY`` and ``TIKA_LOG_FILE`` are set before this process starts: nothing is downloaded, no server is
started, no log file is written.
"""

from __future__ import annotations

import json
import re
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests
import stamina
from tika import tika as client

from service.config import ExtractSettings
from service.errors import (
    Corrupt,
    ExtractionCrashed,
    ExtractionFailed,
    ExtractionLimit,
    ExtractionTimeout,
    ExtractorUnavailable,
    FuziError,
    Unsupported,
)
from service.extract.tika.answer import Ask, TikaAnswer
from service.extract.tika.complaints import failure_of
from service.extract.tika.native import MARKUP_FACTOR
from service.extract.tika.recursive import answer_of

_CONNECT_SECONDS = 5.0
_ATTEMPTS = 4
_FIRST_WAIT_SECONDS = 0.3
_LONGEST_WAIT_SECONDS = 5.0
_OK, _TOO_LARGE, _UNSUPPORTED, _UNPROCESSABLE = 200, 413, 415, 422
_SERVER_ERROR = 500
_PLAIN_NAME = re.compile(r"[A-Za-z0-9._ -]+")
_BUSY = frozenset({429, 502, 503, 504})


class _TryAgain(Exception):
    """The server may answer otherwise next time; ``error`` is what it means when it does not."""

    def __init__(self, error: FuziError) -> None:
        super().__init__(error.message)
        self.error = error


class ServerTika:
    """Asks a Tika server for ``/rmeta/xml``: XHTML and metadata of the file and of every embedded document."""

    name = "tika-server"

    def __init__(self, settings: ExtractSettings) -> None:
        self._url = (settings.tika_url or "").rstrip("/")
        self._longest = settings.max_characters * MARKUP_FACTOR
        self._languages = settings.ocr_languages

    @property
    def version(self) -> str:
        """Version of the client; the server is whatever stands behind the URL."""
        return version("tika")

    @property
    def can_read_images(self) -> bool:
        """Always: only the server knows whether it has Tesseract."""
        return True

    def parse(self, path: Path, ask: Ask) -> TikaAnswer:
        """See :class:`service.extract.tika.answer.Tika`."""
        deadline = time.monotonic() + ask.limit_seconds
        try:
            for attempt in stamina.retry_context(
                on=_TryAgain,
                attempts=_ATTEMPTS,
                timeout=ask.limit_seconds,
                wait_initial=_FIRST_WAIT_SECONDS,
                wait_max=_LONGEST_WAIT_SECONDS,
                wait_jitter=_FIRST_WAIT_SECONDS,
            ):
                with attempt:
                    body = self._ask(path, ask, deadline)
        except _TryAgain as error:
            raise error.error from error
        return answer_of(_documents(body))

    def _ask(self, path: Path, ask: Ask, deadline: float) -> str:
        read_seconds = max(1.0, deadline - time.monotonic())
        try:
            with path.open("rb") as file:
                status, body = client.callServer(
                    "put",
                    self._url,
                    "/rmeta/xml",
                    file,
                    self._headers(ask),
                    requestOptions={"timeout": (_CONNECT_SECONDS, read_seconds), "verify": True},
                )
        except requests.exceptions.ReadTimeout as error:
            raise ExtractionTimeout(
                f"the Tika server did not answer within {ask.limit_seconds:g} seconds",
                limit_seconds=ask.limit_seconds,
            ) from error
        except requests.exceptions.RequestException as error:
            unavailable = ExtractorUnavailable(f"the Tika server at {self._url} cannot be reached")
            raise _TryAgain(unavailable) from error
        if status != _OK:
            raise self._failure(status, body)
        return str(body)

    def _headers(self, ask: Ask) -> dict[str, str]:
        name = ask.file_name.replace("\\", "/").rpartition("/")[2]
        named = f'filename="{name}"' if _PLAIN_NAME.fullmatch(name) else f"filename*=UTF-8''{quote(name)}"
        return {
            "Accept": "application/json",
            "Content-Disposition": f"attachment; {named}",
            "writeLimit": str(self._longest),
            "X-Tika-OCRLanguage": self._languages,
            "X-Tika-OCRskipOcr": "false" if ask.ocr else "true",
            "X-Tika-PDFOcrStrategy": "ocr_only" if ask.ocr else "no_ocr",
        }

    def _failure(self, status: int, body: str) -> Exception:
        details: dict[str, Any] = {"status": status, "reason": body[:300]}
        if status in _BUSY:
            return _TryAgain(ExtractorUnavailable(f"the Tika server is busy (HTTP {status})", **details))
        if status == _TOO_LARGE:
            return ExtractionLimit("the file is too large for the Tika server", **details)
        if status == _UNSUPPORTED:
            return Unsupported("the Tika server reads no files of this type", **details)
        if status == _UNPROCESSABLE:
            return failure_of(body, otherwise=Corrupt("the file is damaged or cut off", **details))
        crashed = ExtractionCrashed(f"the Tika server failed on this file (HTTP {status}): {body[:200]}", **details)
        found: ExtractionFailed = failure_of(body, otherwise=crashed)
        is_worth_another_try = status >= _SERVER_ERROR and found is crashed
        return _TryAgain(found) if is_worth_another_try else found


def _documents(body: str) -> list[dict[str, Any]]:
    try:
        documents = json.loads(body)
    except ValueError as error:
        raise ExtractionCrashed("the Tika server answered with something that is no JSON", reason=body[:100]) from error
    if isinstance(documents, dict):
        documents = [documents]
    if not isinstance(documents, list) or not documents or not all(isinstance(one, dict) for one in documents):
        raise ExtractionCrashed("the Tika server answered with JSON of another shape", reason=body[:100])
    return documents
