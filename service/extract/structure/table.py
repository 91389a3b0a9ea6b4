"""Cells → Markdown table lines, and sheets → titles, table, notes."""

from __future__ import annotations

from collections.abc import Sequence

from service.extract.structure.draft import DraftBlock
from service.types import BlockType

type Rows = list[list[str]]


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """One line a row, the first row as header; short rows are filled with empty cells."""
    width = max(len(row) for row in rows)
    lines = [_line(row, width) for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return lines


def _line(row: Sequence[str], width: int) -> str:
    cells = [" ".join(cell.split()).replace("\\|", "|").replace("|", "\\|") for cell in row]
    cells += [""] * (width - len(cells))
    return "| " + " | ".join(cells) + " |"


def trimmed(rows: Rows) -> Rows:
    """Rows without empty rows and without columns that are empty everywhere."""
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        return []
    width = max(len(row) for row in rows)
    used = [column for column in range(width) if any(column < len(row) and row[column].strip() for row in rows)]
    return [[row[column] if column < len(row) else "" for column in used] for row in rows]


def blocks_of_rows(rows: Rows, page: int | None) -> list[DraftBlock]:
    """A table as blocks: titles above the header row and notes below the last row become paragraphs.

    A title or note is a row with one filled cell, the first. A table of one column becomes paragraphs.
    """
    rows = trimmed(rows)
    wide = [number for number, row in enumerate(rows) if sum(1 for cell in row if cell.strip()) > 1]
    if not wide:
        return [_paragraph(next(cell for cell in row if cell.strip()), page) for row in rows]
    first = wide[0]
    while first > 0 and not rows[first - 1][0].strip():
        first -= 1
    last = wide[-1]
    head = [_paragraph(_only_cell(row), page) for row in rows[:first]]
    tail = [_paragraph(_only_cell(row), page) for row in rows[last + 1 :]]
    return [*head, DraftBlock(BlockType.TABLE, rows=rows[first : last + 1], page=page), *tail]


def _only_cell(row: Sequence[str]) -> str:
    return next(cell for cell in row if cell.strip())


def _paragraph(text: str, page: int | None) -> DraftBlock:
    return DraftBlock(BlockType.PARAGRAPH, text.strip(), page=page)
