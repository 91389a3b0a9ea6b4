"""Query text for the fts leg: words without punctuation."""

from __future__ import annotations

import re
import unicodedata

# jieba keeps punctuation as tokens (ENGINE_FACTS), so 「？」 would match every question: only letters, digits and marks
# pass. A sign that belongs to a Latin word or number passes too, since jieba keeps it there: AX-200, v2.3, C++, C#, 3%.
_SIGN_IN_WORD = re.compile(r"(?<=[A-Za-z0-9])(?:[+#&._%\-@/](?=[A-Za-z0-9])|\+\+|[#+%](?![A-Za-z0-9]))")


def fts_query_text(query: str) -> str:
    """Return the query in NFKC with every punctuation mark, symbol and control character as a blank.

    Signs inside Latin words and numbers stay. The result is empty when the query has no letter and no digit.
    """
    text = unicodedata.normalize("NFKC", query)
    kept = {position for match in _SIGN_IN_WORD.finditer(text) for position in range(*match.span())}
    words = (c if i in kept or unicodedata.category(c)[0] in "LNM" else " " for i, c in enumerate(text))
    return " ".join("".join(words).split())
