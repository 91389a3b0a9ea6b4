"""Synonyms and ignored words: what a collection changes in the text of the fts leg, without a new index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.config.collection import Synonyms
from service.query_terms import normalise

_ENDS_IN_WORD = re.compile(r"[a-z0-9]$")
_BEGINS_IN_WORD = re.compile(r"^[a-z0-9]")


@dataclass(frozen=True, slots=True)
class OwnWords:
    """The words of one collection, normalised once for all searches.

    ``synonyms`` are groups: words that ask for the group (normalised), and its words as they are written, each with its
    normalised form. ``ignored`` are normalised.
    """

    synonyms: tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...]
    ignored: frozenset[str]


def own_words(synonyms: Iterable[Synonyms], ignore_words: Iterable[str]) -> OwnWords:
    """Prepare the words of a collection."""
    groups = tuple(
        (tuple(map(normalise, group.of or group.words)), tuple((word, normalise(word)) for word in group.words))
        for group in synonyms
    )
    return OwnWords(groups, frozenset(map(normalise, ignore_words)))


def with_own_words(query: str, of_collections: Sequence[OwnWords]) -> str:
    """Return the query with the synonyms of its words behind it and without the words to ignore.

    Words are compared as searches see them (width, case, traditional characters do not matter); Latin words and
    numbers only whole. A synonym of a synonym is not looked for. The synonyms of all collections hold; a word is
    ignored when all of them ignore it.
    """
    asked = normalise(query)
    added = dict[str, None]()
    for own in of_collections:
        for asked_by, words in own.synonyms:
            if any(_is_in(word, asked) for word in asked_by):
                added.update(dict.fromkeys(written for written, word in words if not _is_in(word, asked)))
    everywhere = frozenset.intersection(*(own.ignored for own in of_collections)) if of_collections else frozenset()
    ignored = [word for word in everywhere if _is_in(word, asked)]
    if ignored:
        # the longest first, so that a shorter one inside it is not cut out of it
        ignored.sort(key=lambda word: (-len(word), word))
        query = re.sub("|".join(map(_pattern, ignored)), " ", asked)
    return " ".join([query, *added])


def _is_in(word: str, text: str) -> bool:
    return word in text and re.search(_pattern(word), text) is not None


def _pattern(word: str) -> str:
    before = "(?<![a-z0-9])" if _BEGINS_IN_WORD.search(word) else ""
    after = "(?![a-z0-9])" if _ENDS_IN_WORD.search(word) else ""
    return f"{before}{re.escape(word)}{after}"
