"""What the demo prints of a passage."""

from __future__ import annotations

from io import StringIO
from uuid import UUID

import pytest
from rich.console import Console

from service.demo.questions import DemoQuestion
from service.demo.show import excerpt, show_answer, show_documents
from service.types import (
    Candidate,
    DocumentStatus,
    Hit,
    IngestOutcome,
    IngestResult,
    Notice,
    Passage,
    SearchResult,
)

ID = UUID(int=1)


def passage(content: str, *, hit: tuple[int, int], start: int = 1000, fts_rank: int | None = None) -> Passage:
    candidate = Candidate(1, 1, 1, 0.1, fts_rank, None if fts_rank is None else 3.0, 1.25)
    return Passage(
        chunk_id=ID,
        parent_id=1,
        document_id=ID,
        collection="demo",
        source="制度.docx",
        title="制度",
        media_type="application/pdf",
        metadata={},
        content=content,
        start=start,
        end=start + len(content),
        heading_path=("第三章 住宿",),
        first_page=None,
        last_page=None,
        rrf_score=1.25,
        hits=(Hit(ID, start + hit[0], start + hit[1], candidate),),
        rank_before_rerank=1,
    )


def marked(content: str, phrase: str, hit: tuple[int, int] = (0, 1)) -> tuple[str, str]:
    """The excerpt, and the part of it that is marked."""
    text = excerpt(passage(content, hit=hit), phrase)
    (span,) = [span for span in text.spans if "bold" in str(span.style)]
    return text.plain, text.plain[span.start : span.end]


def test_a_short_passage_is_shown_whole() -> None:
    assert marked("第一句。住宿费 420 元。第三句。", "420 元") == ("第一句。住宿费 420 元。第三句。", "420 元")


def test_a_long_passage_is_cut_at_sentences_around_the_phrase() -> None:
    content = "甲" * 200 + "。前一句。住宿费 420 元。后一句。" + "乙" * 200 + "。"
    assert marked(content, "420 元") == ("前一句。住宿费 420 元。后一句。", "420 元")


def test_without_sentence_ends_the_window_is_cut_hard() -> None:
    content = "甲" * 200 + "420 元" + "乙" * 200
    plain, part = marked(content, "420 元")
    assert part == "420 元"
    assert plain == "甲" * 80 + "420 元" + "乙" * 80


def test_the_best_hit_is_marked_when_the_phrase_is_elsewhere() -> None:
    assert marked("第一句。第二句。", "别处", hit=(4, 8)) == ("第一句。第二句。", "第二句。")


@pytest.mark.parametrize(("fts_rank", "shown"), [(None, "–"), (7, "7")])
def test_an_answer_shows_both_ranks_and_what_was_missing(fts_rank: int | None, shown: str) -> None:
    console = Console(file=StringIO(), width=120)
    question = DemoQuestion("多少钱？", "vector", "制度.docx", "420 元", "A reason.")
    found = passage("住宿费 420 元。", hit=(0, 10), fts_rank=fts_rank)
    result = SearchResult((found,), {"total_ms": 12.4}, (Notice("rerank_unavailable", "no answer"),))
    show_answer(console, 2, question, result)
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "2  多少钱？"
    (row,) = [line for line in lines if "制度.docx" in line]
    assert row.split() == ["1", "制度.docx", "第三章", "住宿", "1", shown, "1.250"]
    assert "   住宿费 420 元。" in lines
    assert "rerank_unavailable: no answer" in lines


def test_nothing_found_is_no_crash() -> None:
    console = Console(file=StringIO(), width=120)
    question = DemoQuestion("多少钱？", "vector", "制度.docx", "420 元", "A reason.")
    show_answer(console, 1, question, SearchResult((), {"total_ms": 1.0}, ()))
    assert "1  多少钱？" in console.file.getvalue()


def test_documents_are_counted() -> None:
    console = Console(file=StringIO(), width=120)
    results = [
        IngestResult(ID, f"{number}.md", "demo", IngestOutcome.CREATED, DocumentStatus.READY, 2, 5) for number in "甲乙"
    ]
    show_documents(console, results, 1.25)
    assert "2 documents, 10 child chunks" in console.file.getvalue()
