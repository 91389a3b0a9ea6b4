"""The clients: writers that upload, replace and delete, and readers that search, all at once, over HTTP."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

import httpx

from tests.torture.clients.contents import Author, Content
from tests.torture.clients.ledger import Ledger, Operation, Source

_LONGEST_ANSWER_SECONDS = 30
_AFTER_NO_ANSWER_SECONDS = 0.1


class Client:
    """Requests to the service, written down in the ledger."""

    def __init__(self, http: httpx.AsyncClient, ledger: Ledger) -> None:
        self._http = http
        self.ledger = ledger

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """The answer, or None when there was none: the service is gone, or was killed meanwhile."""
        try:
            answer = await self._http.request(method, path, timeout=_LONGEST_ANSWER_SECONDS, **more)
        except httpx.TimeoutException:
            self.ledger.fault(f"{method} {path}: no answer within {_LONGEST_ANSWER_SECONDS} s")
            return None
        except httpx.TransportError:
            self.ledger.count("requests without an answer")
            await asyncio.sleep(_AFTER_NO_ANSWER_SECONDS)
            return None
        if answer.status_code >= 500 and answer.status_code != 503:
            self.ledger.fault(f"{method} {path}: HTTP {answer.status_code} {answer.text[:500]}")
        return answer

    async def upload(self, source: Source, content: Content, *, wait: bool = False) -> None:
        """Upload a content under the name of a source."""
        name = source.name.rsplit("/", 1)[-1] + f".{content.extension}"
        with source.operation(content) as operation:
            answer = await self.ask(
                "POST",
                "/v1/documents",
                params={"wait": "true"} if wait else {},
                data={"source": source.name},
                files={"file": (name, content.data)},
            )
            self._judge_upload(operation, answer)
            self.ledger.note(operation.describe() + _status(answer))

    def _judge_upload(self, operation: Operation, answer: httpx.Response | None) -> None:
        if answer is None:
            return
        if answer.status_code in {200, 201, 202}:
            operation.verdict = "done"
            operation.unchanged = answer.status_code == 200
            self.ledger.count("uploads acknowledged")
        elif _code(answer) in {"originals_unavailable", "unavailable"}:
            operation.verdict = "refused"
            self.ledger.count("uploads refused because the disk was full")
        elif answer.status_code < 500 and _code(answer) != "job_cancelled":
            self.ledger.fault(f"{operation.describe()}: HTTP {answer.status_code} {answer.text[:500]}")

    async def delete(self, source: Source) -> None:
        """Delete the document of a source, if it is there."""
        document_id = await self._find(source)
        if document_id is None:
            return
        with source.operation(None) as operation:
            answer = await self.ask("DELETE", f"/v1/documents/{document_id}")
            if answer is not None and answer.status_code == 204:
                operation.verdict = "done"
                self.ledger.deleted.add(document_id)
                self.ledger.count("deletions acknowledged")
            elif answer is not None and answer.status_code == 404:
                operation.verdict = "refused"  # somebody else was faster, or the one before was done after all
            self.ledger.note(f"{operation.describe()}{_status(answer)} {document_id}")

    async def _find(self, source: Source) -> UUID | None:
        answer = await self.ask("GET", "/v1/documents", params={"source": source.name, "limit": 200})
        if answer is None or answer.status_code != 200:
            return None
        found = [one for one in answer.json()["documents"] if one["source"] == source.name]
        return UUID(found[0]["document_id"]) if found else None

    async def search(self, query: str, *, vector: float = 70, fts: float = 30) -> list[dict[str, Any]] | None:
        """Passages for a query, checked against what may be shown now; None when nobody answered."""
        gone = frozenset(self.ledger.deleted)
        body = {"query": query, "vector_weight": vector, "fts_weight": fts, "top_n": 10}
        answer = await self.ask("POST", "/v1/search", json=body)
        if answer is None or answer.status_code == 503:
            return None
        if answer.status_code != 200:
            self.ledger.fault(f"search: HTTP {answer.status_code} {answer.text[:500]}")
            return None
        self.ledger.count("searches answered")
        passages: list[dict[str, Any]] = answer.json()["passages"]
        for passage in passages:
            if UUID(passage["document_id"]) in gone:
                self.ledger.fault(f"a search shows the deleted document {passage['document_id']} ({passage['source']})")
        return passages


def check_versions(ledger: Ledger, author: Author, passages: Sequence[dict[str, Any]]) -> None:
    """All passages of one document come from one version, and from one that may be visible."""
    versions: dict[str, set[int]] = {}
    for passage in passages:
        source = ledger.sources[passage["source"]]
        start, end, content = passage["start"], passage["end"], passage["content"]
        fitting = {key for key in source.visible if author.written[key].text[start:end] == content}
        left = versions.setdefault(passage["document_id"], set(source.visible))
        left &= fitting
        if not left:
            ledger.fault(
                f"a search shows {source.name} at {start}:{end} in no version, or a mixture of them; "
                f"visible may be {sorted(source.visible)}: {content[:80]!r}"
            )
            return


def _code(answer: httpx.Response) -> str | None:
    with suppress(ValueError, KeyError):
        return str(answer.json()["error"]["code"])
    return None


def _status(answer: httpx.Response | None) -> str:
    if answer is None:
        return " (no answer)"
    return f" ({answer.status_code}{' ' + str(_code(answer)) if answer.status_code >= 400 else ''})"


class Writer:
    """Uploads, replaces and deletes at random, one request after the other, in sources of its choice."""

    def __init__(self, client: Client, author: Author, sources: Sequence[Source], dice: random.Random) -> None:
        self._client, self._author, self._sources, self._dice = client, author, sources, dice

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            await self._act(self._dice.choice(self._sources))
            await asyncio.sleep(self._dice.uniform(0, 0.08))

    async def _act(self, source: Source) -> None:
        choice = self._dice.random()
        known = [self._author.written[key] for key in source.visible]
        good = [one for one in known if one.error_code is None]
        if choice < 0.25:
            await self._client.delete(source)
        elif choice < 0.33:
            await self._client.upload(source, self._author.bad())
        elif choice < 0.43 and (copy := self._somebody_elses()) is not None:
            await self._client.upload(source, copy)
        elif choice < 0.48 and good:
            await self._client.upload(source, self._dice.choice(good))
        elif choice < 0.75 and good:
            await self._client.upload(source, self._author.edited(self._dice.choice(good)))
        else:
            await self._client.upload(source, self._author.new(), wait=self._dice.random() < 0.1)

    def _somebody_elses(self) -> Content | None:
        """The text of another source of ours, to be kept twice."""
        keys = sorted(self._dice.choice(self._sources).visible)
        return self._author.written[self._dice.choice(keys)] if keys else None


class Reader:
    """Searches for phrases that are there, were there, or are on their way."""

    def __init__(self, client: Client, author: Author, dice: random.Random) -> None:
        self._client, self._author, self._dice = client, author, dice

    async def run(self, stop: asyncio.Event) -> None:
        weights = [(70.0, 30.0), (1.0, 0.0), (0.0, 1.0)]
        while not stop.is_set():
            texts = [one for one in self._author.written[-60:] if one.sentences]
            if texts:
                vector, fts = self._dice.choice(weights)
                phrase = self._dice.choice(self._dice.choice(texts).sentences)
                passages = await self._client.search(phrase, vector=vector, fts=fts)
                check_versions(self._client.ledger, self._author, passages or [])
            await asyncio.sleep(self._dice.uniform(0.01, 0.1))
