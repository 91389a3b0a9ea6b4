"""The text that is embedded for a child chunk: its content, optionally with title and heading path in front."""

from __future__ import annotations

from service.types import Chunks


def passage_texts(text: str, chunks: Chunks, title: str | None) -> list[str]:
    """Return one text per child chunk, in the order of ``chunks.children``.

    Args:
        text: the extracted text that the spans refer to.
        title: the document's title; ``None`` leaves title and heading path out.
    """
    paths = {parent.ordinal: parent.heading_path for parent in chunks.parents}
    result = []
    for child in chunks.children:
        content = text[child.start : child.end]
        path = [] if title is None else _without_repeats([title, *paths[child.parent]])
        lines = [" > ".join(path), child.embedding_prefix, content]
        result.append("\n".join(line for line in lines if line))
    return result


def _without_repeats(path: list[str]) -> list[str]:
    """A document's first heading usually is its title: name it once."""
    return [part for position, part in enumerate(path) if part and part not in path[:position]]
