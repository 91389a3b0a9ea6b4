"""An extracted text, for machines and for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.rule import Rule
from rich.text import Text

from service.types import ExtractedText, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from service.types import Notice

_LONGEST_RULE = 100


def extracted_json(extracted: ExtractedText) -> dict[str, Any]:
    """The document that ``fuzi extract --json`` prints for a file that could be read."""
    return {
        "status": extracted.status.value,
        "code": None,
        "message": None,
        "title": extracted.title,
        "media_type": extracted.media_type,
        "format": extracted.format.value,
        "text": extracted.text,
        "blocks": [asdict(block) for block in extracted.blocks],
        "pages": [asdict(page) for page in extracted.pages],
        "metadata": dict(extracted.metadata),
        "warnings": [asdict(notice) for notice in extracted.warnings],
        "extractor": extracted.extractor,
        "extractor_version": extracted.extractor_version,
    }


def empty_json() -> dict[str, Any]:
    """The same keys for a file that could not be read, but for those that say so."""
    return {
        "title": None,
        "media_type": None,
        "format": None,
        "text": "",
        "blocks": [],
        "pages": [],
        "metadata": {},
        "warnings": [],
        "extractor": None,
        "extractor_version": None,
    }


def draw_extracted(console: Console, extracted: ExtractedText) -> None:
    """Draw facts, the text page by page, and the warnings."""
    facts = [extracted.media_type, f"{len(extracted.text):,} characters", extracted.extractor]
    if extracted.pages:
        facts.insert(1, f"{len(extracted.pages)} page{'s' if len(extracted.pages) > 1 else ''}")
    console.print(Text(extracted.title or "(no title)", style="bold"), soft_wrap=True)
    console.print(Text(" · ".join(fact for fact in facts if fact), style="dim"), soft_wrap=True)
    for page in extracted.pages:
        _draw_rule(console, _page_name(page), "dim")
        console.out(extracted.text[page.start : page.end].strip("\n"), highlight=False)
    if not extracted.pages:
        _draw_rule(console, "", "dim")
        console.out(extracted.text, highlight=False)
    draw_warnings(console, extracted.warnings)


def draw_warnings(console: Console, warnings: Sequence[Notice]) -> None:
    """Draw one line per warning, under a rule."""
    if not warnings:
        return
    _draw_rule(console, f"{len(warnings)} warning{'s' if len(warnings) > 1 else ''}", "yellow")
    for notice in warnings:
        place = f" (page {notice.page})" if notice.page is not None else ""
        console.print(Text.assemble((notice.code, "yellow"), f"{place}: {notice.message}"), soft_wrap=True)


def _draw_rule(console: Console, title: str, style: str) -> None:
    rule = Rule(Text(title), align="left", style=style)
    console.print(rule, width=min(console.width, _LONGEST_RULE))


def _page_name(page: Page) -> str:
    return f"page {page.number}" + (f" · {page.label}" if page.label else "")
