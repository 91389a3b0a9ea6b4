"""What an agent can look into: the documents of this process, or of a server elsewhere. JSON as of the REST service."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel, ValidationError

from service.api.documents import documents_page
from service.api.edge.error_handlers import invalid_request
from service.api.schemas import DocumentQuery
from service.api.search.answer import search_answer
from service.api.search.passages import PassageQuery, passage_around
from service.api.search.request import bounded_search_body
from service.db.engine import database_errors
from service.search import search
from service.types import ANYONE, Principal
from service.wiring import Services

type Json = dict[str, Any]


class Library(Protocol):
    """Three ways to look into the documents."""

    async def search(self, body: Json) -> Json:
        """Answer a search (`SearchBody` → `SearchAnswer`)."""

    async def passage(self, chunk_id: UUID, before: int, after: int) -> Json:
        """Read a passage with its neighbours (`AroundAnswer`)."""

    async def documents(self, query: Json) -> Json:
        """List documents (`DocumentQuery` → `DocumentList`)."""


class OwnLibrary:
    """See `Library`: the documents of this process, as far as somebody may see them.

    Args:
        place: holds one of the places for searches while one runs.
    """

    def __init__(
        self,
        services: Services,
        caller: Principal = ANYONE,
        place: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    ) -> None:
        self._services = services
        self._caller = caller
        self._place = place

    async def search(self, body: Json) -> Json:
        """See `Library`."""
        settings = self._services.settings.search
        request = _checked(bounded_search_body(settings), body).to_request(settings)
        with database_errors():
            async with self._place():
                result = await search(self._services.for_search, replace(request, within=self._caller.visible()))
        return search_answer(result).model_dump(mode="json")

    async def passage(self, chunk_id: UUID, before: int, after: int) -> Json:
        """See `Library`."""
        query = _checked(PassageQuery, {"before": before, "after": after})
        with database_errors():
            answer = await passage_around(self._services.engine, chunk_id, query, self._caller)
        return answer.model_dump(mode="json")

    async def documents(self, query: Json) -> Json:
        """See `Library`."""
        asked = _checked(DocumentQuery, query)
        with database_errors():
            answer = await documents_page(self._services.engine, asked, self._caller)
        return answer.model_dump(mode="json")


def _checked[Model: BaseModel](model: type[Model], values: Json) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise invalid_request([{**each, "loc": ("body", *each["loc"])} for each in error.errors()], "json") from None
