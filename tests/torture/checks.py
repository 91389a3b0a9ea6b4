"""What must hold once everything is quiet. Each check returns sentences that say what is wrong; none is good."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from service.config import SplitSettings
from service.split import split
from service.types.extracted import extracted_of
from tests.torture.clients.contents import Content
from tests.torture.clients.ledger import ABSENT, Ledger, State

type Rows = list[dict[str, Any]]

UNFINISHED: dict[str, LiteralString] = {
    "jobs that go on": """
        select id, document_id, source, status, attempts, heartbeat_at, error_code, error_message
        from rag.job where finished_at is null
    """,
    "entries in the queue": """
        select id, status, lock, attempts, scheduled_at, worker_id, args
        from queue.procrastinate_jobs where status in ('todo', 'doing')
    """,
    "documents that wait for an upload": """
        select id, source, status, pending_key from rag.document
        where pending_key is not null or status not in ('ready', 'ready_with_warnings', 'failed')
    """,
    "originals to be deleted": "select * from rag.original_removal",
    "BM25 indexes without their sentinel": """
        select name from unnest(array['child_chunk_bm25', 'parent_chunk_bm25']) as name
        where name not in (select index_name from rag.bm25_sentinel)
    """,
}

_CHUNKS: dict[str, LiteralString] = {
    "parent chunks that are not their text": """
        select p.document_id, p.ordinal from rag.parent_chunk as p join rag.document as d on d.id = p.document_id
        where substr(d.text, start_offset + 1, end_offset - start_offset) is distinct from content
    """,
    "child chunks that are not their text": """
        select c.document_id, c.ordinal from rag.child_chunk as c join rag.document as d on d.id = c.document_id
        where substr(d.text, start_offset + 1, end_offset - start_offset) is distinct from content
    """,
    "child chunks outside their parent": """
        select c.document_id, c.ordinal from rag.child_chunk as c join rag.parent_chunk as p on p.id = c.parent_id
        where c.document_id <> p.document_id or c.start_offset < p.start_offset or c.end_offset > p.end_offset
    """,
    "chunks doubled or with gaps": """
        select document_id, kind, count(*) from (
            select document_id, 'parent' as kind, ordinal from rag.parent_chunk
            union all
            select document_id, 'child', ordinal from rag.child_chunk
        ) as chunk
        group by document_id, kind
        having count(*) <> count(distinct ordinal) or max(ordinal) <> count(*) - 1 or min(ordinal) <> 0
    """,
    "chunks of documents that are not ready, or ready ones without": """
        select d.id, d.source, d.status from rag.document as d
        where (d.status in ('ready', 'ready_with_warnings'))
            <> exists (select from rag.child_chunk as c where c.document_id = d.id)
    """,
    "BM25 indexes that lack rows or have too many": """
        select * from (
            select 'child', (select count(*) from rag.child_chunk) as table_rows,
                (select count(*) from rag.child_chunk where id @@@ pdb.all()) as indexed_rows
            union all
            select 'parent', (select count(*) from rag.parent_chunk),
                (select count(*) from rag.parent_chunk where id @@@ pdb.all())
        ) as counted where table_rows <> indexed_rows
    """,
}

_DOCUMENTS: LiteralString = """
    select id, source, status, sha256, text, text_format, media_type, blocks, pages, error_code, object_key,
        (select max(c.id) from rag.child_chunk as c where c.document_id = d.id) as newest_chunk
    from rag.document as d
"""
_DEAD_LETTERS: LiteralString = "select object_key from rag.job where status = 'failed'"


class Checker:
    """Looks at the database and the folder of originals of one run."""

    def __init__(self, ledger: Ledger, written: Sequence[Content], originals: Path) -> None:
        self._ledger, self._written, self.originals = ledger, written, originals
        self._split_before: dict[UUID, int] = {}
        self._hashes: list[bytes] = []

    def unfinished(self, connection: psycopg.Connection[Any]) -> list[str]:
        """What still goes on."""
        return _found(connection, UNFINISHED)

    def chunks(self, connection: psycopg.Connection[Any], *, completely: bool) -> list[str]:
        """Spans, ordinals, counts of the indexes; and the chunks of changed (or all) texts are those of a new split."""
        wrong = _found(connection, _CHUNKS)
        for row in _rows(connection, _DOCUMENTS + " where text is not null"):
            if completely or self._split_before.get(row["id"]) != row["newest_chunk"]:
                wrong += _wrongly_split(connection, row)
                self._split_before[row["id"]] = row["newest_chunk"]
        return wrong

    def documents(self, connection: psycopg.Connection[Any]) -> tuple[list[str], dict[str, State]]:
        """Every source stands where it may, with the bytes, the text and the original of that version."""
        wrong, found = [], {}
        rows = {row["source"]: row for row in _rows(connection, _DOCUMENTS)}
        wrong += [f"nobody uploaded {source}" for source in rows.keys() - self._ledger.sources.keys()]
        for source in self._ledger.sources.values():
            row = rows.get(source.name)
            state = ABSENT if row is None else self._state(row)
            if state is None or state not in source.possible:
                expected = " or ".join(sorted(map(str, source.possible)))
                wrong.append(f"{source.name} is {state or _short(row)}, not {expected}")
            found[source.name] = state or ABSENT
            if row is not None and row["id"] in self._ledger.deleted:
                wrong.append(f"{source.name}: the deleted document {row['id']} is there")
        # failed replacements keep their original for a retry
        dead_letters = {row["object_key"] for row in _rows(connection, _DEAD_LETTERS)}
        return wrong + self._wrong_originals(rows, dead_letters), found

    def _state(self, row: Mapping[str, Any]) -> State | None:
        """Which version a row holds; None when it holds none of them as it was uploaded."""
        if row["status"] == "failed":
            return State(None, row["error_code"])
        content = self._content_of(row["sha256"])
        if content is None or row["text"].strip() != content.text.strip():
            return None
        return State(content.key, row["error_code"])

    def _content_of(self, sha256: bytes) -> Content | None:
        for content in self._written[len(self._hashes) :]:
            self._hashes.append(hashlib.sha256(content.data).digest())
        return self._written[self._hashes.index(sha256)] if sha256 in self._hashes else None

    def _wrong_originals(self, rows: Mapping[str, Mapping[str, Any]], dead_letters: set[str]) -> list[str]:
        """Originals that are missing, hold something else, or that nothing refers to: call it after the sweep."""
        wrong = []
        kept = {row["object_key"]: row for row in rows.values() if row["object_key"] is not None}
        there = {str(path.relative_to(self.originals)): path for path in (self.originals / "rag").rglob("*")}
        files = {key: path for key, path in there.items() if path.is_file()}
        wrong += [f"an orphan original: {key}" for key in sorted(files.keys() - kept.keys() - dead_letters)]
        for key, row in kept.items():
            if key not in files:
                wrong.append(f"{row['source']}: its original {key} is missing")
            elif hashlib.sha256(files[key].read_bytes()).digest() != row["sha256"]:
                wrong.append(f"{row['source']}: its original {key} holds something else")
        return wrong


def _found(connection: psycopg.Connection[Any], queries: Mapping[str, LiteralString]) -> list[str]:
    found = []
    for what, query in queries.items():
        rows = _rows(connection, query)
        if rows:
            found.append(f"{what}: {len(rows)}, such as {[_short(row) for row in rows[:3]]}")
    return found


def _rows(connection: psycopg.Connection[Any], query: LiteralString) -> Rows:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query).fetchall()


def _short(row: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: str(value)[:60] for name, value in (row or {}).items()}


def _wrongly_split(connection: psycopg.Connection[Any], row: Mapping[str, Any]) -> Iterable[str]:
    kept = ("text", "media_type", "blocks", "pages")
    extracted = extracted_of({**{name: row[name] for name in kept}, "format": row["text_format"]})
    chunks = split(extracted, SplitSettings())
    spans: list[tuple[str, Callable[[], list[tuple[int, int]]]]] = [
        ("parent_chunk", lambda: [(chunk.start, chunk.end) for chunk in chunks.parents]),
        ("child_chunk", lambda: [(chunk.start, chunk.end) for chunk in chunks.children]),
    ]
    for table, expected in spans:
        query = psycopg.sql.SQL(
            "select start_offset, end_offset from rag.{} where document_id = %s order by ordinal"
        ).format(psycopg.sql.Identifier(table))
        stored = connection.execute(query, [row["id"]]).fetchall()
        if stored != expected():
            yield f"{row['source']}: {len(stored)} rows in {table}, a new split makes {len(expected())} others"
