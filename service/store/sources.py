"""Sources: the caller's names of documents, in one spelling."""

from __future__ import annotations

import unicodedata

from service.errors import InvalidInput

LONGEST_SOURCE = 1024
# that of the table: a longer one would not fit a B-tree entry, and 1,024 Han characters have 3,072 bytes
LONGEST_SOURCE_BYTES = 2000


def normalise_source(source: str) -> str:
    r"""Return the one spelling of a source: NFC, ``/`` as separator, no empty, ``.`` or ``..`` segments.

    ``..`` takes the segment before it away but never climbs above the root, so a source
    can be shown as a path without ever being one.

    Raises:
        InvalidInput: nothing is left, the source is too long, or it holds control characters.
    """
    text = unicodedata.normalize("NFC", source).replace("\\", "/")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in text):
        raise InvalidInput("source must not contain control characters")
    segments: list[str] = []
    for segment in (part.strip() for part in text.split("/")):
        if segment == "..":
            del segments[-1:]
        elif segment not in {"", "."}:
            segments.append(segment)
    if not segments:
        raise InvalidInput("source must not be empty; give the document a name such as 'manuals/pump.pdf'")
    normal = "/".join(segments)
    if len(normal) > LONGEST_SOURCE:
        raise InvalidInput(f"source has {len(normal)} characters, the limit is {LONGEST_SOURCE}")
    size = len(normal.encode("utf-8"))
    if size > LONGEST_SOURCE_BYTES:
        raise InvalidInput(f"source has {size} bytes in UTF-8, the limit is {LONGEST_SOURCE_BYTES}")
    return normal
