"""One passage with what stands around it."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncEngine

from service.api.access import READ, Caller
from service.api.edge.dependencies import OpenServices
from service.api.schemas import Answer, Asked
from service.store.passage_reader import read_passage
from service.types import Principal

router = APIRouter(prefix="/v1/passages", tags=["search"])

MOST_NEIGHBOURS = 20


class PassageQuery(Asked):
    """How much around a passage to read."""

    before: int = Field(0, ge=0, le=MOST_NEIGHBOURS, description="passages in front of it")
    after: int = Field(0, ge=0, le=MOST_NEIGHBOURS, description="passages behind it")


class AroundAnswer(Answer):
    """Passages that follow one another: ``text`` is the document's from ``start`` to ``end``, in code points."""

    chunk_id: UUID = Field(description="of the passage (parent chunk) that was asked for")
    document_id: UUID
    collection: str
    source: str
    title: str | None
    media_type: str
    heading_path: list[str]
    ordinal: int = Field(description="place of the passage in its document, from 0")
    first_ordinal: int = Field(description="of the first that was read")
    last_ordinal: int
    parent_count: int = Field(description="passages of the document")
    start: int
    end: int
    first_page: int | None
    last_page: int | None
    text: str


@router.get("/{chunk_id}", summary="Read on around a passage", dependencies=[READ])
async def show_passage(
    chunk_id: UUID, query: Annotated[PassageQuery, Query()], services: OpenServices, caller: Caller
) -> AroundAnswer:
    """Return a passage, named by its own id or that of a child chunk in it, with its neighbours as one text."""
    return await passage_around(services.engine, chunk_id, query, caller)


async def passage_around(engine: AsyncEngine, chunk_id: UUID, query: PassageQuery, caller: Principal) -> AroundAnswer:
    """`show_passage` for whoever calls."""
    async with engine.connect() as connection:
        await connection.execution_options(isolation_level="REPEATABLE READ")
        found = await read_passage(
            connection, chunk_id, before=query.before, after=query.after, within=caller.visible()
        )
    return AroundAnswer.model_validate(found)
