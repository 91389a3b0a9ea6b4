"""What is read: documents, questions and what answers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.types import Notice


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what answers it.

    A passage counts when it comes from one of ``documents`` (any, when empty) and contains one of ``answers`` (the
    document suffices, when empty), white space left aside. At least one of both is given.
    """

    id: str
    text: str
    documents: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetDocument:
    """A document of a data set; ``media_type`` says how its text is read, as Markdown for example."""

    id: str
    title: str
    text: str
    media_type: str = "text/plain"


@dataclass(frozen=True, slots=True)
class DataSet:
    """Documents, and questions that they answer. ``corpus_sha256`` is the fingerprint of the documents."""

    name: str
    documents: tuple[SetDocument, ...]
    questions: tuple[Question, ...]
    corpus_sha256: str
    notices: tuple[Notice, ...] = ()


_EXAMPLES = 3


def notice_about(code: str, what: str, names: Sequence[str]) -> Notice:
    """A notice with how many there are and the first names of them."""
    more = f" and {len(names) - _EXAMPLES} more" if len(names) > _EXAMPLES else ""
    return Notice(code, f"{len(names)} {what}: {', '.join(names[:_EXAMPLES])}{more}")
