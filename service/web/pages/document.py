"""One document: its text part by part with the chunks drawn over it, and each chunk's provenance."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.api import contents as rest_contents
from service.api import documents as rest
from service.api.access import READ, Caller
from service.api.edge.dependencies import OpenServices
from service.api.schemas import DocumentAnswer
from service.errors import NotFound
from service.store.chunk_reader import Around, Stretch, chunk_at, parent_of_page, read_around, read_stretch
from service.web.view.drawn import TextPage, drawn, page_chips
from service.web.view.rendering import ThisPage

router = APIRouter(prefix="/documents/{document_id}", dependencies=[READ])

_PART_CHARACTERS = 8000
"""Characters of one part: some screens, quickly drawn, whatever the length of the document."""

_PARENTS_BACK = 10

_PAGES = text("""
    select page.number, page.start, page."end", page.label
    from
        rag.document,
        jsonb_to_recordset(pages) as page(number integer, start integer, "end" integer, label text)
    where id = :document_id and page.start < :until and page."end" > :start
    order by page.start, page.number
""")


class Place(BaseModel):
    """Where to look: around a child chunk, or the one at an offset of the text; from a page on, or a parent chunk."""

    parent: int = Field(0, ge=0, le=2**31 - 1)
    page: int | None = Field(None, ge=1, le=2**31 - 1)
    chunk: UUID | None = None
    at: int | None = Field(None, ge=0, le=2**31 - 1)


@router.get("")
async def show(
    document_id: UUID, page: ThisPage, caller: Caller, services: OpenServices, place: Annotated[Place, Query()]
) -> Response:
    """A document from its start, from a parent chunk or page on, or around a child chunk."""
    document = await rest.look_at(document_id, services, caller)
    async with services.engine.connect() as connection:
        chunk = place.chunk
        if chunk is None and place.at is not None:
            chunk = await chunk_at(connection, document_id, place.at)
        around = None if chunk is None else await _around(connection, document_id, chunk)
        if around is not None:
            first = around.parent.ordinal
        elif place.page is not None:
            first = await parent_of_page(connection, document_id, place.page)
        else:
            first = place.parent
        part = await _part(connection, document, first)
    current = place.page or _first_page(around, part["stretch"])
    return page.render(
        "document.html",
        around=around,
        current_page=current,
        page_chips=page_chips(document.page_count or 0, current),
        chunk_lost=place.chunk is not None and around is None,
        first=first,
        previous=max(first - _PARENTS_BACK, 0) if first else None,
        **part,
    )


@router.get("/part")
async def show_part(
    document_id: UUID, page: ThisPage, caller: Caller, services: OpenServices, place: Annotated[Place, Query()]
) -> Response:
    """The next part of the text, for a page that is being read."""
    document = await rest.look_at(document_id, services, caller)
    async with services.engine.connect() as connection:
        return page.render("part.html", around=None, **await _part(connection, document, place.parent))


@router.get("/chunks/{chunk_id}")
async def show_chunk(
    document_id: UUID, chunk_id: UUID, page: ThisPage, caller: Caller, services: OpenServices
) -> Response:
    """A child chunk with its parent, its neighbours and where it comes from."""
    document = await rest.look_at(document_id, services, caller)
    async with services.engine.connect() as connection:
        around = await read_around(connection, document_id, chunk_id)
    return page.render("chunk.html", document=document, around=around)


@router.get("/original")
async def send_original(document_id: UUID, request: Request, caller: Caller, services: OpenServices) -> Response:
    """The file as it was uploaded."""
    return await rest_contents.send_original(document_id, request, services, caller)


async def _part(connection: AsyncConnection, document: DocumentAnswer, first: int) -> dict[str, Any]:
    stretch = await read_stretch(connection, document.document_id, first=first, characters=_PART_CHARACTERS)
    ends = {"start": stretch.start, "until": stretch.start + len(stretch.text)}
    found = await connection.execute(_PAGES, {"document_id": document.document_id, **ends})
    pages = [TextPage(**row._mapping) for row in found]
    return {"document": document, "stretch": stretch, "parents": drawn(stretch, pages)}


def _first_page(around: Around | None, stretch: Stretch) -> int:
    """The page that is read first; 0 where there are none."""
    chunk = around.child if around else stretch.parents[0] if stretch.parents else None
    return (chunk.first_page or 0) if chunk else 0


async def _around(connection: AsyncConnection, document_id: UUID, chunk_id: UUID) -> Around | None:
    """None for a chunk of an earlier version: the document is still worth a look."""
    try:
        return await read_around(connection, document_id, chunk_id)
    except NotFound:
        return None
