"""The demo's questions: one for each way in which a passage is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question with what a right answer looks like.

    Attributes:
        nature: ``vector``: the BM25 leg returns no chunk of the right passage. ``fts``: BM25 ranks the right chunk
            first, the vector leg does not have it among its first five. ``both``: each leg has the chunk that carries
            the right passage among its first five.
        source: the document that answers.
        phrase: stands in the passage that answers, and nowhere else in the documents.
        reason: why it is found the way it is, for the reader of the demo.
    """

    query: str
    nature: Literal["vector", "fts", "both"]
    source: str
    phrase: str
    reason: str


QUESTIONS = (
    DemoQuestion(
        query="去外省过夜，旅馆花销封顶几百块？",
        nature="vector",
        source="员工差旅报销制度.docx",
        phrase="其他直辖市和省会城市：420 元",
        reason="A paraphrase. None of its words stands in any document: BM25 finds nothing, vectors find the meaning.",
    ),
    DemoQuestion(
        query="QX88431",
        nature="fts",
        source="安全操作规程.pdf",
        phrase="QX88431",
        reason="A part number. To the embedding model it looks like any other code; BM25 finds the very word.",
    ),
    DemoQuestion(
        query="推料轴报 E27，同步带张力应该是多少？",
        nature="both",
        source="设备手册.md",
        phrase="标准值为 95～110 Hz，低于 85 Hz 应当张紧",
        reason="A question with an alarm code in it. Both legs find the place, and together they put it first.",
    ),
)
