"""Documents: upload, list, look at, delete."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response, status
from sqlalchemy.ext.asyncio import AsyncEngine

from service.api.access import READ, WRITE, Caller
from service.api.edge.connected import while_connected
from service.api.edge.dependencies import OpenServices
from service.api.edge.upload_form import FILE_FIELD, UploadForm, receive_form
from service.api.schemas import AcceptedAnswer, DocumentAnswer, DocumentList, DocumentQuery, UploadAnswer
from service.config import LimitSettings
from service.errors import InvalidRequest
from service.flows.jobs import result_of
from service.flows.receive import Accepted, receive
from service.flows.remove import remove
from service.store.collections import check_visible
from service.store.documents import DocumentRecord, get_document, list_documents
from service.store.metadata import parse_metadata
from service.types import IngestRequest, Principal

router = APIRouter(prefix="/v1/documents", tags=["documents"])

_LONGEST_TITLE = 1000
_UPLOAD_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [FILE_FIELD],
                    "additionalProperties": False,
                    "properties": {
                        FILE_FIELD: {"type": "string", "contentMediaType": "application/octet-stream"},
                        "source": {
                            "type": "string",
                            "description": "your name of the document in its collection; by default the file name",
                            "examples": ["制度/差旅报销.docx"],
                        },
                        "collection": {"type": "string", "default": "default"},
                        "title": {"type": "string", "maxLength": _LONGEST_TITLE},
                        "metadata": {
                            "type": "string",
                            "contentMediaType": "application/json",
                            "description": "a JSON object that searches can filter by",
                            "examples": ['{"department": "法务", "year": 2024}'],
                        },
                    },
                }
            }
        },
    }
}


@router.post(
    "",
    summary="Upload a document",
    dependencies=[WRITE],
    status_code=status.HTTP_202_ACCEPTED,
    responses={
        status.HTTP_200_OK: {"model": UploadAnswer, "description": "Nothing to do, or only its description"},
        status.HTTP_201_CREATED: {"model": UploadAnswer, "description": "With `wait`: both legs find it now"},
    },
    openapi_extra=_UPLOAD_FORM,
)
async def upload_document(
    request: Request,
    services: OpenServices,
    response: Response,
    caller: Caller,
    wait: Annotated[
        bool, Query(description="answer when both legs find it, or with the error that stopped it")
    ] = False,
) -> AcceptedAnswer | UploadAnswer:
    """Accept a file: once this answers, the file is durable and its job is queued.

    A source that is there already is replaced in one step; the same bytes again change nothing. A file that cannot be
    read is kept as a failed document; with `wait` its id is in the error's `details`.
    """
    async with receive_form(request, services.settings.server.upload_folder, services.settings.limits) as form:
        asked = _ingest_request(form, services.settings.limits)
        check_visible(asked.collection, caller)
        received = await receive(services.for_receive, asked)
    response.headers["Location"] = f"{router.prefix}/{received.document_id}"
    if isinstance(received, Accepted):
        if not wait:
            return AcceptedAnswer.model_validate(received)
        received = await while_connected(request, result_of(services.engine, received))
        response.status_code = status.HTTP_201_CREATED
    else:
        response.status_code = status.HTTP_200_OK
    return UploadAnswer.model_validate(received)


def _ingest_request(form: UploadForm, limits: LimitSettings) -> IngestRequest:
    given = form.fields
    return IngestRequest(
        path=form.path,
        source=given.get("source", form.given_name),
        file_name=form.file_name,
        collection=given.get("collection", "default"),
        declared_type=form.declared_type,
        title=_title(given.get("title")),
        metadata=parse_metadata(given["metadata"], limits) if "metadata" in given else None,
    )


def _title(given: str | None) -> str | None:
    title = (given or "").strip()
    if not title.isprintable():
        raise InvalidRequest("title must not contain control characters or line breaks")
    if len(title) > _LONGEST_TITLE:
        raise InvalidRequest(f"title has {len(title)} characters, the limit is {_LONGEST_TITLE}")
    return title or None


@router.get("", summary="List documents", dependencies=[READ])
async def list_all(query: Annotated[DocumentQuery, Query()], services: OpenServices, caller: Caller) -> DocumentList:
    """Return one page of documents, newest first."""
    return await documents_page(services.engine, query, caller)


async def documents_page(engine: AsyncEngine, query: DocumentQuery, caller: Principal) -> DocumentList:
    """Return one page of documents, newest first, in JSON form."""
    async with engine.connect() as connection:
        records, total = await list_documents(
            connection,
            collections=caller.visible(None if query.collection is None else (query.collection,)),
            status=query.status,
            source_contains=query.source,
            limit=query.limit,
            offset=query.offset,
        )
    documents = [document_answer(record) for record in records]
    return DocumentList(documents=documents, total=total, limit=query.limit, offset=query.offset)


@router.get("/{document_id}", summary="Look at a document", dependencies=[READ])
async def look_at(document_id: UUID, services: OpenServices, caller: Caller) -> DocumentAnswer:
    """Return a document without its text."""
    async with services.engine.connect() as connection:
        return document_answer(await get_document(connection, document_id, caller))


@router.delete(
    "/{document_id}", summary="Delete a document", status_code=status.HTTP_204_NO_CONTENT, dependencies=[WRITE]
)
async def delete_one(document_id: UUID, services: OpenServices, caller: Caller) -> None:
    """Delete a document with its chunks and its original."""
    if not caller.sees_all:
        async with services.engine.connect() as connection:
            await get_document(connection, document_id, caller)
    await remove(services.engine, services.originals, document_id)


def document_answer(record: DocumentRecord) -> DocumentAnswer:
    """Return the JSON form of a document."""
    same = DocumentAnswer.model_fields.keys() - {"document_id", "sha256"}
    values: dict[str, Any] = {name: getattr(record, name) for name in same}
    return DocumentAnswer(document_id=record.id, sha256=record.sha256.hex(), **values)
