"""Every text of the console, once in each language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from service.web.words.chinese import CHINESE
from service.web.words.english import ENGLISH
from service.web.words.evaluations import WORDS as EVALUATIONS
from service.web.words.problems import told
from service.web.words.reasons import in_chinese

type Language = Literal["en", "zh"]
type Say = Callable[..., str]
"""Called with a key, and with the values that its text has places for."""


def _catalogue(plain: dict[str, str], column: int) -> dict[str, str]:
    return plain | {key: texts[column] for key, texts in EVALUATIONS.items()} | told(column)


CATALOGUES: dict[Language, dict[str, str]] = {"en": _catalogue(ENGLISH, 0), "zh": _catalogue(CHINESE, 1)}


def speaker(language: Language) -> Say:
    """Return what says the texts of a language.

    A text may be two, ``one|many``: the first is for ``n == 1``.
    """
    catalogue = CATALOGUES[language]

    def say(key: str, /, **values: Any) -> str:
        one, _, many = catalogue[key].partition("|")
        return (many if many and values["n"] != 1 else one).format_map(values)

    return say


def has_words(key: str) -> bool:
    """True when there is a text of this key, for keys that are made of codes."""
    return key in CATALOGUES["en"]


def reason(language: Language, words: str) -> str:
    """A reason of the local reranker in this language; one that is not known stays as it is."""
    return words if language == "en" else in_chinese(words)
