"""The console as a part of the application."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from service.api.search.request import bounded_search_body
from service.config import Settings
from service.web.error_pages import ErrorPages
from service.web.pages import ask, document, documents, evaluations, health, jobs, session
from service.web.pages.search import search_pages
from service.web.view.rendering import STATIC

UPLOAD_PATH = documents.UPLOAD_PATH


def add_console(app: FastAPI, settings: Settings) -> None:
    """Answer ``/`` and the other pages of the console, its files below ``/static``, and errors to browsers as pages."""
    for module in (documents, document, jobs, evaluations, health, ask, session):
        app.include_router(module.router, include_in_schema=False)
    app.include_router(search_pages(bounded_search_body(settings.search)), include_in_schema=False)
    app.add_middleware(ErrorPages)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
