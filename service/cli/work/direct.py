"""The flows, called in this process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from uuid import UUID, uuid4

from pydantic import BaseModel, ValidationError

from service.api import collections
from service.api.answer.request import bounded_answer_body
from service.api.answer.schemas import completed_answer, found_answer, whole_answer
from service.api.documents import document_answer, documents_page
from service.api.job_schemas import JobAnswer, JobQuery
from service.api.jobs import jobs_page
from service.api.schemas import DocumentQuery, UploadAnswer
from service.api.search.answer import search_answer
from service.api.search.request import bounded_search_body
from service.cli.settings import complaint
from service.cli.work.backend import Answer, JobAction
from service.db.engine import database_errors
from service.errors import InvalidRequest, NotFound
from service.flows.answer import find, write
from service.flows.jobs import cancel, result_of, retry
from service.flows.receive import Accepted, receive
from service.flows.remove import remove
from service.queue.jobs import JobRecord
from service.search import search
from service.store.documents import get_document
from service.types import ANYONE, Completed, IngestRequest
from service.wiring import Services


class DirectBackend:
    """See `Backend`; the caller owns the services, and for `ingest` a worker (here or elsewhere) must run."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def ingest(self, request: IngestRequest, embedded: Callable[[int, int], None]) -> Answer:
        """See `Backend`."""

        def watch(job: JobRecord) -> None:
            if job.child_count is not None:
                embedded(job.done_count, job.child_count)

        with database_errors():
            result = await receive(self._services.for_receive, request)
            if isinstance(result, Accepted):
                result = await result_of(self._services.engine, result, watch)
        return UploadAnswer.model_validate(result).model_dump(mode="json")

    async def search(self, body: Answer) -> Answer:
        """See `Backend`."""
        settings = self._services.settings.search
        request = _checked(bounded_search_body(settings), body).to_request(settings)
        with database_errors():
            result = await search(self._services.for_search, request)
        return search_answer(result).model_dump(mode="json")

    async def answer(self, body: Answer, heard: Callable[[str, Answer], None]) -> Answer:
        """See `Backend`."""
        settings = self._services.settings.search
        request = _checked(bounded_answer_body(settings), body).to_request(settings)
        parts = self._services.for_answer
        with database_errors():
            found = await find(parts, request)
        first = found_answer(uuid4().hex, found)
        heard("search_results", first.model_dump(mode="json"))
        texts = list[str]()
        async with aclosing(write(parts, request, found)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Completed):
                    last = completed_answer(first.answer_id, piece)
                    break
                texts.append(piece.text)
                heard("content", {"text": piece.text})
        return whole_answer(first, "".join(texts), last).model_dump(mode="json")

    async def documents(self, query: Answer) -> Answer:
        """See `Backend`."""
        asked = _checked(DocumentQuery, query)
        with database_errors():
            answer = await documents_page(self._services.engine, asked, ANYONE)
        return answer.model_dump(mode="json")

    async def document(self, document_id: UUID) -> Answer:
        """See `Backend`."""
        with database_errors():
            async with self._services.engine.connect() as connection:
                record = await get_document(connection, document_id)
        return document_answer(record).model_dump(mode="json")

    async def delete(self, document_id: UUID) -> None:
        """See `Backend`."""
        with database_errors():
            await remove(self._services.engine, self._services.originals, document_id)

    async def save_original(self, document_id: UUID, target: Path) -> None:
        """See `Backend`."""
        with database_errors():
            async with self._services.engine.connect() as connection:
                record = await get_document(connection, document_id)
        key = record.object_key or record.pending_key
        if key is None:
            raise NotFound("this document has no original", document_id=str(document_id))
        part = target.with_name(f"{record.sha256.hex()}.part")
        part.unlink(missing_ok=True)
        await self._services.originals.fetch(key, part)
        part.replace(target)

    async def jobs(self, query: Answer) -> Answer:
        """See `Backend`."""
        asked = _checked(JobQuery, query)
        with database_errors():
            answer = await jobs_page(self._services.engine, asked, ANYONE)
        return answer.model_dump(mode="json")

    async def change_job(self, job_id: UUID, action: JobAction) -> Answer:
        """See `Backend`."""
        services = self._services
        with database_errors():
            if action == "cancel":
                job = await cancel(services.engine, job_id)
            else:
                job = await retry(services.engine, services.queue, services.settings.limits, job_id)
        return JobAnswer.model_validate(job).model_dump(mode="json")

    async def collections(self) -> Answer:
        """See `Backend`."""
        with database_errors():
            return (await collections.list_all(self._services, ANYONE)).model_dump(mode="json")

    async def collection(self, name: str) -> Answer:
        """See `Backend`."""
        asked = _checked(collections.CollectionName, {"name": name})
        with database_errors():
            return (await collections.look_at(asked.name, self._services, ANYONE)).model_dump(mode="json")

    async def put_collection(self, name: str, settings: Answer) -> Answer:
        """See `Backend`."""
        asked = _checked(collections.CollectionName, {"name": name})
        body = _checked(collections.CollectionBody, {"settings": settings})
        with database_errors():
            return (await collections.put(asked.name, body, self._services, ANYONE)).model_dump(mode="json")

    async def resplit(self, name: str, limit: int) -> Answer:
        """See `Backend`."""
        asked = _checked(collections.CollectionName, {"name": name})
        with database_errors():
            return (await collections.cut_anew(asked.name, self._services, ANYONE, limit)).model_dump(mode="json")


def _checked[Model: BaseModel](model: type[Model], values: Answer) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidRequest(complaint(error, str)) from None
