"""The text that is embedded for a child chunk: its content, optionally with title and heading path in front."""

from __future__ import annotations

from collections.abc import Sequence

from service.heading_line import heading_line
from service.types import Chunks


def passage_texts(text: str, chunks: Chunks, title: str | None) -> list[str]:
    """Return one text per child chunk, in the order of ``chunks.children``.

    Args:
        text: the extracted text that the spans refer to.
        title: the document's title; ``None`` leaves title and heading path out.
    """
    paths = {parent.ordinal: parent.heading_path for parent in chunks.parents}
    return [
        passage_text(
            text[child.start : child.end], child.embedding_prefix, title, (*paths[child.parent], *child.inner_path)
        )
        for child in chunks.children
    ]


def passage_text(content: str, embedding_prefix: str, title: str | None, heading_path: Sequence[str]) -> str:
    """The text that is embedded for one child chunk; a ``title`` of ``None`` leaves the heading path out as well.

    Args:
        heading_path: that of the parent chunk, and the child's inner path after it.
    """
    line = "" if title is None else heading_line(title, heading_path)
    return "\n".join(part for part in (line, embedding_prefix, content) if part)
