"""The views of schema analytics: what they say, and that their columns stay."""

from __future__ import annotations

from datetime import date
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from service.db.sql_files import shipped_folder

_VIEWS = sorted(file.name.partition(".")[0] for file in (shipped_folder("sql") / "analytics").iterdir())
_CONTRACT = {
    "child_chunks": "chunk_id parent_chunk_id document_id collection source file_name extension title ordinal total"
    " heading_path first_page last_page start_offset end_offset start_in_parent characters content",
    "chunk_size_statistics": "collection kind chunks documents shortest p05 median p95 longest average characters",
    "documents": "document_id collection source file_name extension title media_type size_bytes status error_code"
    " error_message warning_count characters page_count parent_count child_count metadata extractor extractor_version"
    " splitter_version created_at updated_at",
    "duplicates": "alike copies collections sources document_ids spare_bytes first_created_at last_created_at",
    "embeddings": "chunk_id document_id collection source ordinal provider model dimension activated_at"
    " embedding_prefix",
    "feedback": "judged_at verdict comment search_id query chunk_id rank collection source document_id content"
    " is_logged searched_at",
    "ingestion_funnel": "collection accepted waiting waiting_again extracting splitting embedding storing ready"
    " with_warnings failed failed_by_code cancelled oldest_waiting_since oldest_waiting_seconds",
    "jobs": "job_id document_id collection source file_name size_bytes stage outcome attempts accepted_at started_at"
    " finished_at waiting_seconds running_seconds fetch_seconds extract_seconds split_seconds embed_seconds"
    " store_seconds lease_age_seconds child_count done_count embedded_count reused_count failed_stage error_code"
    " error_message cancel_requested is_dead_letter",
    "parent_chunks": "chunk_id document_id collection source file_name extension title ordinal total heading_path"
    " first_page last_page start_offset end_offset characters token_estimate child_count content",
    "searches_per_day": "day searches queries without_result with_warnings median_ms p95_ms",
    "slow_queries": "query searches median_ms p95_ms slowest_ms slowest_step slowest_at",
    "zero_result_queries": "query searches without_result first_searched_at last_searched_at last_parameters",
}


def _rows(dsn: str, query: str) -> list[dict[str, Any]]:
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        return connection.execute(query).fetchall()  # type: ignore[arg-type]


def test_columns_are_a_contract(database: str) -> None:
    rows = _rows(
        database,
        "select c.relname as view, string_agg(a.attname, ' ' order by a.attnum) as columns"
        " from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0"
        " where c.relnamespace = 'analytics'::regnamespace group by c.relname",
    )
    assert {row["view"]: row["columns"] for row in rows} == _CONTRACT


@pytest.mark.parametrize("view", _VIEWS)
def test_views_work_on_an_empty_database(database: str, view: str) -> None:
    assert _rows(database, f"select * from analytics.{view}") == []


def test_documents_have_a_file_name_and_an_extension(filled: str) -> None:
    rows = _rows(filled, "select source, file_name, extension, child_count from analytics.documents order by source")
    assert [(row["source"], row["file_name"], row["extension"], row["child_count"]) for row in rows] == [
        ("扫描.pdf", "扫描.pdf", "pdf", 0),
        ("法务/合同管理.md", "合同管理.md", "md", 3),
        ("财务/报销制度.pdf", "报销制度.pdf", "pdf", 3),
        ("财务/预算-副本.xlsx", "预算-副本.xlsx", "xlsx", 2),
        ("财务/预算.xlsx", "预算.xlsx", "xlsx", 2),
    ]


@pytest.mark.parametrize(
    ("file_name", "extension"),
    [("a.PDF", "pdf"), ("a.tar.gz", "gz"), (".profile", None), ("README", None), ("a.", None), ("制度.文档", "文档")],
)
def test_an_extension_is_what_follows_the_last_dot(database: str, file_name: str, extension: str | None) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("insert into rag.collection (name) values ('c')")
        connection.execute(
            "insert into rag.document (collection_id, source, file_name, media_type, size_bytes, sha256)"
            " select id, 's', %s, 'text/plain', 1, '\\x00' from rag.collection",
            [file_name],
        )
        row = connection.execute("select extension from analytics.documents").fetchone()
    assert row == (extension,)


def test_chunks_know_their_place_among_all_of_their_document(filled: str) -> None:
    rows = _rows(
        filled,
        "select ordinal, total, extension, content from analytics.child_chunks"
        " where source = '财务/报销制度.pdf' order by ordinal",
    )
    assert [(row["ordinal"], row["total"], row["extension"]) for row in rows] == [(n, 3, "pdf") for n in range(3)]
    parents = _rows(
        filled,
        "select p.ordinal, p.total, p.child_count, array_agg(h.ordinal order by h.ordinal) as children,"
        " bool_and(substr(p.content, h.start_in_parent + 1, h.characters) = h.content) as proven"
        " from analytics.parent_chunks as p join analytics.child_chunks as h on h.parent_chunk_id = p.chunk_id"
        " where p.source = '财务/报销制度.pdf' group by 1, 2, 3 order by 1",
    )
    assert [tuple(row.values()) for row in parents] == [(0, 2, 2, [0, 1], True), (1, 2, 1, [2], True)]


def test_embeddings_name_their_model_and_hold_no_vector(filled: str) -> None:
    rows = _rows(filled, "select * from analytics.embeddings")
    assert len(rows) == 10
    assert {(row["provider"], row["model"], row["dimension"]) for row in rows} == {
        ("local", "multilingual-e5-small", 384)
    }


def test_duplicates_are_alike_in_bytes_or_in_text(filled: str) -> None:
    rows = _rows(filled, "select alike, copies, collections, sources, spare_bytes from analytics.duplicates")
    size = len("年度预算在十一月编制。\n部门预算由财务汇总。".encode())
    assert [tuple(row.values()) for row in rows] == [
        ("file", 2, ["default", "archive"], ["财务/预算.xlsx", "财务/预算-副本.xlsx"], size)
    ]


def test_the_same_text_in_other_bytes_is_a_duplicate_too(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("insert into rag.collection (name) values ('c')")
        connection.execute(
            "insert into rag.document (collection_id, source, file_name, media_type, size_bytes, sha256, text_sha256)"
            " select c.id, s, s, 'text/plain', n, int4send(n), int4send(7)"
            " from rag.collection as c, (values ('a.pdf', 10), ('a.docx', 20)) as d (s, n)"
        )
        rows = connection.execute("select alike, sources, spare_bytes from analytics.duplicates").fetchall()
    assert len(rows) == 1
    assert (rows[0][0], sorted(rows[0][1]), rows[0][2]) == ("text", ["a.docx", "a.pdf"], 10)


def test_chunk_sizes_are_measured_by_kind(filled: str) -> None:
    rows = {
        (row["collection"], row["kind"]): row for row in _rows(filled, "select * from analytics.chunk_size_statistics")
    }
    assert set(rows) == {(name, kind) for name in ("default", "archive") for kind in ("parent", "child")}
    texts = ["年度预算在十一月编制。", "部门预算由财务汇总。"]
    child = rows["archive", "child"]
    assert (child["chunks"], child["documents"], child["shortest"], child["longest"]) == (2, 1, 10, 11)
    assert (child["characters"], float(child["average"])) == (sum(map(len, texts)), 10.5)
    assert rows["archive", "parent"]["longest"] == len("\n".join(texts))


def test_searches_are_counted_by_day_in_utc(filled: str) -> None:
    rows = _rows(filled, "select * from analytics.searches_per_day order by day")
    assert [tuple(row.values()) for row in rows] == [
        (date(2026, 1, 2), 3, 1, 0, 0, 6.0, 9.0),
        (date(2026, 1, 3), 1, 1, 1, 0, 9.0, 9.0),
    ]


def test_queries_that_found_nothing_and_slow_ones(filled: str) -> None:
    nothing = _rows(
        filled, "select query, searches, without_result, last_parameters from analytics.zero_result_queries"
    )
    assert [tuple(row.values()) for row in nothing] == [("火星移民", 1, 1, {"collections": ["default"]})]
    slow = _rows(filled, "select * from analytics.slow_queries order by query")
    assert [(r["query"], r["searches"], r["median_ms"], r["slowest_ms"], r["slowest_step"]) for r in slow] == [
        ("报销期限", 3, 6.0, 9.0, "retrieve_ms"),
        ("火星移民", 1, 9.0, 9.0, "embed_ms"),
    ]


def test_a_query_that_found_something_since_is_no_zero_result(database: str) -> None:
    insert = "insert into rag.search_log (query, searched_at, result_chunk_ids) values ('q', %s, %s)"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(insert, ["2026-01-01Z", []])
        assert connection.execute("select count(*) from analytics.zero_result_queries").fetchone() == (1,)
        connection.execute(
            "insert into rag.search_log (query, result_chunk_ids) values ('q', array[gen_random_uuid()])"
        )
        assert connection.execute("select count(*) from analytics.zero_result_queries").fetchone() == (0,)


def test_feedback_is_shown_with_its_search(filled: str) -> None:
    rows = _rows(
        filled, "select verdict, query, rank, source, is_logged, content from analytics.feedback order by rank"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("good", "报销期限", 1, "财务/报销制度.pdf", True, "差旅报销须在十日内提交。\n发票抬头写公司全称。"),
        ("bad", "发票抬头", None, "财务/报销制度.pdf", False, "超过五千元由总监批准。"),
    ]


def test_jobs_and_the_funnel_are_those_of_the_operators(filled: str) -> None:
    for view, same in (("jobs", "jobs_overview"), ("ingestion_funnel", "ingestion_funnel")):
        steady = "select * from {} order by 1"
        ours, theirs = (_rows(filled, steady.format(name)) for name in (f"analytics.{view}", f"rag.{same}"))
        running = {"waiting_seconds", "running_seconds", "lease_age_seconds", "oldest_waiting_seconds"}
        assert [{k: v for k, v in row.items() if k not in running} for row in ours] == [
            {k: v for k, v in row.items() if k not in running} for row in theirs
        ]
        assert ours
