"""Which language a visitor reads, and whether in the light or in the dark."""

from __future__ import annotations

import re
from typing import Literal

from starlette.requests import Request

from service.web.words import Language

LANGUAGE_COOKIE = "fuzi_language"
THEME_COOKIE = "fuzi_theme"

type Theme = Literal["auto", "light", "dark"]

_WANTED = re.compile(r"\s*([a-z]{1,8})(?:-[a-z0-9-]{1,40})?\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?", re.IGNORECASE)
_OURS: dict[str, Language] = {"en": "en", "zh": "zh"}


def language_of(request: Request) -> Language:
    """The language of the visitor's choice, else the one that the browser prefers, else English."""
    chosen = _OURS.get(request.cookies.get(LANGUAGE_COOKIE, ""))
    return chosen or preferred(request.headers.get("accept-language", ""))


def preferred(accept_language: str) -> Language:
    """The best of our languages for an ``Accept-Language``; of equals, the one named first."""
    best: tuple[float, Language] = (0.0, "en")
    for part in accept_language.split(",")[:20]:
        found = _WANTED.fullmatch(part)
        if found is None:
            continue
        language, weight = _OURS.get(found[1].lower()), float(found[2] or 1)
        if language is not None and weight > best[0]:
            best = (weight, language)
    return best[1]


def theme_of(request: Request) -> Theme:
    """What the visitor chose; ``auto`` is what the system says."""
    match request.cookies.get(THEME_COOKIE):
        case "light":
            return "light"
        case "dark":
            return "dark"
        case _:
            return "auto"
