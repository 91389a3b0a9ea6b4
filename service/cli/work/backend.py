"""The flows as the commands see them: here on the database, or on a running server. Answers are the REST service's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal, Protocol
from uuid import UUID

from service.config import Settings
from service.types import IngestRequest

type Answer = dict[str, Any]
"""A JSON object as the REST service answers it."""
type JobAction = Literal["cancel", "retry"]


class Backend(Protocol):
    """What documents can be put into, searched in and taken out of."""

    async def ingest(self, request: IngestRequest, embedded: Callable[[int, int], None]) -> Answer:
        """Take in one file (`UploadAnswer`); ``embedded(done, total)`` hears of child chunks where they are known."""

    async def search(self, body: Answer) -> Answer:
        """Answer a search (`SearchBody` → `SearchAnswer`)."""

    async def answer(self, body: Answer, heard: Callable[[str, Answer], None]) -> Answer:
        """Answer a question (`AnswerBody` → `WholeAnswer`); ``heard(name, data)`` gets the events as they come."""

    async def documents(self, query: Answer) -> Answer:
        """List documents (`DocumentQuery` → `DocumentList`)."""

    async def document(self, document_id: UUID) -> Answer:
        """Describe one document (`DocumentAnswer`)."""

    async def delete(self, document_id: UUID) -> None:
        """Delete one document with its chunks and its original."""

    async def save_original(self, document_id: UUID, target: Path) -> None:
        """Write the original file of a document to ``target``, which appears when it is whole."""

    async def jobs(self, query: Answer) -> Answer:
        """List jobs (`JobQuery` → `JobList`)."""

    async def change_job(self, job_id: UUID, action: JobAction) -> Answer:
        """Cancel or retry one job (`JobAnswer`)."""

    async def collections(self) -> Answer:
        """List collections (`CollectionList`)."""

    async def collection(self, name: str) -> Answer:
        """Describe one collection (`CollectionAnswer`)."""

    async def put_collection(self, name: str, settings: Answer) -> Answer:
        """Replace the settings of one collection, which is made when it is new (`CollectionAnswer`)."""

    async def resplit(self, name: str, limit: int) -> Answer:
        """Queue documents of one collection that were cut with other settings (`ResplitAnswer`)."""


@asynccontextmanager
async def open_backend(settings: Settings, url: str | None, *, to_ingest: bool = False) -> AsyncIterator[Backend]:
    """Open the server at ``url``, or without one the database of the settings.

    Args:
        to_ingest: work on uploads in this process as well, beside whatever workers there are.

    Raises:
        FuziError: see `service.wiring.open_services`; for a server errors come with the first call.
    """
    if url is not None:
        from service.cli.work.remote import open_remote

        async with open_remote(url) as remote:
            yield remote
        return
    from service.cli.work.direct import DirectBackend
    from service.db.engine import database_errors
    from service.wiring import open_services
    from service.worker import working

    async with AsyncExitStack() as stack:
        stack.enter_context(database_errors())
        services = await stack.enter_async_context(open_services(settings))
        if to_ingest:
            await stack.enter_async_context(working(services))
        yield DirectBackend(services)


async def find_by_source(backend: Backend, source: str, collection: str | None) -> list[Answer]:
    """Documents with exactly this source; at most one a collection."""
    found: list[Answer] = []
    query: Answer = {"source": source, "limit": 200, "offset": 0}
    if collection is not None:
        query["collection"] = collection
    while True:
        page = await backend.documents(query)
        found += [document for document in page["documents"] if document["source"] == source]
        query["offset"] += query["limit"]
        if query["offset"] >= page["total"]:
            return found
