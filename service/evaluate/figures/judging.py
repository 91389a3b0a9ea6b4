"""Which passages answer a question."""

from __future__ import annotations

from collections.abc import Sequence

from service.evaluate.read.records import Question


def squeezed(text: str) -> str:
    """A text without any white space: a splitter may join or trim lines."""
    return "".join(text.split())


class Judge:
    """Judges passages for one question; see `Question` for the rule.

    Without answers the document is what was asked for, so of its passages only the first one shown counts.
    """

    def __init__(self, question: Question) -> None:
        self._documents = frozenset(question.documents)
        self._answers = tuple(squeezed(answer) for answer in question.answers)

    def counts(self, source: str, content: str) -> bool:
        """Whether a passage of the document ``source`` answers the question."""
        if self._documents and source not in self._documents:
            return False
        return not self._answers or self.contains_answer(squeezed(content))

    def contains_answer(self, squeezed_content: str) -> bool:
        """Whether a text without white space contains one of the answers."""
        return any(answer in squeezed_content for answer in self._answers)

    def credit(self, passages: Sequence[tuple[str, str]]) -> list[bool]:
        """Judge passages (source and content) in their order of rank."""
        shown: set[str] = set()
        flags = []
        for source, content in passages:
            is_first = bool(self._answers) or source not in shown
            flags.append(is_first and self.counts(source, content))
            shown.add(source)
        return flags
