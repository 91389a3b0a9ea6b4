from __future__ import annotations

import io
import re
from typing import Any

from rich.console import Console

from service.cli.show.passages import draw_answer, marked, merge

CONTENT = "差旅标准如下。住宿费上限为每晚500元。餐费实报实销。"


def hit(start: int, end: int, **ranks: Any) -> dict[str, Any]:
    absent = {"vector_rank": None, "vector_distance": None, "fts_rank": None, "fts_score": None}
    pages = {"first_page": 3, "last_page": 3}
    return {"chunk_id": "c", "start": start, "end": end, "rrf_score": 0.01, **pages, **absent, **ranks}


def passage(**changes: Any) -> dict[str, Any]:
    return {
        "rank": 1,
        "chunk_id": "p",
        "document_id": "d",
        "collection": "default",
        "source": "制度/差旅.docx",
        "title": "差旅制度",
        "media_type": "text/plain",
        "metadata": {},
        "content": CONTENT,
        "highlights": [[7, 12]],
        "start": 100,
        "end": 100 + len(CONTENT),
        "heading_path": ["差旅制度", "第二章 [标准]"],
        "first_page": 3,
        "last_page": 4,
        "rrf_score": 0.0164,
        "rerank_score": None,
        "hits": [hit(107, 120, vector_rank=2, fts_rank=1)],
        **changes,
    }


def drawn(width: int = 100, *, terminal: bool = False, **changes: Any) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None, highlight=False)
    draw_answer(
        console,
        {
            "passages": [passage(**changes)],
            "timings_ms": {"embed_ms": 7.4, "retrieve_ms": 9.2, "total_ms": 17.1},
            "warnings": [{"code": "fts_unavailable", "message": "only one leg", "page": None}],
            "explanation": None,
        },
    )
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_passage_shows_where_it_is_from_and_both_ranks() -> None:
    text = drawn()
    assert "1  差旅制度 › 第二章 [标准]" in text
    assert "制度/差旅.docx · default · p. 3\n" in text
    assert "vector 2 · BM25 1 · rrf_score 0.0164" in text
    assert "warning fts_unavailable: only one leg" in text
    assert "1 passage in 17 ms (embed 7, retrieve 9)" in text


def test_words_are_marked_where_styles_cannot_be_seen() -> None:
    assert "如下。⟦住宿费上限⟧为每晚500元。餐费" in drawn()
    assert "⟦差旅⟧标准如下。⟦住宿费⟧上限" in drawn(highlights=[[0, 2], [7, 10]])


def test_without_a_word_of_the_query_the_best_hits_of_each_leg_are_marked() -> None:
    hits = [
        hit(107, 120, vector_rank=2, fts_rank=3),
        hit(120, 127, vector_rank=1),
        hit(100, 107, vector_rank=9, fts_rank=8),
    ]
    assert "差旅标准如下。⟦住宿费上限为每晚500元。餐费实报实销。⟧" in drawn(hits=hits, highlights=[])
    spans = marked(passage(hits=hits, highlights=[]), styled=True).spans
    assert [(str(span.style), span.start, span.end) for span in spans] == [("bold green", 7, 27)]


def test_words_are_styled_on_a_terminal_and_the_text_stays_as_it_is() -> None:
    text = marked(passage(), styled=True)
    assert text.plain == CONTENT
    assert [(str(span.style), CONTENT[span.start : span.end]) for span in text.spans] == [
        ("bold underline yellow", "住宿费上限")
    ]
    assert "⟦" not in drawn(terminal=True)


def test_without_colours_a_terminal_still_shows_words() -> None:
    environment = {"NO_COLOR": "1", "TERM": "xterm-256color"}
    console = Console(file=io.StringIO(), width=60, force_terminal=True, _environ=environment)
    console.print(marked(passage(), styled=True))
    assert isinstance(console.file, io.StringIO)
    codes = {code for codes in re.findall(r"\x1b\[([0-9;]*)m", console.file.getvalue()) for code in codes.split(";")}
    assert codes == {"0", "1", "4"}  # bold and underlined, no colour


def test_a_rank_that_is_missing_and_a_page_that_is_unknown() -> None:
    text = drawn(first_page=None, last_page=None, hits=[hit(107, 120, vector_rank=7, first_page=None)])
    assert "vector 7 · BM25 –" in text
    assert "p. " not in text


def test_narrow_terminals_fold_the_passage_and_lose_nothing() -> None:
    text = drawn(width=24, terminal=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    body = [line for line in plain.splitlines() if line.startswith("   ") and "·" not in line]
    assert len(body) > 2
    assert "".join(line.strip() for line in body) == CONTENT


def test_nothing_found_says_so() -> None:
    console = Console(file=io.StringIO(), width=80)
    draw_answer(console, {"passages": [], "timings_ms": {"total_ms": 3.0}, "warnings": [], "explanation": None})
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().strip() == "nothing found in 3 ms"


def test_merge_joins_what_overlaps_or_touches() -> None:
    assert merge([(5, 9), (0, 3), (3, 6), (12, 14)]) == [(0, 9), (12, 14)]
