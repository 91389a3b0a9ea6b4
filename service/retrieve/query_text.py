"""Query text for the fts leg: words without punctuation."""

from __future__ import annotations

import re
import unicodedata

# jieba keeps punctuation as tokens (ENGINE_FACTS), so 「？」 would match every question. Names such as
# C++, C# and F# lose their meaning without their sign and keep it.
_SIGNED_NAME = re.compile(r"(?<![A-Za-z0-9])([A-Za-z])(\+\+|#)(?![A-Za-z0-9])")
_KEPT_SIGN = {"\ue000": "++", "\ue001": "#"}


def fts_query_text(query: str) -> str:
    """Return the query in NFKC with every punctuation mark, symbol and control character as a blank.

    The result is empty when the query has no letter and no digit.
    """
    text = unicodedata.normalize("NFKC", query).translate({0xE000: " ", 0xE001: " "})
    text = _SIGNED_NAME.sub(lambda match: match[1] + ("\ue000" if match[2] == "++" else "\ue001"), text)
    words = "".join(c if c in _KEPT_SIGN or unicodedata.category(c)[0] in "LNM" else " " for c in text)
    for mark, sign in _KEPT_SIGN.items():
        words = words.replace(mark, sign)
    return " ".join(words.split())
