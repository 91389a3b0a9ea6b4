"""A database as analysts meet it: a few documents, a failed one, a duplicate, some logged searches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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
    connection.execute(
        """
        insert into rag.search_log (query, parameters, timings_ms, result_chunk_ids, warnings)
        select '报销期限', '{"top_n": 5}', jsonb_build_object('embed_ms', n, 'retrieve_ms', 2 * n),
            array[gen_random_uuid()], '[]'
        from generate_series(1, 3) as n
        """
    )
