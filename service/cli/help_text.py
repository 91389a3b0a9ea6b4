"""Help that reads well at any width: prose flows, examples keep their lines."""

from __future__ import annotations

import inspect
from itertools import groupby

from rich.markup import escape


def flowing(docstring: str | None) -> str:
    """A docstring as help: lines of prose are joined, indented lines stay, and no bracket is taken for markup."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return escape("\n\n".join(_flow(paragraph) for paragraph in paragraphs))


def _flow(paragraph: str) -> str:
    parts = []
    for indented, lines in groupby(paragraph.splitlines(), key=lambda line: line.startswith(" ")):
        parts.append(("\n" if indented else " ").join(lines))
    return "\n".join(parts)
