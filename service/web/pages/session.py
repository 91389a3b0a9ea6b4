"""Who looks, and how they like it: the key of a visitor, the language, light and dark."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from service.web.view.language import LANGUAGE_COOKIE, THEME_COOKIE
from service.web.view.page_route import PageRoute

router = APIRouter(route_class=PageRoute)

_YEAR_SECONDS = 365 * 24 * 3600


@router.post("/preferences")
async def prefer(request: Request) -> Response:
    """Keep a choice of language or of light and dark, and go back to where it was made."""
    async with request.form(max_files=0, max_fields=10) as form:
        response = RedirectResponse(local_path(str(form.get("next", ""))), 303)
        language, theme = form.get("language"), form.get("theme")
    if language in {"en", "zh"}:
        response.set_cookie(LANGUAGE_COOKIE, str(language), max_age=_YEAR_SECONDS, samesite="strict", httponly=True)
    if theme in {"auto", "light", "dark"}:
        response.set_cookie(THEME_COOKIE, str(theme), max_age=_YEAR_SECONDS, samesite="strict", httponly=True)
    return response


def local_path(target: str) -> str:
    """Where to go next: a path of this service, whatever a form says."""
    is_local = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_local else "/"
