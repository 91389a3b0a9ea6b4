"""Originals in a bucket: uploads in parts that were never finished are given up, which obstore has no call for."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote

import httpx

from service.errors import OriginalsUnavailable
from service.store.originals.signature import S3Credentials, signed_headers

_NAMESPACE = "{*}"
_SECONDS = 30.0
_LONGEST_UPLOAD = timedelta(hours=23)
"""The server tells when an upload was begun, not when its last part came: a slow one may be under way for long."""


@dataclass(frozen=True, slots=True)
class _Upload:
    key: str
    upload_id: str
    begun: datetime


class Bucket:
    """See `Shelf`.

    Args:
        name: of the bucket.
        address: its URL, with the bucket in the host name or as the path, without a slash at the end.
        prefix: folder within the bucket, without slashes around it.
        credentials: None leaves unfinished uploads to a rule of the bucket.
    """

    def __init__(self, name: str, address: str, prefix: str, region: str, credentials: S3Credentials | None) -> None:
        self._name = name
        self._address = address
        self._prefix = f"{prefix}/rag/" if prefix else "rag/"
        self._region = region
        self._credentials = credentials

    @property
    def name(self) -> str:
        """See `Shelf`."""
        return f"the bucket {self._name} at {self._address}"

    async def make_durable(self, key: str) -> None:
        """A server that speaks S3 answers when it has the object."""

    async def sweep_unfinished(self, before: datetime) -> int:
        """See `Shelf`."""
        if self._credentials is None:
            return 0
        given_up = 0
        async with httpx.AsyncClient(timeout=_SECONDS) as http:
            async for upload in self._unfinished(http, self._credentials):
                if upload.begun < before - _LONGEST_UPLOAD:
                    query = {"uploadId": upload.upload_id}
                    await self._call(http, self._credentials, "DELETE", f"/{quote(upload.key)}", query)
                    given_up += 1
        return given_up

    async def _unfinished(self, http: httpx.AsyncClient, credentials: S3Credentials) -> AsyncIterator[_Upload]:
        marks: dict[str, str] = {}
        while True:
            query = {"uploads": "", "prefix": self._prefix, **marks}
            page = ET.fromstring(await self._call(http, credentials, "GET", "", query))  # noqa: S314 - our own server
            for upload in page.iterfind(f"{_NAMESPACE}Upload"):
                begun = datetime.fromisoformat(_text(upload, "Initiated"))
                yield _Upload(_text(upload, "Key"), _text(upload, "UploadId"), begun)
            if _text(page, "IsTruncated") != "true":
                return
            marks = {"key-marker": _text(page, "NextKeyMarker"), "upload-id-marker": _text(page, "NextUploadIdMarker")}

    async def _call(
        self, http: httpx.AsyncClient, credentials: S3Credentials, method: str, path: str, query: Mapping[str, str]
    ) -> bytes:
        pairs = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in sorted(query.items()))
        url = httpx.URL(f"{self._address}{path}?{pairs}")
        try:
            response = await http.request(method, url, headers=signed_headers(method, url, self._region, credentials))
        except httpx.HTTPError as error:
            raise OriginalsUnavailable(f"{self.name} does not answer: {error}") from error
        # 404: finished or given up by somebody else meanwhile
        if not response.is_success and not (method == "DELETE" and response.status_code == 404):
            raise OriginalsUnavailable(f"{self.name} answers {response.status_code}: {response.text[:300]}")
        return response.content


def _text(element: ET.Element, name: str) -> str:
    return element.findtext(f"{_NAMESPACE}{name}") or ""
