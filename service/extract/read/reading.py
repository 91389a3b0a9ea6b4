"""What a reader of one format hands over, before cleaning, reflow and rendering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.extract.structure.draft import Draft, DraftBlock
from service.extract.structure.render import render
from service.extract.tidy.clean import clean
from service.types import Block, BlockType, ExtractedText, Notice, TextFormat


@dataclass(slots=True)
class Reading:
    """Either ``draft`` (structure that is rendered as Markdown) or ``text`` (kept as it is, with its own blocks)."""

    media_type: str
    draft: Draft | None = None
    text: str = ""
    text_format: TextFormat = TextFormat.PLAIN
    blocks: tuple[Block, ...] = ()
    title: str | None = None
    has_title_heading: bool = True
    """False when the first heading is the name of a part (a sheet, a file), not the title of the whole."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

    def as_blocks(self) -> list[DraftBlock]:
        """Its blocks as part of another draft; a text that keeps itself is cut into its outer blocks."""
        if self.draft is not None:
            return self.draft.blocks
        is_markdown = self.text_format is TextFormat.MARKDOWN
        found: list[DraftBlock] = []
        end = 0
        for block in self.blocks:
            if block.start >= end:
                text = self.text[block.start : block.end]
                found.append(_part_of_text(block, text, is_markdown=is_markdown))
                end = block.end
        return found

    def finish(self) -> ExtractedText:
        """Clean text with exact spans."""
        if self.draft is None:
            return ExtractedText(
                text=self.text,
                format=self.text_format,
                media_type=self.media_type,
                blocks=self.blocks,
                title=self._title(self.text, self.blocks),
                metadata=self.metadata,
                warnings=tuple(self.notices),
            )
        draft = _cleaned(self.draft)
        rendered = render(draft)
        return ExtractedText(
            text=rendered.text,
            format=TextFormat.MARKDOWN,
            media_type=self.media_type,
            blocks=rendered.blocks,
            pages=rendered.pages,
            title=self._title(rendered.text, rendered.blocks),
            metadata=self.metadata,
            warnings=tuple(self.notices),
        )

    def _title(self, text: str, blocks: tuple[Block, ...]) -> str | None:
        if self.title or not self.has_title_heading:
            return self.title
        headings = (text[block.start : block.end] for block in blocks[:20] if block.type is BlockType.HEADING)
        return next(headings, "").split("\n")[0].strip("# ") or None


def _part_of_text(block: Block, text: str, *, is_markdown: bool) -> DraftBlock:
    if is_markdown and block.type is BlockType.HEADING and "\n" not in text:
        return DraftBlock(BlockType.HEADING, text.strip("# "), block.level)
    return DraftBlock(block.type, text, block.level, is_verbatim=is_markdown)


def _cleaned(draft: Draft) -> Draft:
    for block in draft.blocks:
        block.text = clean(block.text)
        block.rows = [[clean(cell) for cell in row] for row in block.rows]
    draft.page_labels = [label and clean(label) for label in draft.page_labels]
    return draft
