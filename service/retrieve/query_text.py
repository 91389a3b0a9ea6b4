"""Query text for the fts leg: words without punctuation, no more of them than help."""

from __future__ import annotations

import re
import unicodedata

# Signs that belong to a Latin word or number stay, since jieba keeps them there: AX-200, v2.3, C++, C#, 3%.
_SIGN_IN_WORD = re.compile(r"(?<=[A-Za-z0-9])(?:[+#&._%\-@/](?=[A-Za-z0-9])|\+\+|[#+%](?![A-Za-z0-9]))")

MOST_CHARACTERS = 240
"""Of a longer query the beginning and the end are looked for. Each further word costs the index time (4,400 characters
took 7 s at 100,000 chunks, where a question of 20 took 30 ms), and the embedding models read no more either."""
_OF_THE_END = 80


def fts_query_text(query: str) -> str:
    """Return the query in NFKC with every punctuation mark, symbol and control character as a blank.

    Signs inside Latin words and numbers stay. Parts between blanks that come again are left out of long queries, and
    what is still longer than `MOST_CHARACTERS` loses its middle. The result is empty when the query has no letter and
    no digit.
    """
    text = unicodedata.normalize("NFKC", query)
    kept = {position for match in _SIGN_IN_WORD.finditer(text) for position in range(*match.span())}
    words = "".join(c if i in kept or unicodedata.category(c)[0] in "LNM" else " " for i, c in enumerate(text)).split()
    joined = " ".join(words)
    if len(joined) <= MOST_CHARACTERS:
        return joined
    joined = " ".join(dict.fromkeys(words))
    if len(joined) <= MOST_CHARACTERS:
        return joined
    return f"{joined[: MOST_CHARACTERS - _OF_THE_END]} {joined[-_OF_THE_END:]}"
