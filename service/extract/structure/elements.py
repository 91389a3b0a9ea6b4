"""What single elements of markup say: list starts, code languages, rows and cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from service.extract.structure.inline import name_of


def start_of(element: Any) -> int:
    """Number of the first item of an ordered list."""
    try:
        return int(element.get("start") or 1)
    except ValueError:
        return 1


def language_of(element: Any) -> str:
    """Language of a code block, from the class of ``pre`` or ``code``."""
    for candidate in (element, *element.iterchildren()):
        for word in (candidate.get("class") or "").split():
            for prefix in ("language-", "lang-", "brush:"):
                if word.startswith(prefix):
                    return str(word.removeprefix(prefix))
    return ""


def rows_of(table: Any) -> Iterable[list[Any]]:
    """Cells of every row, inner tables included."""
    for row in table.iterdescendants("{*}tr", "tr"):
        yield [cell for cell in row if name_of(cell) in {"td", "th"}]


def cells_without_inner(table: Any) -> list[Any]:
    """Cells of the table itself, without those of tables inside it."""
    return [cell for row in rows_of(table) for cell in row if _nearest_table(cell) is table]


def _nearest_table(cell: Any) -> Any:
    return next(parent for parent in cell.iterancestors() if name_of(parent) == "table")
