"""Searches: passages and why they are there, and two settings side by side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import APIRouter, Request, Response

from service.api.access import READ, Caller
from service.api.edge.admission import ADMITTED
from service.api.edge.dependencies import OpenServices
from service.api.search.request import SearchBody
from service.errors import FuziError, InvalidInput, NotFound
from service.search import search
from service.types import Principal, SearchResult
from service.web.view.asked import Asked
from service.web.view.choices import collection_names
from service.web.view.found import Found, found, moves
from service.web.view.rendering import ThisPage
from service.wiring import Services

SIDES = ("a", "b")


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of one search: a result, an error that its caller can mend, or nothing when nothing was asked."""

    result: SearchResult | None = None
    found: list[Found] = field(default_factory=list)
    error: FuziError | None = None


def search_pages(body_type: type[SearchBody]) -> APIRouter:
    """Return the pages; ``body_type`` has the bounds of the service's settings."""
    router = APIRouter(dependencies=[READ])

    @router.get("/search", dependencies=[ADMITTED])
    async def show(request: Request, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
        """The form, and what it found."""
        asked = Asked.read(request.query_params)
        outcome = await _search(services, caller, asked, body_type)
        return page.render(
            "search.html",
            **await _form(services, caller, asked),
            sliders=asked.sliders(services.settings.search),
            outcome=outcome,
        )

    @router.get("/compare", dependencies=[ADMITTED])
    async def compare(request: Request, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
        """One query with two settings."""
        both = [Asked.read(request.query_params, prefix=f"{side}_") for side in SIDES]
        outcomes = [await _search(services, caller, asked, body_type) for asked in both]
        left, right = (outcome.found for outcome in outcomes)
        return page.render(
            "compare.html",
            **await _form(services, caller, both[0]),
            sides=[
                {
                    "name": side,
                    "asked": asked,
                    "sliders": asked.sliders(services.settings.search),
                    "outcome": outcome,
                    "moves": moved,
                }
                for side, asked, outcome, moved in zip(
                    SIDES, both, outcomes, (moves(left, right), moves(right, left)), strict=True
                )
            ],
            in_both=len({each.passage.chunk_id for each in left} & {each.passage.chunk_id for each in right}),
        )

    return router


async def _form(services: Services, caller: Principal, asked: Asked) -> dict[str, Any]:
    return {"asked": asked, "collections": await collection_names(services.engine, caller)}


async def _search(services: Services, caller: Principal, asked: Asked, body_type: type[SearchBody]) -> _Outcome:
    if not asked.query.strip():
        return _Outcome()
    try:
        request = replace(asked.body(body_type).to_request(services.settings.search), within=caller.visible())
        result = await search(services.for_search, request)
    except (InvalidInput, NotFound) as error:
        return _Outcome(error=error)
    return _Outcome(result, found(result))
