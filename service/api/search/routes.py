"""POST /v1/search."""

# No postponed annotations in this file: the body's type is made from the settings when the router is.

from typing import cast

from fastapi import APIRouter

from service.api.edge.dependencies import OpenServices
from service.api.search.answer import SearchAnswer, search_answer
from service.api.search.request import SearchBody, bounded_search_body
from service.config import SearchSettings
from service.search import search


def search_router(settings: SearchSettings) -> APIRouter:
    """Return the route with the defaults and bounds of these settings."""
    router = APIRouter(prefix="/v1", tags=["search"])
    body_type = bounded_search_body(settings)

    @router.post("/search", summary="Find passages")
    async def find_passages(body: body_type, services: OpenServices) -> SearchAnswer:  # type: ignore[valid-type]
        """Find the parent chunks whose child chunks answer best, by vectors and BM25 together.

        The same request on the same data gives the same order. What is out of order while the rest answers is named
        in `warnings`.
        """
        request = cast(SearchBody, body).to_request(settings)
        return search_answer(await search(services.for_search, request))

    return router
