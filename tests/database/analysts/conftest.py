"""A database as analysts meet it: documents, a failed one, a duplicate, jobs of every kind, logged searches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from psycopg import sql

from tests.conftest import Databases
from tests.database.chunk_rows import Child, Connection, collection, document, random_vector, search_connection

_TEXTS = {
    "财务/报销制度.pdf": ["差旅报销须在十日内提交。", "发票抬头写公司全称。", "超过五千元由总监批准。"],
    "财务/预算.xlsx": ["年度预算在十一月编制。", "部门预算由财务汇总。"],
    "法务/合同管理.md": ["合同由法务部统一保管。", "合同到期前三十日提醒。", "报销与合同一并归档。"],
}


@pytest.fixture(scope="module")
def filled(databases: Databases) -> Iterator[str]:
    """URL of the database; tests of a module share it and only read."""
    with databases.fresh() as dsn:
        with search_connection(dsn) as connection:
            _fill(connection)
        yield dsn


def _fill(connection: Connection) -> None:
    into = collection(connection, "default")
    seed = 0
    for source, texts in _TEXTS.items():
        children = []
        for text in texts:
            seed += 1
            children.append(Child(text, random_vector(seed)))
        department = source.partition("/")[0]
        document(
            connection,
            into,
            source,
            [children[:2], children[2:]] if children[2:] else [children],
            metadata=f'{{"department": "{department}"}}',
        )
    copy = [Child(text, random_vector(n)) for n, text in enumerate(_TEXTS["财务/预算.xlsx"])]
    document(connection, collection(connection, "archive"), "财务/预算-副本.xlsx", [copy])
    connection.execute(
        """
        insert into rag.document
            (collection_id, source, file_name, media_type, size_bytes, sha256, status, error_code, error_message)
        values (%s, '扫描.pdf', '扫描.pdf', 'application/pdf', 4096, '\\x00', 'failed', 'no_text', 'no text in it')
        """,
        [into],
    )
    _jobs(connection, into)
    _searches(connection, into)


def _searches(connection: Connection, into: int) -> None:
    """Logged searches: three of everything, one of ``default`` that found nothing; and what people thought of them."""
    connection.execute(
        """
        insert into rag.search_log (searched_at, query, parameters, timings_ms, result_chunk_ids, search_id)
        select '2026-01-02 10:00Z'::timestamptz + n * interval '1 minute', '报销期限', '{"collections": null}'::jsonb,
            jsonb_build_object('embed_ms', n, 'retrieve_ms', 2 * n, 'total_ms', 3 * n),
            array(select chunk_id from rag.parent_chunk order by id limit 2),
            ('00000000-0000-4000-8000-00000000000' || n)::uuid
        from generate_series(1, 3) as n
        union all
        select '2026-01-03 23:30Z', '火星移民', '{"collections": ["default"]}', '{"embed_ms": 8, "total_ms": 9}',
            '{}'::uuid[], '00000000-0000-4000-8000-000000000009'
        """
    )
    connection.execute(
        """
        insert into rag.feedback
            (search_id, chunk_id, verdict, comment, query, collection_id, document_id, source, content)
        select case p.ordinal when 0 then '00000000-0000-4000-8000-000000000001'::uuid else gen_random_uuid() end,
            p.chunk_id, case p.ordinal when 0 then 'good' else 'bad' end, '来自财务部',
            case p.ordinal when 1 then '发票抬头' end, %s, d.id, d.source, p.content
        from rag.parent_chunk as p
        join rag.document as d on d.id = p.document_id
        where d.source = '财务/报销制度.pdf'
        """,
        [into],
    )
    connection.execute(
        "insert into rag.analyst_collection (role_name, collection_id) values ('some_group', %s)", [into]
    )


_TIMINGS = '{"fetch_ms": 5, "extract_ms": 1500, "split_ms": 20, "embed_ms": 30250, "store_ms": 400}'
# source, status, attempts, seconds since begin, since sign of life, since end, then what else is known
_JOBS: list[tuple[str, str, int, int | None, int | None, int | None, dict[str, object]]] = [
    ("完成.md", "ready", 1, 90, 70, 60, {"embedded_count": 5, "reused_count": 3, "timings_ms": _TIMINGS}),
    ("警告.pdf", "ready_with_warnings", 1, 9, None, 8, {}),
    ("等待.md", "received", 0, None, None, None, {}),
    ("在做.md", "embedding", 2, 40, 7, None, {"failed_stage": "embed", "error_code": "embedder_unavailable"}),
    ("再等.md", "received", 1, 50, None, None, {"failed_stage": "embed", "error_code": "embedder_unavailable"}),
    ("扫描.pdf", "failed", 1, 95, None, 94, {"failed_stage": "extract", "error_code": "no_text"}),
    ("密码.pdf", "failed", 1, 95, None, 93, {"failed_stage": "extract", "error_code": "encrypted"}),
    ("不要.md", "cancelled", 0, None, None, 80, {"error_code": "job_cancelled"}),
]


def _jobs(connection: Connection, collection_id: int) -> None:
    """Jobs of every kind, all accepted 100 seconds ago."""
    insert = sql.SQL(
        """
        insert into rag.job
            (id, document_id, collection_id, source, file_name, object_key, size_bytes, sha256, status, attempts,
             created_at, started_at, heartbeat_at, finished_at {more})
        values (gen_random_uuid(), gen_random_uuid(), %s, %s, 'f', 'k', 100, '\\x00', %s, %s,
            now() - interval '100 s', now() - %s * interval '1 s', now() - %s * interval '1 s',
            now() - %s * interval '1 s' {values})
        """
    )
    for *fixed, more in _JOBS:
        names, values = sql.SQL("").join([sql.SQL(", ") + sql.Identifier(name) for name in more]), ", %s" * len(more)
        statement = insert.format(more=names, values=sql.SQL(values))  # type: ignore[arg-type]
        connection.execute(statement, [collection_id, *fixed, *more.values()])
