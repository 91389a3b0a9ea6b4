"""The explanation as a person reads it, on narrow and wide terminals."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from service.cli.show.passages import draw_answer
from tests.cli.show.test_passages import CONTENT, passage


def reason(rank: int, **changes: Any) -> dict[str, Any]:
    return {
        "rank": rank,
        "rank_before_rerank": rank,
        "chunk_id": "p",
        "carried_by": {"chunk_id": "c", "start": 107, "end": 120, "excerpt": CONTENT[7:20]},
        "vector_rank": 2,
        "vector_distance": 0.1234,
        "vector_similarity": 0.8766,
        "vector_share": 1.1290,
        "fts_rank": 1,
        "fts_score": 8.5,
        "fts_share": 0.4918,
        "rrf_score": 1.6208,
        "rerank_score": None,
        "rerank_reasons": [],
        "hit_count": 1,
        "sentence": f"{rank}. its best chunk is 2nd by meaning and 1st by words.",
        **changes,
    }


def leg(**changes: Any) -> dict[str, Any]:
    return {"asked": True, "weight": 70, "returned": 50, "access": "exact", "scans": [], "milliseconds": 0.5, **changes}


def explanation(*reasons: dict[str, Any]) -> dict[str, Any]:
    scans = [{"node": "ParadeDB Scan", "index": "child_chunk_bm25", "rows": 23}]
    return {
        "fts_query_text": "住宿费 上限",
        "query_words": ["住宿", "住宿费", "上限"],
        "query_pairs": ["住宿", "宿费", "上限"],
        "embedding_model": "local multilingual-e5-small",
        "embedding_from_memory": True,
        "vector_leg": leg(),
        "fts_leg": leg(access="index", scans=scans, returned=23),
        "eligible_documents": 4,
        "indexes": [
            {"name": "child_chunk_bm25", "method": "bm25", "valid": True},
            {"name": "child_chunk_embedding_hnsw", "method": "hnsw", "valid": False},
        ],
        "settings": [
            {"name": "top_n", "value": 2, "origin": "request", "variable": "FUZI_SEARCH__TOP_N"},
            {"name": "rerank", "value": True, "origin": "service", "variable": None},
            {"name": "min_rerank_score", "value": None, "origin": "service", "variable": None},
        ],
        "passages": list(reasons),
    }


def drawn(width: int, explained: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, highlight=False)
    passages = [passage(rank=each["rank"]) for each in explained["passages"]]
    answer = {
        "passages": passages,
        "timings_ms": {"total_ms": 9.0},
        "warnings": [],
        "completeness": {"eligible_chunks": 40, "vector_returned": 50, "fts_returned": 23, "vector_exact": True},
        "explanation": explained,
    }
    draw_answer(console, answer)
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())


@pytest.mark.parametrize("width", [80, 160])
def test_the_numbers_stand_in_one_line_for_each_passage(width: int) -> None:
    text = drawn(width, explanation(reason(1), reason(2, vector_rank=None, vector_similarity=None, vector_share=0.0)))
    rows = [line.split() for line in text.splitlines() if re.match(r"\d +[\d–]+ ", line)]
    assert rows == [
        ["1", "2", "0.8766", "1.1290", "1", "8.50", "0.4918", "1.6208"],
        ["2", "–", "–", "0.0000", "1", "8.50", "0.4918", "1.6208"],
    ]
    assert "1. its best chunk is 2nd by meaning and 1st by words." in text
    assert "[107:120] 住宿费上限" in text


def test_a_reranked_search_shows_where_a_passage_was_before_and_why_it_moved() -> None:
    text = drawn(80, explanation(reason(1, rank_before_rerank=6, rerank_score=0.75, rerank_reasons=["same title"])))
    assert "reranker same title" in text
    (row,) = [line.split() for line in text.splitlines() if re.match(r"1 +2", line)]
    assert row[-2:] == ["6", "0.7500"]


def test_what_was_asked_and_how_each_leg_looked_is_told_in_words() -> None:
    text = drawn(200, explanation(reason(1)))
    assert "words      住宿 · 住宿费 · 上限" in text
    assert "50 chunks used; every eligible chunk was compared" in text
    assert "embedded by local multilingual-e5-small, its vector was at hand" in text
    assert "23 chunks used; brought by the index; 23 rows from child_chunk_bm25" in text
    assert "4 documents, 40 chunks" in text
    assert "child_chunk_embedding_hnsw (hnsw, NOT VALID)" in text
    assert "of request top_n 2" in text
    assert "of service rerank on, min_rerank_score unset" in text


def test_nothing_found_is_explained_without_a_table() -> None:
    silent = explanation() | {"vector_leg": leg(asked=False), "embedding_model": None, "query_pairs": []}
    text = drawn(80, silent)
    assert "meaning    not asked" in text
    assert "cosine" not in text
    assert "nothing found" in text


def test_no_line_of_the_explanation_is_wider_than_the_terminal() -> None:
    text = drawn(80, explanation(*(reason(rank, rerank_score=-12.3456) for rank in range(1, 12))))
    assert max(cell_len(line) for line in text.splitlines()) <= 80
