"""Who looks, and how they like it: the key of a visitor, the language, light and dark."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from service.api.access import LOGIN_PATH, forget_key, gate_of, keep_key
from service.errors import Unauthenticated
from service.web.view.language import LANGUAGE_COOKIE, THEME_COOKIE
from service.web.view.rendering import ThisPage

router = APIRouter()


@router.get(LOGIN_PATH)
async def ask_for_key(request: Request, page: ThisPage, next: str = "/") -> Response:  # noqa: A002 - the form's word
    """The form for the key; where no key is needed, or one was given, the way goes on."""
    if page.principal.key_id is not None or await gate_of(request.scope).keyring.is_open():
        return RedirectResponse(local_path(next), 303)
    return page.render("login.html", wrong=False, next=local_path(next))


@router.post(LOGIN_PATH)
async def log_in(request: Request, page: ThisPage) -> Response:
    """Keep a valid key in a cookie that no script can read."""
    async with request.form(max_files=0, max_fields=10) as form:
        key, target = str(form.get("key", "")).strip(), local_path(str(form.get("next", "/")))
    try:
        await gate_of(request.scope).keyring.authenticate(key)
    except Unauthenticated:
        return page.render("login.html", 401, wrong=True, next=target)
    response = RedirectResponse(target, 303)
    keep_key(response, key, secure=request.url.scheme == "https")
    return response


@router.post("/logout")
async def log_out() -> Response:
    """Forget the key."""
    response = RedirectResponse(LOGIN_PATH, 303)
    forget_key(response)
    return response


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
