"""markdown-it-py, told to find blocks only.

Link definitions count as paragraphs: they are text that somebody may search for.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, cast

from markdown_it import MarkdownIt
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.token import Token

from service.split.structure.markdown.rules import plain_list, plain_paragraphs, whole_table


@cache
def block_parser(indented_code: bool) -> MarkdownIt:
    """CommonMark with tables; ``indented_code`` is off for plain text, which is often indented."""
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.block.ruler.at("table", whole_table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("table", "plain_list", plain_list)
    parser.block.ruler.before("plain_list", "plain_paragraphs", plain_paragraphs)
    return parser if indented_code else parser.disable("code")


class BlockToken:
    """The attributes of a parser's token that rules set or look at, at half the price.

    Attributes:
        map: first line and line after the last one.
        content: text of an inline token.
        inline: the inline token inside a heading or a paragraph.
    """

    __slots__ = (
        "attrs", "block", "children", "content", "hidden", "info", "inline", "level", "map", "markup", "meta",
        "nesting", "tag", "type",
    )  # fmt: skip

    def __init__(self, kind: str, tag: str, nesting: int, level: int) -> None:
        self.type = kind
        self.tag = tag
        self.nesting = nesting
        self.level = level
        self.map: list[int] | None = None
        self.content = ""
        self.inline: BlockToken | None = None


_END = cast(Token, BlockToken("end", "", -1, 0))


class _BlockState(StateBlock):
    """Parser state that keeps our tokens of blocks only: their spans say where they end."""

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        if nesting < 0:
            self.level -= 1
            return _END
        token = BlockToken(ttype, tag, nesting, self.level)
        self.level += nesting
        if ttype == "inline":
            cast(BlockToken, self.tokens[-1]).inline = token
        else:
            self.tokens.append(cast(Token, token))
        return cast(Token, token)


def parse_blocks(source: str, *, indented_code: bool) -> tuple[list[BlockToken], list[int]]:
    """Block tokens of a text whose line breaks are line feeds.

    Returns:
        The tokens, and the start of every line (and the end of the text) as offsets.
    """
    parser = block_parser(indented_code)
    state = _BlockState(source, parser, {}, [])
    line_starts = list(state.bMarks)
    parser.block.tokenize(state, 0, state.lineMax)
    return cast(list[BlockToken], state.tokens), line_starts


def inline_text(content: str) -> str:
    """The text of a line without its inline marks and HTML tags."""
    children = block_parser(True).parseInline(content)[0].children or []
    shown = (token for token in children if token.type != "html_inline")
    return "".join(" " if token.type.endswith("break") else token.content for token in shown)
