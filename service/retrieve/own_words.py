"""Synonyms and ignored words: what a collection changes in the text of the fts leg, without a new index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from service.config.collection import Synonyms
from service.query_terms import normalise

_ENDS_IN_WORD = re.compile(r"[a-z0-9]$")
_BEGINS_IN_WORD = re.compile(r"^[a-z0-9]")


def with_own_words(query: str, synonyms: Iterable[Synonyms], ignore_words: Sequence[str]) -> str:
    """Return the query with the synonyms of its words behind it and without the words to ignore.

    Words are compared as searches see them (width, case, traditional characters do not matter); Latin words and
    numbers only whole. A synonym of a synonym is not looked for.
    """
    asked = normalise(query)
    added = dict[str, None]()
    for group in synonyms:
        if any(_is_in(normalise(word), asked) for word in group.of or group.words):
            added.update(dict.fromkeys(word for word in group.words if not _is_in(normalise(word), asked)))
    ignored = sorted({normalise(word) for word in ignore_words}, key=lambda word: (-len(word), word))
    ignored = [word for word in ignored if _is_in(word, asked)]
    if ignored:
        # the longest first, so that a shorter one inside it is not cut out of it
        query = re.sub("|".join(map(_pattern, ignored)), " ", asked)
    return " ".join([query, *added])


def _is_in(word: str, text: str) -> bool:
    return word in text and re.search(_pattern(word), text) is not None


def _pattern(word: str) -> str:
    before = "(?<![a-z0-9])" if _BEGINS_IN_WORD.search(word) else ""
    after = "(?![a-z0-9])" if _ENDS_IN_WORD.search(word) else ""
    return f"{before}{re.escape(word)}{after}"
