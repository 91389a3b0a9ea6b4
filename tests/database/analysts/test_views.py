"""The views say what is so."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from service.db.models import BM25_INDEXES
from tests.database.chunk_rows import Child, collection, document, search_connection


def _rows(dsn: str, query: str) -> list[dict[str, Any]]:
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        return connection.execute(query).fetchall()  # type: ignore[arg-type]


def test_documents_overview_counts_and_measures(filled: str) -> None:
    rows = _rows(filled, "select * from rag.documents_overview order by created_at, source")
    by_source = {row["source"]: row for row in rows}
    assert len(rows) == 5
    good = by_source["财务/报销制度.pdf"]
    text = "差旅报销须在十日内提交。\n发票抬头写公司全称。\n超过五千元由总监批准。"
    assert (good["collection"], good["status"], good["error_code"]) == ("default", "ready", None)
    assert (good["characters"], good["size_bytes"]) == (len(text), len(text.encode()))
    assert (good["parent_count"], good["child_count"], good["page_count"]) == (2, 3, None)
    assert good["metadata"] == {"department": "财务"}
    failed = by_source["扫描.pdf"]
    assert (failed["status"], failed["error_code"], failed["characters"]) == ("failed", "no_text", None)
    assert (failed["parent_count"], failed["child_count"]) == (0, 0)


def test_chunk_views_tell_where_a_chunk_comes_from(filled: str) -> None:
    parents = _rows(
        filled, "select * from rag.parent_chunks_overview where source = '财务/报销制度.pdf' order by ordinal"
    )
    children = _rows(
        filled, "select * from rag.child_chunks_overview where source = '财务/报销制度.pdf' order by ordinal"
    )
    assert [(row["ordinal"], row["child_count"], row["characters"]) for row in parents] == [(0, 2, 23), (1, 1, 11)]
    assert [row["parent_id"] for row in children] == [parents[0]["parent_id"]] * 2 + [parents[1]["parent_id"]]
    assert [row["parent_chunk_id"] for row in children] == [parents[0]["chunk_id"]] * 2 + [parents[1]["chunk_id"]]
    texts = {row["parent_id"]: row["content"] for row in parents}
    for row in children:
        start = row["start_in_parent"]
        assert texts[row["parent_id"]][start : start + row["characters"]] == row["content"]
    assert "embedding" not in children[0]


def test_index_health_of_whole_indexes(filled: str) -> None:
    rows = {row["index_name"]: row for row in _rows(filled, "select * from rag.index_health")}
    assert set(rows) == {*BM25_INDEXES, "child_chunk_embedding_hnsw"}
    assert all(row["is_whole"] and row["missing_rows"] in (0, None) for row in rows.values())
    assert (rows["child_chunk_bm25"]["table_rows"], rows["child_chunk_bm25"]["indexed_rows"]) == (10, 10)
    assert rows["child_chunk_bm25"]["segment_count"] >= 1
    assert rows["child_chunk_bm25"]["sentinel_written_at"] is not None
    hnsw = rows["child_chunk_embedding_hnsw"]
    assert (hnsw["method"], hnsw["indexed_rows"], hnsw["table_rows"]) == ("hnsw", None, 10)


def test_index_health_without_its_sentinel_is_not_whole(database: str) -> None:
    with search_connection(database) as connection:
        document(connection, collection(connection, "c"), "s", [[Child("甲")]])
        connection.execute("delete from rag.bm25_sentinel where index_name = 'child_chunk_bm25'")
    rows = {row["index_name"]: row["is_whole"] for row in _rows(database, "select * from rag.index_health")}
    assert rows == {"child_chunk_bm25": False, "parent_chunk_bm25": True, "child_chunk_embedding_hnsw": True}


def test_index_health_sees_rows_that_an_index_lacks(database: str) -> None:
    """What a crash does, done by hand: rows that the index was never told of."""
    with search_connection(database) as connection:
        into = collection(connection, "c")
        document(connection, into, "s", [[Child("甲")]])
        connection.execute("update pg_index set indisready = false where indexrelid = 'rag.child_chunk_bm25'::regclass")
        document(connection, into, "t", [[Child("乙"), Child("丙")]])
        connection.execute("update pg_index set indisready = true where indexrelid = 'rag.child_chunk_bm25'::regclass")
        (row,) = _rows(database, "select * from rag.index_health where index_name = 'child_chunk_bm25'")
        assert (row["table_rows"], row["indexed_rows"], row["missing_rows"], row["is_whole"]) == (3, 1, 2, False)
        connection.execute("reindex index concurrently rag.child_chunk_bm25")
        (row,) = _rows(database, "select * from rag.index_health where index_name = 'child_chunk_bm25'")
        assert (row["indexed_rows"], row["missing_rows"], row["is_whole"]) == (3, 0, True)


@pytest.mark.parametrize(
    "view",
    [
        "documents_overview",
        "parent_chunks_overview",
        "child_chunks_overview",
        "index_health",
        "jobs_overview",
        "ingestion_funnel",
    ],
)
def test_views_work_on_an_empty_database(database: str, view: str) -> None:
    rows = _rows(database, f"select * from rag.{view}")
    assert (rows == []) == (view != "index_health")


def test_jobs_overview_tells_where_the_time_went(filled: str) -> None:
    jobs = {row["source"]: row for row in _rows(filled, "select * from rag.jobs_overview")}
    done, at_work, waits, dead = (jobs[name] for name in ("完成.md", "在做.md", "等待.md", "扫描.pdf"))
    assert [float(done[f"{stage}_seconds"]) for stage in ("fetch", "extract", "split", "embed", "store")] == [
        0.005,
        1.5,
        0.02,
        30.25,
        0.4,
    ]
    assert (float(done["waiting_seconds"]), float(done["running_seconds"])) == (10, 30)
    assert (done["embedded_count"], done["reused_count"], done["lease_age_seconds"]) == (5, 3, None)
    assert (at_work["stage"], at_work["attempts"], at_work["error_code"]) == ("embedding", 2, "embedder_unavailable")
    assert (float(at_work["waiting_seconds"]), at_work["finished_at"]) == (60, None)
    assert 7 <= at_work["lease_age_seconds"] < at_work["running_seconds"]
    assert (waits["lease_age_seconds"], waits["running_seconds"], waits["attempts"]) == (None, None, 0)
    assert waits["waiting_seconds"] >= 100
    assert (dead["is_dead_letter"], dead["error_code"], dead["failed_stage"]) == (True, "no_text", "extract")
    assert {name for name, row in jobs.items() if row["is_dead_letter"]} == {"扫描.pdf", "密码.pdf"}


def test_ingestion_funnel_counts_every_job_once(filled: str) -> None:
    funnel = {row["collection"]: row for row in _rows(filled, "select * from rag.ingestion_funnel")}
    assert set(funnel) == {"default", "archive"}
    row = funnel["default"]
    assert row["failed_by_code"] == {"no_text": 1, "encrypted": 1}
    places = ("waiting", "extracting", "splitting", "embedding", "storing", "ready", "failed", "cancelled")
    assert {place: row[place] for place in places if row[place]} == {
        "waiting": 2,
        "embedding": 1,
        "ready": 2,
        "failed": 2,
        "cancelled": 1,
    }
    assert sum(row[place] for place in places) == row["accepted"] == 8
    assert (row["waiting_again"], row["with_warnings"]) == (1, 1)
    assert row["oldest_waiting_seconds"] >= 100
    assert (funnel["archive"]["accepted"], funnel["archive"]["oldest_waiting_seconds"]) == (0, None)
    assert funnel["archive"]["failed_by_code"] == {}


@pytest.mark.parametrize("view", ["jobs_overview", "ingestion_funnel"])
def test_every_column_of_the_job_views_is_described(database: str, view: str) -> None:
    columns = _rows(
        database,
        "select attname, col_description(attrelid, attnum) as description from pg_attribute"
        f" where attrelid = 'rag.{view}'::regclass and attnum > 0",
    )
    assert columns
    assert [row["attname"] for row in columns if not row["description"]] == []
