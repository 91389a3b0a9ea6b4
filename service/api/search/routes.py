"""POST /v1/search and /v1/search/batch."""

# No postponed annotations in this file: the bodies' types are made from the settings when the router is.

from dataclasses import replace
from typing import Any, cast

from fastapi import APIRouter, Request

from service.api.access import READ, Caller
from service.api.edge.admission import ADMITTED
from service.api.edge.connected import while_connected
from service.api.edge.dependencies import OpenServices
from service.api.schemas import ErrorAnswer
from service.api.search.answer import SearchAnswer, search_answer
from service.api.search.batch import BatchAnswer, BatchBody, batch_answer, bounded_batch_body, to_requests
from service.api.search.request import SearchBody, bounded_search_body
from service.config import SearchSettings
from service.flows.search_batch import search_batch
from service.search import search

SEARCH_PATHS = frozenset({"/v1/search", "/v1/search/batch"})
"""Those that wait for a place."""


def search_router(settings: SearchSettings) -> APIRouter:
    """Return the routes with the defaults and bounds of these settings."""
    router = APIRouter(prefix="/v1", tags=["search"])
    body_type = bounded_search_body(settings)
    batch_type = bounded_batch_body(settings)

    @router.post("/search", summary="Find passages", dependencies=[READ, ADMITTED])
    async def find_passages(
        body: body_type,  # type: ignore[valid-type]
        services: OpenServices,
        caller: Caller,
    ) -> SearchAnswer:
        """Find the parent chunks whose child chunks answer best, by vectors and BM25 together.

        The same request on the same data gives the same order. What is out of order while the rest answers is named
        in `warnings`.
        """
        request = replace(cast(SearchBody, body).to_request(settings), within=caller.visible())
        return search_answer(await search(services.for_search, request))

    @router.post(
        "/search/batch",
        summary="Find passages for many queries",
        dependencies=[READ, ADMITTED],
        responses=_BATCH_ERRORS,
    )
    async def find_passages_of_many(
        request: Request,
        body: batch_type,  # type: ignore[valid-type]
        services: OpenServices,
        caller: Caller,
    ) -> BatchAnswer:
        """Answer many queries in one request: one outcome each, in their order.

        A query that cannot be answered has its error in its place and does not disturb the others. Only what concerns
        the request as a whole is answered by an error: no valid JSON, no or too many queries, wrong `defaults`, or
        more candidates together than one batch may ask for.
        """
        requests = to_requests(cast(BatchBody, body), body_type, settings, within=caller.visible())
        return batch_answer(await while_connected(request, search_batch(services.for_search, requests)))

    return router


_BATCH_ERRORS: dict[int | str, dict[str, Any]] = {
    413: {"model": ErrorAnswer, "description": "The body or the work that it asks for is over its limit"},
    422: {"model": ErrorAnswer, "description": "The request as a whole is not valid"},
}
