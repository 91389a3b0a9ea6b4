"""All documents: upload, watch, list, delete."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from service.api import documents as rest
from service.api.access import READ, WRITE, Caller
from service.api.edge.dependencies import OpenServices
from service.api.job_schemas import JobQuery
from service.api.jobs import jobs_page
from service.api.schemas import AcceptedAnswer, DocumentQuery
from service.types import DocumentStatus, Principal
from service.web.view.choices import collection_names
from service.web.view.rendering import ThisPage
from service.web.view.validated import validated
from service.wiring import Services

UPLOAD_PATH = "/documents"
router = APIRouter()

_PAGE = 25
_LIVE = 12
_ENDED = 4
_STAYS = timedelta(seconds=90)
"""So long a job that has ended stays among those under way, for its owner to see how it ended."""

_FILTERS = ("collection", "status", "source")
_NOTICES = {"accepted", "unchanged", "updated", "deleted"}


@router.get("/", dependencies=[READ])
async def list_all(request: Request, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Documents, newest first, with the form to add some, and the jobs under way."""
    given = {name: text for name in _FILTERS if (text := request.query_params.get(name, ""))}
    query = validated(DocumentQuery, {"limit": _PAGE, "offset": request.query_params.get("offset", "0"), **given})
    notice = request.query_params.get("notice", "")
    listed = await rest.documents_page(services.engine, query, caller)
    return page.render(
        "documents.html",
        listed=listed,
        filters=dict.fromkeys(_FILTERS, "") | given,
        filters_in_address=urlencode(given),
        statuses=list(DocumentStatus),
        collections=await collection_names(services.engine, caller),
        max_upload_mb=services.settings.limits.max_upload_mb,
        notice=notice if notice in _NOTICES else "",
        **await _live(services, caller),
    )


@router.get("/documents/live", dependencies=[READ])
async def live(page: ThisPage, caller: Caller, services: OpenServices, was: int = 0) -> Response:
    """The jobs under way; where fewer are than ``was``, the list of documents is told to look again."""
    values = await _live(services, caller)
    response = page.render("live.html", **values)
    if values["unfinished"] != was:
        response.headers["HX-Trigger"] = "documents-changed"
    return response


async def _live(services: Services, caller: Principal) -> dict[str, object]:
    going = await jobs_page(services.engine, JobQuery(unfinished=True, limit=_LIVE), caller)
    ended = await jobs_page(services.engine, JobQuery(unfinished=False, limit=_ENDED), caller)
    since = datetime.now(UTC) - _STAYS
    fresh = [job for job in ended.jobs if job.finished_at is not None and job.finished_at > since]
    return {"jobs": [*going.jobs, *fresh], "unfinished": going.total, "hidden": going.total - len(going.jobs)}


@router.post(UPLOAD_PATH, dependencies=[WRITE])
async def upload(request: Request, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Take a file in as the REST service does; answer with the list, or to a script with what became of it."""
    received = await rest.upload_document(request, services, Response(), caller)
    outcome = "accepted" if isinstance(received, AcceptedAnswer) else str(received.outcome)
    if page.is_fragment:
        return page.render("uploaded.html", outcome=outcome, document_id=received.document_id)
    return RedirectResponse(f"/?{urlencode({'notice': outcome})}", 303)


@router.get("/documents/{document_id}/delete", dependencies=[WRITE])
async def ask_to_delete(document_id: UUID, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Ask before a document is deleted: a page, or the inside of a dialog."""
    document = await rest.look_at(document_id, services, caller)
    return page.render("delete.html" if page.is_fragment else "delete_page.html", document=document)


@router.post("/documents/{document_id}/delete", dependencies=[WRITE])
async def delete(document_id: UUID, caller: Caller, services: OpenServices) -> Response:
    """Delete a document with its chunks and its original."""
    await rest.delete_one(document_id, services, caller)
    return RedirectResponse("/?notice=deleted", 303)
