"""An answer on a terminal: the text as it comes, then where it is from."""

from __future__ import annotations

from typing import Any

import typer
from rich.text import Text

from service.api.split_shape import page_numbers
from service.cli.output import Output

_MODES = {
    "extractive": "these are sentences of the passages, no chat model wrote them; "
    "FUZI_CHAT__BASE_URL and FUZI_CHAT__MODEL name one",
    "nothing_found": "no passage was found; look at `fuzi documents`, or ask in other words",
}


def show(output: Output, name: str, data: dict[str, Any]) -> None:
    """Write the next part of the text; of a model's text nothing that steers a terminal."""
    if name == "content":
        safe = "".join(character for character in data["text"] if character.isprintable() or character in "\n\t")
        typer.echo(safe.encode("utf-8", "replace"), nl=False)


def draw_sources(output: Output, answer: dict[str, Any]) -> None:
    """Draw what is known once the answer is whole: cited sources with their places, warnings, the mode."""
    typer.echo()
    cited = dict.fromkeys((citation["number"], _name(citation), *_place(citation)) for citation in answer["citations"])
    if cited:
        output.console.print()
    for number, name, *place in cited:
        line = Text.assemble((f"[{number}]  ", "bold cyan"), (name, "bold"), (f"  {' · '.join(place)}", "dim"))
        output.console.print(line, soft_wrap=True)
    for notice in answer["warnings"]:
        line = Text.assemble((f"warning {notice['code']}", "bold yellow"), f": {notice['message']}")
        output.console.print(line, soft_wrap=True)
    if answer["mode"] in _MODES:
        output.note(_MODES[answer["mode"]])


def _name(citation: dict[str, Any]) -> str:
    headings = [heading for heading in citation["heading_path"] if heading != citation["title"]]
    return " › ".join([citation["title"] or citation["source"], *headings])


def _place(citation: dict[str, Any]) -> list[str]:
    parts = [citation["source"], citation["collection"]]
    pages = page_numbers(citation["first_page"], citation["last_page"])
    if pages:
        parts.append(f"p. {pages[0]}" if len(pages) == 1 else f"p. {pages[0]}–{pages[-1]}")
    return [*parts, f"characters {citation['start']}–{citation['end']}"]
