"""Plain text, Markdown and tables of text: files that keep their own text and never see Tika."""

from __future__ import annotations

import csv
import io
import re

from markdown_it import MarkdownIt

from service.extract.read.decode import Decoded, decode
from service.extract.read.reading import Reading
from service.extract.structure.draft import Draft
from service.extract.structure.table import blocks_of_rows
from service.extract.tidy.clean import clean
from service.types import Block, BlockType, Notice, TextFormat

_PARAGRAPH = re.compile(r"\S(?:.*\S)?(?:[ \t]*\n[ \t]*\S(?:.*\S)?)*")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_BLOCK_TYPES = {
    "heading_open": BlockType.HEADING,
    "paragraph_open": BlockType.PARAGRAPH,
    "list_item_open": BlockType.LIST_ITEM,
    "table_open": BlockType.TABLE,
    "blockquote_open": BlockType.QUOTE,
    "fence": BlockType.CODE,
    "code_block": BlockType.CODE,
    "html_block": BlockType.PARAGRAPH,
}
_LONGEST_FIELD = 10_000_000


def read_text(data: bytes, media_type: str, charset: str | None = None) -> Reading:
    """A plain text, unchanged but for cleaning; blocks are runs of lines without a blank line."""
    decoded = decode(data, charset)
    text = clean(decoded.text)
    blocks = tuple(Block(BlockType.PARAGRAPH, 0, match.start(), match.end()) for match in _PARAGRAPH.finditer(text))
    return Reading(
        media_type, text=text, blocks=blocks, metadata={"encoding": decoded.encoding}, notices=damage_of(decoded)
    )


def read_markdown(data: bytes, media_type: str, charset: str | None = None) -> Reading:
    """A Markdown text, unchanged but for cleaning; blocks come from the syntax tree, front matter is metadata."""
    decoded = decode(data, charset)
    text = clean(decoded.text)
    front = _FRONT_MATTER.match(text)
    title = front and _FRONT_TITLE.search(front.group(1))
    return Reading(
        media_type,
        text=text,
        text_format=TextFormat.MARKDOWN,
        blocks=_markdown_blocks(text, front.end() if front else 0),
        title=title.group(1).strip("\"'") if title else None,
        metadata={"encoding": decoded.encoding},
        notices=damage_of(decoded),
    )


def read_table(data: bytes, media_type: str, charset: str | None = None) -> Reading:
    """A CSV or TSV as one Markdown table with its header row; a file without columns is plain text."""
    decoded = decode(data, charset)
    text = clean(decoded.text)
    rows = _rows(text, "\t" if media_type == "text/tab-separated-values" else None)
    if max((len(row) for row in rows), default=0) < 2:
        return read_text(data, media_type, charset)
    return Reading(
        media_type,
        draft=Draft(blocks_of_rows(rows, None)),
        metadata={"encoding": decoded.encoding, "row_count": len(rows)},
        notices=damage_of(decoded),
    )


def damage_of(decoded: Decoded) -> list[Notice]:
    """A notice when bytes could not be read in the charset that fits best."""
    if not decoded.damaged:
        return []
    return [Notice("damaged_characters", f"{decoded.damaged} characters could not be read as {decoded.encoding}")]


def _rows(text: str, delimiter: str | None) -> list[list[str]]:
    if delimiter is None:
        first = text.partition("\n")[0]
        delimiter = max(",;\t|", key=first.count)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(row)]
    except csv.Error:
        return []


def _markdown_blocks(text: str, body_start: int) -> tuple[Block, ...]:
    starts = [0]
    for match in re.finditer("\n", text):
        starts.append(match.end())
    skipped = text.count("\n", 0, body_start)
    blocks: list[Block] = []
    depth = -1
    for token in MarkdownIt("commonmark").enable("table").parse(text[body_start:]):
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            depth += 1
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            depth -= 1
        block_type = _BLOCK_TYPES.get(token.type)
        if block_type is None or token.map is None or token.hidden:
            continue
        first, last = token.map[0] + skipped, token.map[1] + skipped
        start = starts[first]
        end = starts[last] if last < len(starts) else len(text)
        end = start + len(text[start:end].rstrip())
        if blocks and start < blocks[-1].end and block_type is not BlockType.LIST_ITEM:
            continue
        level = int(token.tag[1]) if block_type is BlockType.HEADING else max(depth, 0) if depth >= 0 else 0
        blocks.append(Block(block_type, level if block_type in _LEVELLED else 0, start, end))
    return tuple(blocks)


_LEVELLED = frozenset({BlockType.HEADING, BlockType.LIST_ITEM})
