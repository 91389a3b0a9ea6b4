"""What a reader of one format hands over, before cleaning, reflow and rendering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.config import ExtractSettings
from service.extract.structure.draft import Draft
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
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

    def finish(self, settings: ExtractSettings) -> ExtractedText:
        """Clean text with exact spans."""
        if self.draft is None:
            return ExtractedText(
                text=self.text,
                format=self.text_format,
                media_type=self.media_type,
                blocks=self.blocks,
                title=self.title or _first_heading(self.text, self.blocks),
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
            title=self.title or _first_heading(rendered.text, rendered.blocks),
            metadata=self.metadata,
            warnings=tuple(self.notices),
        )


def _cleaned(draft: Draft) -> Draft:
    for block in draft.blocks:
        block.text = clean(block.text)
        block.rows = [[clean(cell) for cell in row] for row in block.rows]
    draft.page_labels = [label and clean(label) for label in draft.page_labels]
    return draft


def _first_heading(text: str, blocks: tuple[Block, ...]) -> str | None:
    for block in blocks[:20]:
        if block.type is BlockType.HEADING:
            return text[block.start : block.end].lstrip("#").strip() or None
    return None
