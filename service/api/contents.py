"""What is in a document: its extracted text, its chunks, its original."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.api.access import READ, Caller
from service.api.edge.dependencies import OpenServices
from service.api.edge.dispositions import attachment
from service.api.edge.error_handlers import error_response
from service.api.edge.ranges import Unsatisfiable, asks_for_part, is_known, parse_range
from service.api.schemas import ChildAnswer, ChunksAnswer, ErrorAnswer, ParentAnswer, TextAnswer
from service.errors import NotFound, RangeNotSatisfiable
from service.store.chunk_reader import read_children, read_parents, read_text
from service.store.documents import DocumentRecord, get_document
from service.types import Principal
from service.wiring import Services

router = APIRouter(prefix="/v1/documents/{document_id}", tags=["documents"], dependencies=[READ])


@router.get("/text", summary="Extracted text")
async def show_text(document_id: UUID, services: OpenServices, caller: Caller) -> TextAnswer:
    """Return the text that all offsets refer to, with its blocks and pages."""
    async with services.engine.connect() as connection:
        if not caller.sees_all:
            await get_document(connection, document_id, caller)
        return TextAnswer.model_validate(await read_text(connection, document_id))


@router.get("/chunks", summary="Parent and child chunks")
async def show_chunks(document_id: UUID, services: OpenServices, caller: Caller) -> ChunksAnswer:
    """Return all parent and child chunks of one version; none while a first version is on its way."""
    async with _snapshot(services.engine) as connection:
        await get_document(connection, document_id, caller)
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


_FILE: dict[str, Any] = {"content": {"application/octet-stream": {}}}
_ORIGINAL: dict[int | str, dict[str, Any]] = {
    200: {**_FILE, "description": "The file as it was uploaded"},
    206: {**_FILE, "description": "The bytes that `Range` asked for; `Content-Range` says which"},
    304: {"description": "`If-None-Match` names this file already"},
    416: {"model": ErrorAnswer, "description": "`Range` lies beyond the end; `Content-Range` has the size"},
}
_ORIGINAL_HEADERS = {
    "parameters": [
        {"name": name, "in": "header", "required": False, "schema": {"type": "string"}, "description": description}
        for name, description in {
            "Range": "one range of bytes, such as `bytes=0-499`, `bytes=500-`, `bytes=-500`",
            "If-Range": "an `ETag`: the range counts only while the file is still that one",
            "If-None-Match": "an `ETag`: nothing is sent when the file is still that one",
        }.items()
    ]
}


@router.get(
    "/original",
    summary="Original file",
    response_class=StreamingResponse,
    responses=_ORIGINAL,
    openapi_extra=_ORIGINAL_HEADERS,
)
async def send_original(document_id: UUID, request: Request, services: OpenServices, caller: Caller) -> Response:
    """Stream the file as it was uploaded, with its name; or one range of its bytes, to go on with a download.

    `ETag` is the SHA-256 of the file in hexadecimal digits.
    """
    return await _with_original(services, document_id, caller, partial(_send, request, services))


@router.head(
    "/original",
    summary="Size and ETag of the original file",
    response_class=Response,
    responses={status: answer for status, answer in _ORIGINAL.items() if status in {200, 304}},
)
async def describe_original(document_id: UUID, request: Request, services: OpenServices, caller: Caller) -> Response:
    """Answer as for the whole file, without its bytes."""
    return await _with_original(services, document_id, caller, partial(_describe, request, services))


async def _describe(request: Request, services: Services, record: DocumentRecord, key: str) -> Response:
    size = await services.originals.size(key)
    headers = _headers(record)
    if is_known(request.headers, headers["ETag"]):
        return _not_modified(headers)
    return Response(headers={**headers, "Content-Length": str(size)})


async def _send(request: Request, services: Services, record: DocumentRecord, key: str) -> Response:
    headers = _headers(record)
    if is_known(request.headers, headers["ETag"]):
        return _not_modified(headers)
    if not asks_for_part(request.headers, headers["ETag"]):
        size, pieces = await services.originals.stream(key)
        return StreamingResponse(pieces, headers={**headers, "Content-Length": str(size)})
    size = await services.originals.size(key)
    try:
        part = parse_range(request.headers["range"], size)
    except Unsatisfiable:
        error = RangeNotSatisfiable(f"the file has {size} bytes", size_bytes=size)
        return error_response(error, request.state.request_id, {"Content-Range": f"bytes */{size}"})
    start, end = part or (0, size)
    _, pieces = await services.originals.stream(key, start, end)
    headers["Content-Length"] = str(end - start)
    if part is None:
        return StreamingResponse(pieces, headers=headers)
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return StreamingResponse(pieces, 206, headers)


def _headers(record: DocumentRecord) -> dict[str, str]:
    return {
        # Given as a header, since Starlette would add charset=utf-8 to every text type; a GBK file is none.
        "Content-Type": record.media_type,
        "Content-Disposition": attachment(record.file_name),
        "ETag": f'"{record.sha256.hex()}"',
        "Accept-Ranges": "bytes",
        # An uploaded page must never run in the origin of this service.
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }


def _not_modified(headers: dict[str, str]) -> Response:
    return Response(status_code=304, headers={"ETag": headers["ETag"], "Accept-Ranges": "bytes"})


async def _with_original[Answer](
    services: Services, document_id: UUID, caller: Principal, answer: Callable[[DocumentRecord, str], Awaitable[Answer]]
) -> Answer:
    tried: str | None = None
    while True:
        async with services.engine.connect() as connection:
            record = await get_document(connection, document_id, caller)
        key = record.object_key or record.pending_key
        if key is None:
            raise NotFound("this document has no original", document_id=str(document_id))
        try:
            return await answer(record, key)
        except NotFound:
            if key == tried:
                raise
            tried = key  # a new version may have taken its place between the two looks
