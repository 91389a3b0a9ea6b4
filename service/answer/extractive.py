"""An answer without a chat model: the sentences of the passages that share most with the question, as they stand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from service.query_terms import normalise, terms
from service.types import Citation, NumberedPassage, Span

type SentencesOf = Callable[[str], Sequence[Span]]

_MOST_SENTENCES = 3
_LEAST_SHARE = 0.4
"""A sentence worth less than this part of the best one is left out."""
_RANK_DISCOUNT = 0.15
_IN_BEST_HIT = 1.25
_TO_THE_NEXT = 0.35
"""What a sentence counts goes to the one behind it by this part: 每三个月更换一次滤芯。更换前先切断电源。"""
_HAS_A_NUMBER = 1.5
_QUESTIONS = ("?", "？", "吗", "呢")
_ASKS_FOR_A_NUMBER = re.compile(
    r"多少|几|多[长久大高重远快]|何时|什么时候|哪[年月日天]|\b(?:how (?:many|much|long)|when)\b"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(slots=True)
class _Sentence:
    passage: NumberedPassage
    start: int
    end: int
    text: str
    terms: frozenset[str]
    worth: float = 0.0


def best_sentences(
    question: str, passages: Sequence[NumberedPassage], sentences_of: SentencesOf
) -> tuple[str, tuple[Citation, ...]]:
    """Return the best sentences, a line each with its number, and their citations in the same order.

    A sentence counts the rarer the terms are that it shares with the question; headings and questions lend what they
    count to the sentence behind them, other sentences a part. A question for a number prefers sentences that have one
    of their own. Where nothing is shared (the meaning found it, not the words), the best hit of
    the first passage begins the answer.

    Args:
        sentences_of: spans of the sentences of a text, in order.
    """
    sentences = [sentence for passage in passages for sentence in _cut(passage, sentences_of)]
    _weigh(sentences, normalise(question))
    chosen = _choose(sentences) or _begin(sentences)
    lines, citations, at = list[str](), list[Citation](), 0
    for sentence in chosen:
        mark = f" [{sentence.passage.number}]"
        lines.append(sentence.text + mark)
        at += len(sentence.text)
        mention = (at + 1, at + len(mark))
        passage = sentence.passage
        citations.append(Citation(passage.number, passage.passage, sentence.start, sentence.end, (mention,)))
        at += len(mark) + 1
    return "\n".join(lines), tuple(citations)


def _cut(passage: NumberedPassage, sentences_of: SentencesOf) -> list[_Sentence]:
    content = passage.content
    return [
        _Sentence(
            passage,
            passage.start + start,
            passage.start + end,
            content[start:end],
            frozenset(terms(content[start:end])),
        )
        for start, end in sentences_of(content)
    ]


def _weigh(sentences: Sequence[_Sentence], question: str) -> None:
    asked, numbers = frozenset(terms(question)), set(_NUMBER.findall(question))
    wants_number = _ASKS_FOR_A_NUMBER.search(question) is not None
    frequency = Counter(term for sentence in sentences for term in sentence.terms & asked)
    lent, lender = 0.0, None
    for sentence in sentences:
        # in a fixed order: sums of floats hang on it, and sets of texts have none
        shared = sorted(sentence.terms & asked)
        worth = sum(math.log(1 + len(sentences) / frequency[term]) for term in shared)
        if lender is not sentence.passage:
            lent, lender = 0.0, sentence.passage
        if _is_heading(sentence) or sentence.text.rstrip("”」\"' ").endswith(_QUESTIONS):
            lent = max(lent, worth)
            continue
        worth, lent = worth + lent, _TO_THE_NEXT * worth
        if wants_number and set(_NUMBER.findall(normalise(sentence.text))) - numbers:
            worth *= _HAS_A_NUMBER
        hits = sentence.passage.passage.hits[:1]
        if any(hit.start <= sentence.start and sentence.end <= hit.end for hit in hits):
            worth *= _IN_BEST_HIT
        sentence.worth = worth / (1 + _RANK_DISCOUNT * (sentence.passage.number - 1))


def _choose(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    chosen, seen = list[_Sentence](), set[str]()
    ranked = sorted(sentences, key=lambda sentence: (-sentence.worth, sentence.passage.number, sentence.start))
    for sentence in ranked:
        same = normalise(sentence.text)
        if sentence.worth <= 0 or sentence.worth < _LEAST_SHARE * ranked[0].worth or len(chosen) == _MOST_SENTENCES:
            break
        if same not in seen:
            seen.add(same)
            chosen.append(sentence)
    return sorted(chosen, key=lambda sentence: (sentence.passage.number, sentence.start))


def _begin(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    for sentence in sentences:
        hits = sentence.passage.passage.hits[:1]
        if not _is_heading(sentence) and all(hit.start <= sentence.start for hit in hits):
            return [sentence]
    return list(sentences[:1])


def _is_heading(sentence: _Sentence) -> bool:
    bare, passage = sentence.text.lstrip("#").strip(), sentence.passage.passage
    return bare != sentence.text or bare in passage.heading_path or bare == passage.title
