"""What single elements of markup say: list starts, code languages, rows and cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from service.extract.structure.inline import name_of

_WIDEST_SPAN = 100


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
    """Cells of every row."""
    for row in table.iterdescendants("{*}tr", "tr"):
        yield [cell for cell in row if name_of(cell) in {"td", "th"}]


def grid_of(table: Any, text_of_cell: Callable[[Any], str]) -> list[list[str]]:
    """Texts of all cells with their spans laid out: a cell that spans rows is repeated in each, one that spans
    columns is followed by empty cells."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for cells in rows_of(table):
        row: list[str] = []
        for cell in cells:
            _let_hang(row, hanging)
            text = text_of_cell(cell)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for column in range(len(row), len(row) + width):
                if height > 1:
                    hanging[column] = (height - 1, text if column == len(row) else "")
            row.extend([text, *[""] * (width - 1)])
        _let_hang(row, hanging)
        grid.append(row)
    return grid


def _let_hang(row: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Append the cells that hang down into this place from the rows above."""
    while len(row) in hanging:
        rows_left, text = hanging.pop(len(row))
        if rows_left > 1:
            hanging[len(row)] = (rows_left - 1, text)
        row.append(text)


def _span(cell: Any, name: str) -> int:
    written = cell.get(name) or "1"
    return min(max(int(written), 1), _WIDEST_SPAN) if written.isdigit() else 1


def is_regular_table(table: Any) -> bool:
    """True when all text of a table stands in its cells or caption, and no cell holds another table."""
    pending = [table]
    while pending:
        element = pending.pop()
        if element is not table and ((element.tail or "").strip() or name_of(element) == "table"):
            return False
        name = name_of(element)
        if name in {"td", "th", "caption"}:
            if name != "caption" and name_of(element.getparent()) != "tr":
                return False
            if next(element.iterdescendants("{*}table", "table"), None) is not None:
                return False
        else:
            if (element.text or "").strip():
                return False
            pending.extend(element)
    return True
