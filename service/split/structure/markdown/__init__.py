"""Blocks of Markdown texts, found by markdown-it-py."""

from service.split.structure.markdown.document import WHOLE_BLOCKS, MarkdownBlocks

__all__ = ["WHOLE_BLOCKS", "MarkdownBlocks"]
