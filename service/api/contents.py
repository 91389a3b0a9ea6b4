"""What is in a document: its extracted text, its chunks, its original."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.api.edge.dependencies import OpenServices
from service.api.edge.dispositions import attachment
from service.api.schemas import ChildAnswer, ChunksAnswer, ParentAnswer, TextAnswer
from service.errors import NotFound
from service.store.chunk_reader import read_children, read_parents, read_text
from service.store.documents import DocumentRecord, get_document
from service.wiring import Services

router = APIRouter(prefix="/v1/documents/{document_id}", tags=["documents"])


@router.get("/text", summary="Extracted text")
async def show_text(document_id: UUID, services: OpenServices) -> TextAnswer:
    """Return the text that all offsets refer to, with its blocks and pages."""
    async with services.engine.connect() as connection:
        return TextAnswer.model_validate(await read_text(connection, document_id))


@router.get("/chunks", summary="Parent and child chunks")
async def show_chunks(document_id: UUID, services: OpenServices) -> ChunksAnswer:
    """Return all parent and child chunks of one version; none while a first version is on its way."""
    async with _snapshot(services.engine) as connection:
        await get_document(connection, document_id)
        parents = await read_parents(connection, document_id)
        children = await read_children(connection, document_id)
    return ChunksAnswer(
        document_id=document_id,
        parents=[ParentAnswer.model_validate(parent) for parent in parents],
        children=[ChildAnswer.model_validate(child) for child in children],
    )


@asynccontextmanager
async def _snapshot(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection that sees one moment: parents and children of the same version."""
    async with engine.connect() as connection:
        yield await connection.execution_options(isolation_level="REPEATABLE READ")


@router.get(
    "/original",
    summary="Original file",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The file as it was uploaded"}},
)
async def send_original(document_id: UUID, services: OpenServices) -> StreamingResponse:
    """Stream the file as it was uploaded, with its name."""
    record, size, pieces = await _open_original(services, document_id)
    headers = {
        # Given as a header, since Starlette would add charset=utf-8 to every text type; a GBK file is none.
        "Content-Type": record.media_type,
        "Content-Length": str(size),
        "Content-Disposition": attachment(record.file_name),
        # An uploaded page must never run in the origin of this service.
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return StreamingResponse(pieces, headers=headers)


async def _open_original(services: Services, document_id: UUID) -> tuple[DocumentRecord, int, AsyncIterator[bytes]]:
    tried: str | None = None
    while True:
        async with services.engine.connect() as connection:
            record = await get_document(connection, document_id)
        key = record.object_key or record.pending_key
        if key is None:
            raise NotFound("this document has no original", document_id=str(document_id))
        try:
            size, pieces = await services.originals.stream(key)
        except NotFound:
            if key == tried:
                raise
            tried = key  # a new version may have taken its place between the two looks
        else:
            return record, size, pieces
