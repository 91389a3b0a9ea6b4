"""Templates become pages: escaped, in the visitor's language, with nothing from anywhere else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from service.api.access import principal_of
from service.types import AccessScope, Principal
from service.web.view import formats
from service.web.view.language import Theme, language_of, theme_of
from service.web.words import Language, Say, has_words, reason, speaker

_HERE = Path(__file__).parents[1]
STATIC = _HERE / "static"


@cache
def environment() -> Environment:
    """The templates; all that they are given is escaped, and a name that they are not given is an error."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(static=_static, fuzi_version=version("fuzi"), has_words=has_words, in_english=speaker("en"))
    made.filters.update(
        size=formats.size,
        number=formats.number,
        number_plain=formats.plain,
        signed=formats.signed,
        gaps=formats.gaps,
        moment=formats.moment,
        duration=formats.duration,
        pretty=formats.pretty,
    )
    made.globals.update(page_range=formats.page_range)
    return made


def _pages(principal: Principal) -> list[tuple[str, str]]:
    """Address and name of the pages that somebody may see, as the navigation has them."""
    if not principal.scopes:
        return []  # before the login
    names = ["search", "compare", "ask", "jobs"]
    if principal.sees_all:
        names += ["evaluations", "health"] if principal.may(AccessScope.ADMIN) else ["health"]
    return [("/", "documents"), *((f"/{name}", name) for name in names)]


@cache
def _static(name: str) -> str:
    """Address of a static file, which changes with its content, so that no browser keeps an old one."""
    return f"/static/{name}?v={hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be: who looks at it, and in which language."""

    request: Request
    language: Language
    theme: Theme
    principal: Principal

    @property
    def say(self) -> Say:
        """Says the console's texts in the visitor's language."""
        return speaker(self.language)

    @property
    def is_fragment(self) -> bool:
        """True when htmx asks, to put a part into a page that is there."""
        return self.request.headers.get("hx-request") == "true"

    def render(self, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
        """Answer with a template."""
        url = self.request.url
        here = url.path + (f"?{url.query}" if url.query else "")
        origin = f"{url.scheme}://{url.netloc}"
        text = (
            environment()
            .get_template(template)
            .render(
                t=self.say,
                reason=lambda words: reason(self.language, words),
                language=self.language,
                theme=self.theme,
                principal=self.principal,
                here=here,
                origin=origin,
                path=url.path,
                pages=_pages(self.principal),
                request_id=getattr(self.request.state, "request_id", ""),
                **values,
            )
        )
        return HTMLResponse(text, status, {"Vary": "Accept, Accept-Language, Cookie"})


def page_of(request: Request) -> Page:
    """The page that a request asks for."""
    return Page(request, language_of(request), theme_of(request), principal_of(request.scope))


async def _page(request: Request) -> Page:
    return page_of(request)


ThisPage = Annotated[Page, Depends(_page)]
"""The page to be made, for a route that asks for it."""
