"""What is sent of passages, and how it is shared out over calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.heading_line import heading_line
from service.types import Passage


def document_text(passage: Passage, longest: int, *, heading_context: bool) -> str:
    """Content, optionally below a line with title and heading path; at most ``longest`` characters."""
    line = heading_line(passage.title, passage.heading_path) if heading_context else ""
    return sendable(f"{line}\n{passage.content}" if line else passage.content, longest)


def sendable(text: str, longest: int) -> str:
    """At most ``longest`` characters, as they can be sent: an unpaired surrogate has no UTF-8."""
    return text[:longest].encode("utf-8", "replace").decode()


def calls(query: str, documents: Sequence[str], most: int, largest: int) -> Iterator[range]:
    """Share documents out over calls, as positions in their order; at least one a call.

    Args:
        most: documents a call.
        largest: characters a call, where the query counts once a document.
    """
    start, characters = 0, 0
    for position, document in enumerate(documents):
        pair = len(query) + len(document)
        if position > start and (position - start >= most or characters + pair > largest):
            yield range(start, position)
            start, characters = position, 0
        characters += pair
    if documents:
        yield range(start, len(documents))
