"""Questions that people asked, answered by the passages that they called good."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from service.errors import InvalidInput
from service.evaluate.read.records import Question, notice_about
from service.store.judgements import JudgedPassage
from service.types import Notice


def judged_questions(
    passages: Sequence[JudgedPassage], unknown: int
) -> tuple[tuple[Question, ...], tuple[Notice, ...]]:
    """One question a query text: what was called good more often than bad answers it, wherever its pieces stand now.

    The same query has the same id in every evaluation, so that results can be compared.

    Args:
        unknown: verdicts whose query nobody knows; a notice tells of them.

    Raises:
        InvalidInput: nothing was called good.
    """
    by_query: dict[str, list[JudgedPassage]] = {}
    for passage in passages:
        by_query.setdefault(passage.query, []).append(passage)
    questions, without, gone = [], list[str](), list[str]()
    for query, judged in by_query.items():
        good = [passage for passage in judged if passage.good > passage.bad]
        stored = [passage for passage in good if passage.is_stored]
        gone += [f"{passage.source} ({query})" for passage in good if not passage.is_stored]
        if not stored:
            without.append(query)
            continue
        sources = dict.fromkeys(passage.source for passage in stored)
        answers = dict.fromkeys(piece for passage in stored for piece in passage.pieces)
        questions.append(Question(question_id(query), query, tuple(sources), tuple(answers)))
    notices = []
    if unknown:
        notices.append(Notice("unknown_queries", f"{unknown} verdicts were left out: their search was not logged"))
    if gone:
        notices.append(notice_about("documents_gone", "good passages are of documents that are not stored", gone))
    if without:
        notices.append(notice_about("no_good_passage", "queries without a good passage were left out", without))
    if not questions:
        told = "".join(f"; {notice.message}" for notice in notices)
        raise InvalidInput(f"no feedback calls a stored passage good, so there is nothing to ask{told}")
    return tuple(questions), tuple(notices)


def question_id(query: str) -> str:
    """Id of the question with this text."""
    return "feedback-" + hashlib.sha256(query.encode()).hexdigest()[:12]
