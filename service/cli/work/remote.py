"""A running server, called through its client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from uuid import UUID

from service.cli.work.backend import Answer, JobAction
from service.client import FuziClient
from service.types import IngestRequest


class RemoteBackend:
    """See `Backend`; the caller owns the client."""

    def __init__(self, client: FuziClient) -> None:
        self._client = client

    async def ingest(self, request: IngestRequest, embedded: Callable[[int, int], None]) -> Answer:
        """See `Backend`; the server does not tell how far it is, so ``embedded`` hears nothing."""
        upload = partial(self._client.ingest, request.path, source=request.source, collection=request.collection)
        return dict(await _apart(partial(upload, metadata=request.metadata)))

    async def search(self, body: Answer) -> Answer:
        """See `Backend`."""
        return dict(await _apart(partial(self._client.search, **body)))

    async def answer(self, body: Answer, heard: Callable[[str, Answer], None]) -> Answer:
        """See `Backend`."""

        def read() -> Answer:
            whole: Answer = {}
            texts = []
            for event in self._client.answer(**body):
                heard(event.name, event.data)
                if event.name == "content":
                    texts.append(event.data["text"])
                else:
                    whole |= event.data
            return {**whole, "text": "".join(texts)}

        return await _apart(read)

    async def documents(self, query: Answer) -> Answer:
        """See `Backend`."""
        return dict(await _apart(partial(self._client.documents, **query)))

    async def document(self, document_id: UUID) -> Answer:
        """See `Backend`."""
        return dict(await _apart(partial(self._client.document, document_id)))

    async def passage(self, chunk_id: UUID, before: int, after: int) -> Answer:
        """Read a passage with its neighbours (`AroundAnswer`), as an agent does."""
        return await _apart(partial(self._client.passage, chunk_id, before=before, after=after))

    async def delete(self, document_id: UUID) -> None:
        """See `Backend`."""
        await _apart(partial(self._client.delete, document_id))

    async def save_original(self, document_id: UUID, target: Path) -> None:
        """See `Backend`."""
        await _apart(partial(self._client.save_original, document_id, target))

    async def jobs(self, query: Answer) -> Answer:
        """See `Backend`."""
        return await _apart(partial(self._client.jobs, **query))

    async def change_job(self, job_id: UUID, action: JobAction) -> Answer:
        """See `Backend`."""
        return await _apart(partial(self._client.change_job, job_id, action))

    async def collections(self) -> Answer:
        """See `Backend`."""
        return await _apart(self._client.collections)

    async def collection(self, name: str) -> Answer:
        """See `Backend`."""
        return await _apart(partial(self._client.collection, name))

    async def put_collection(self, name: str, settings: Answer) -> Answer:
        """See `Backend`."""
        return await _apart(partial(self._client.put_collection, name, settings))

    async def resplit(self, name: str, limit: int) -> Answer:
        """See `Backend`."""
        return await _apart(partial(self._client.resplit, name, limit))


@asynccontextmanager
async def open_remote(url: str) -> AsyncIterator[RemoteBackend]:
    """Open a client for ``url``; the first call finds out whether a server is there."""
    with FuziClient(url) as client:
        yield RemoteBackend(client)


async def _apart[Value](call: Callable[[], Value]) -> Value:
    """Run a blocking call in a thread that Ctrl-C leaves behind: an answer may take minutes."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Value] = loop.create_future()

    def settle(settling: Callable[[], None]) -> None:
        if not answer.cancelled():
            settling()

    def work() -> None:
        try:
            settling = partial(answer.set_result, call())
        except Exception as error:
            settling = partial(answer.set_exception, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, settling)

    threading.Thread(target=work, daemon=True).start()
    return await answer
