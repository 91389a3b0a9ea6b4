"""Ask: a question answered with citations, as the answer is written."""

from __future__ import annotations

from fastapi import APIRouter, Response

from service.api.access import READ, Caller
from service.api.edge.dependencies import OpenServices
from service.web.view.choices import collection_names
from service.web.view.rendering import ThisPage

router = APIRouter(dependencies=[READ])


@router.get("/ask")
async def show(page: ThisPage, caller: Caller, services: OpenServices, q: str = "", collection: str = "") -> Response:
    """The form; a script streams the answer of ``POST /v1/answer`` into it."""
    names = await collection_names(services.engine, caller)
    return page.render("ask.html", question=q, collection=collection, collections=names)
