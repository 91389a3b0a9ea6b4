"""A running Fuzi server from Python: every method is one request, every failure one of our own errors."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import quote
from uuid import UUID

import httpx

from service.client.answering import AnswerEvent, answer_events, error_in
from service.client.answers import DocumentJson, DocumentListJson, OutcomeJson, SearchJson, UploadJson
from service.errors import FuziError, InvalidInput, Unavailable

_CONNECT_SECONDS = 5.0
_DOWNLOAD_ATTEMPTS = 4


class ServerError(FuziError):
    """The server answered with an error that is not in our shape; ``details`` has its HTTP ``status``."""


class FuziClient:
    """Synchronous client; use it as a context manager, or call `close`.

    Every method raises the `FuziError` that the server reports, and `Unavailable` when no server answers.

    Args:
        base_url: such as ``http://127.0.0.1:8000``.
        api_key: sent as a bearer token; by default what the variable ``FUZI_API_KEY`` has.
        timeout_seconds: limit for each wait on the server; an upload waits until its document is searchable.
        transport: how requests travel, for tests.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout_seconds: float = 600,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        key = (os.environ.get("FUZI_API_KEY", "") if api_key is None else api_key).strip()
        if not key.isascii() or not key.isprintable():
            raise InvalidInput("the API key has characters that no key has")
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._base_url = base_url.rstrip("/")
        timeout = httpx.Timeout(timeout_seconds, connect=_CONNECT_SECONDS)
        try:
            self._http = httpx.Client(base_url=self._base_url, headers=headers, timeout=timeout, transport=transport)
        except httpx.InvalidURL as error:
            raise InvalidInput(f"{base_url!r} is no URL such as http://127.0.0.1:8000") from error

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections; the client cannot be used afterwards."""
        self._http.close()

    def ingest(
        self,
        path: Path,
        *,
        source: str | None = None,
        collection: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> UploadJson:
        """Upload a file, streamed from disk, and wait until it is searchable; what is left out is the server's default.

        Raises:
            OSError: the file cannot be read here.
        """
        fields = {
            "source": source,
            "collection": collection,
            "title": title,
            "metadata": None if metadata is None else _json_of(metadata),
        }
        given = {name: value for name, value in fields.items() if value is not None}
        with path.open("rb") as file:
            files = {"file": (path.name, file)}
            answer = self._json("POST", "/v1/documents", params={"wait": "true"}, data=given, files=files)
        return cast(UploadJson, answer)

    def search(self, query: str, **options: Any) -> SearchJson:
        """Search; ``options`` are the other fields of ``POST /v1/search`` (``top_n``, ``filters``, …)."""
        return cast(SearchJson, self._json("POST", "/v1/search", json={"query": query, **options}))

    def search_batch(self, queries: Sequence[str | Mapping[str, Any]], **defaults: Any) -> list[OutcomeJson]:
        """Search for texts, or objects with the fields of a search; ``defaults`` are such fields for all of them."""
        answer = self._json("POST", "/v1/search/batch", json={"queries": list(queries), "defaults": defaults})
        return cast(list[OutcomeJson], answer["outcomes"])

    def answer(self, question: str, **options: Any) -> Iterator[AnswerEvent]:
        """Yield an answer while it is written; ``options`` are the other fields of ``POST /v1/answer``.

        The last event is ``complete``; whatever else ends an answer is raised. A connection that breaks is taken up
        where it was, as long as the server holds the answer.
        """
        body = {"question": question, **options, "stream": True}
        return answer_events(self._http, self._failures, _error, body)

    def documents(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        collection: str | None = None,
        status: str | None = None,
        source: str | None = None,
    ) -> DocumentListJson:
        """Return one page of documents; ``source`` is a part of their sources."""
        asked = {"limit": limit, "offset": offset, "collection": collection, "status": status, "source": source}
        given = {name: value for name, value in asked.items() if value is not None}
        return cast(DocumentListJson, self._json("GET", "/v1/documents", params=given))

    def document(self, document_id: UUID | str) -> DocumentJson:
        """Return one document without its text."""
        return cast(DocumentJson, self._json("GET", _path(document_id)))

    def text(self, document_id: UUID | str) -> dict[str, Any]:
        """Return the extracted text with its structure."""
        return self._json("GET", _path(document_id, "/text"))

    def chunks(self, document_id: UUID | str) -> dict[str, Any]:
        """Return ``parents`` and ``children`` by ordinal."""
        return self._json("GET", _path(document_id, "/chunks"))

    def passage(self, chunk_id: UUID | str, *, before: int = 0, after: int = 0) -> dict[str, Any]:
        """Return the passage of this id (or with the child chunk of this id) and so many neighbours, as one text."""
        return self._json("GET", f"/v1/passages/{_uuid(chunk_id)}", params={"before": before, "after": after})

    def save_original(self, document_id: UUID | str, target: Path) -> None:
        """Write the original file to ``target``, streamed; a connection that breaks goes on where it was.

        Until all of it is there and has the right hash, it is ``<sha256>.part`` beside the target: called again after
        a failure, this goes on with that file.

        Raises:
            OSError: the target cannot be written.
        """
        for attempt in range(1, _DOWNLOAD_ATTEMPTS + 1):
            try:
                return self._download(document_id, target)
            except Unavailable:
                if attempt == _DOWNLOAD_ATTEMPTS:
                    raise
        return None

    def _download(self, document_id: UUID | str, target: Path) -> None:
        sha256 = self.document(document_id)["sha256"]
        etag, part = f'"{sha256}"', target.with_name(f"{sha256}.part")
        there = part.stat().st_size if part.exists() else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={there}-", "If-Range": etag} if there else {})
        with self._failures(), self._http.stream("GET", _path(document_id, "/original"), headers=headers) as response:
            if response.is_error and response.status_code != httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                response.read()
                raise _error(response)
            if response.is_success:  # else all of it was there already
                with part.open("ab" if response.status_code == httpx.codes.PARTIAL_CONTENT else "wb") as file:
                    for piece in response.iter_raw():
                        file.write(piece)
        with part.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                part.unlink()
                raise Unavailable("what arrived is not the original: it was replaced or damaged on the way")
        part.replace(target)

    def delete(self, document_id: UUID | str) -> None:
        """Delete a document with its chunks and its original."""
        self._request("DELETE", _path(document_id))

    def jobs(self, **query: Any) -> dict[str, Any]:
        """Return one page of jobs; ``query`` has the parameters of ``GET /v1/jobs``."""
        params = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in query.items()}
        return self._json("GET", "/v1/jobs", params=params)

    def change_job(self, job_id: UUID | str, action: str) -> dict[str, Any]:
        """``cancel`` or ``retry`` a job and return it."""
        return self._json("POST", f"/v1/jobs/{_uuid(job_id)}/{action}")

    def collections(self) -> dict[str, Any]:
        """Return all ``collections`` by name."""
        return self._json("GET", "/v1/collections")

    def collection(self, name: str) -> dict[str, Any]:
        """Return one collection with its settings."""
        return self._json("GET", _collection_path(name))

    def put_collection(self, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Replace all settings of a collection, which is made when it is new, and return it."""
        return self._json("PUT", _collection_path(name), json={"settings": dict(settings)})

    def resplit(self, name: str, limit: int = 200) -> dict[str, Any]:
        """Queue documents that were cut with other settings; return `queued_count` and `left_count`."""
        return self._json("POST", f"{_collection_path(name)}/resplit", params={"limit": limit})

    def ready(self) -> dict[str, Any]:
        """Return ``status`` (``ready``, ``degraded`` or ``not_ready``) and ``reasons``; none is an error."""
        with self._failures():
            response = self._http.get("/readyz")
        if response.status_code not in {200, 503}:
            raise _error(response)
        return self._parsed(response)

    def _json(self, method: str, path: str, **parts: Any) -> dict[str, Any]:
        return self._parsed(self._request(method, path, **parts))

    def _request(self, method: str, path: str, **parts: Any) -> httpx.Response:
        with self._failures():
            response = self._http.request(method, path, **parts)
        if not response.is_success:
            raise _error(response)
        return response

    def _parsed(self, response: httpx.Response) -> dict[str, Any]:
        try:
            value = response.json()
        except ValueError as error:
            raise Unavailable(f"{self._base_url} answers, but not as a Fuzi server does") from error
        if not isinstance(value, dict):
            raise Unavailable(f"{self._base_url} answers, but not as a Fuzi server does")
        return value

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException as error:
            raise Unavailable(f"the server {self._base_url} did not answer in time") from error
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise Unavailable(f"the server {self._base_url} cannot be reached: {error}") from error
        except (TypeError, ValueError) as error:  # NaN, half of a surrogate pair, an object that JSON does not know
            raise InvalidInput(f"the request cannot be written: {error}") from error


def _path(document_id: UUID | str, part: str = "") -> str:
    return f"/v1/documents/{_uuid(document_id)}{part}"


def _collection_path(name: str) -> str:
    if name in {"", ".", ".."} or "/" in name:  # steps of a path, which lead elsewhere
        raise InvalidInput(f"{name!r} is no name of a collection")
    try:
        return f"/v1/collections/{quote(name, safe='')}"
    except UnicodeEncodeError:
        raise InvalidInput("the name of a collection holds half of a surrogate pair") from None


def _uuid(given: UUID | str) -> UUID:
    try:
        return UUID(str(given))
    except ValueError as error:
        raise InvalidInput(f"{given!r} is no id of a document or a job") from error


def _json_of(metadata: Mapping[str, Any]) -> str:
    try:
        return json.dumps(metadata, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"metadata cannot be written as JSON: {error}") from error


def _error(response: httpx.Response) -> FuziError:
    """The error that the server reports, as the class that has its code."""
    try:
        known = error_in(response.json())
    except ValueError:
        known = None
    if known is not None:
        return known
    kind = Unavailable if response.status_code in {502, 503, 504} else ServerError
    return kind(f"the server answered with status {response.status_code}", status=response.status_code)
