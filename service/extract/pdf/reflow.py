"""Reflow: lines of laid-out pages → paragraphs, across page ends too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise

from service.extract.pdf.join import Joiner, ends_hyphenated, is_han_pair
from service.extract.pdf.lines import Line, display_width, ends_sentence, is_tabular, starts_anew

_FULL = 0.92
"""Share of the column that a wrapped line fills, together with the first word of the next. Letters differ in width,
so lines of equal length on paper differ by some characters."""
_FULL_INSIDE = 0.8
"""The same inside one layout paragraph, where the reader of the PDF saw no gap."""
_CELL_SHARE = 0.7
"""A line below a row of figures belongs to the table while it is shorter than this share of the column."""
_NARROWEST_CELL = 10
_CLUSTER = 0.92
_SHORTEST_COLUMN = 40
"""Narrowest column, in half-width columns, that one single line is taken to have filled."""


@dataclass(slots=True)
class Paragraph:
    """Text of one paragraph; ``page_starts`` holds (offset in the text, page index) for every page it touches."""

    text: str
    page_starts: list[tuple[int, int]] = field(default_factory=list)


def reflow(pages: Sequence[Sequence[Line]]) -> list[Paragraph]:
    """Join wrapped lines. A line was wrapped when it fills its column and does not end where a paragraph can end.

    Lines of one layout paragraph that were not wrapped stay lines of one paragraph; so do the rows of a table.
    """
    lines = [(number, line) for number, page in enumerate(pages) for line in page]
    joiner = Joiner(line.text for _, line in lines)
    columns = _column_widths(pages)
    paragraphs: list[Paragraph] = []
    before: Line | None = None
    page = 0
    in_table = False
    for number, line in lines:
        text = line.text.strip()
        bond = Bond.NONE
        if before is not None:
            bond = _bond(before, line, columns[page], is_next_page=number != page, in_table=in_table)
        in_table = is_tabular(line.text) or (in_table and bond is not Bond.NONE)
        if bond is Bond.NONE:
            paragraphs.append(Paragraph(text, [(0, number)]))
        else:
            current = paragraphs[-1]
            current.text = joiner.join(current.text, text) if bond is Bond.WRAPPED else f"{current.text}\n{text}"
            if number != page:
                current.page_starts.append((len(current.text) - len(text), number))
        before, page = line, number
    return paragraphs


def as_laid_out(pages: Sequence[Sequence[Line]]) -> list[Paragraph]:
    """The paragraphs that the reader of the PDF saw, line by line."""
    paragraphs: list[Paragraph] = []
    for number, page in enumerate(pages):
        for index, line in enumerate(page):
            if index and not line.after_gap:
                paragraphs[-1].text += "\n" + line.text
            else:
                paragraphs.append(Paragraph(line.text, [(0, number)]))
    return paragraphs


class Bond(Enum):
    """How a line belongs to the one before it."""

    NONE = auto()
    SAME_PARAGRAPH = auto()
    WRAPPED = auto()


def _bond(  # noqa: PLR0911  a cascade of signs, the strongest first
    before: Line, after: Line, column: float, *, is_next_page: bool, in_table: bool
) -> Bond:
    if after.after_blank or starts_anew(after.text):
        return Bond.NONE
    if in_table and not is_next_page and _is_wrapped_cell(before.text.strip(), after.text.strip()):
        return Bond.WRAPPED
    is_row = is_tabular(before.text) or is_tabular(after.text)
    if is_row or (in_table and display_width(after.text) < _CELL_SHARE * column):
        return Bond.NONE if is_next_page or ends_sentence(before.text) else Bond.SAME_PARAGRAPH
    if ends_hyphenated(before.text, after.text):
        return Bond.WRAPPED
    is_gap = after.after_gap or is_next_page
    if is_gap and ends_sentence(before.text):
        return Bond.NONE
    if _fills(before.text, after.text, column, _FULL if is_gap else _FULL_INSIDE):
        return Bond.WRAPPED
    return Bond.NONE if is_gap else Bond.SAME_PARAGRAPH


def _is_wrapped_cell(before: str, after: str) -> bool:
    """True for a cell of a table that goes on in the next line: Han on both sides, no blank in either line."""
    if any(character.isspace() for character in before + after) or not is_han_pair(before, after):
        return False
    return display_width(before) >= _NARROWEST_CELL and display_width(after) <= display_width(before)


def _fills(before: str, after: str, column: float, share: float) -> bool:
    """True when the line is so long that the first word of the next would not have fitted."""
    width = display_width(before.strip())
    return width >= 0.6 * column and width + _first_unit(after.strip()) > share * column


def _first_unit(text: str) -> int:
    """Width of what would have had to fit on the line before: a word, or a full-width character."""
    word = text.split(maxsplit=1)[0] if text else ""
    for length, character in enumerate(word):
        if ord(character) >= 0x2E80:
            return display_width(word[: length + 1])
    return len(word) + 1


def _column_widths(pages: Sequence[Sequence[Line]]) -> list[float]:
    """Width of the text column of every page: the widest that two lines share, else that of the document."""
    widths = [sorted((display_width(line.text.strip()) for line in page), reverse=True) for page in pages]
    shared = [_shared_width(page) for page in widths]
    whole = _shared_width(sorted((width for page in widths for width in page), reverse=True))
    found: list[float] = []
    for page, width in zip(widths, shared, strict=True):
        widest = page[0] if page else 0
        found.append(width or whole or (widest if widest >= _SHORTEST_COLUMN else float("inf")))
    return found


def _shared_width(widths: Sequence[int]) -> int | None:
    """Largest width that another line nearly has; ``None`` below the narrowest column."""
    for width, following in pairwise(widths):
        if width < _SHORTEST_COLUMN:
            return None
        if following >= _CLUSTER * width:
            return width
    return None
