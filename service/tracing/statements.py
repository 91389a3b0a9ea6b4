"""Spans of what is asked of PostgreSQL, below the span that asks; a connection without any has psycopg's own cursor."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Self

import psycopg

from service.tracing.spans import NO_SPAN, Span, ids, is_on, span

_OPERATION = re.compile(r"[a-z]+", re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_TARGET = re.compile(r"\b(?:rag|queue|analytics)\.[a-z_0-9]+")
_NAMELESS = "statement"


def trace_statements(connection: psycopg.AsyncConnection[Any]) -> None:
    """Give each statement of a connection a span, if this process is traced."""
    if is_on():
        connection.cursor_factory = _TracedCursor


def name_of(statement: str) -> str:
    """Operation and first object of our schemas that a statement names: ``select rag.hybrid_search``.

    Nothing else of it is told: what stands in a statement may be somebody's words, or a secret.
    """
    bare = _COMMENT.sub(" ", statement).replace('"', "").strip()
    operation, target = _OPERATION.match(bare), _TARGET.search(bare)
    words = [operation[0].lower() if operation else _NAMELESS, *([target[0]] if target else [])]
    return " ".join(words)


def statement_span(query: Any) -> AbstractContextManager[Span]:
    """Open the span of a statement in any form that psycopg takes, for cursors that are not the connection's own."""
    # what looks after the database in the background begins no traces
    if not ids():
        return NO_SPAN
    name = name_of(_text(query))
    attributes = {"db.system.name": "postgresql", "db.query.summary": name}
    return span(name, attributes, kind="client")


def _text(query: Any) -> str:
    if isinstance(query, bytes):
        return query.decode(errors="replace")
    return query.as_string() if isinstance(query, psycopg.sql.Composable) else str(query)


class _TracedCursor(psycopg.AsyncCursor[Any]):
    """Waiting for the rows is in the span of a statement, reading them is not; of a COPY the whole copying."""

    async def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        with statement_span(query):
            return await super().execute(query, params, **options)

    async def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        with statement_span(query):
            await super().executemany(query, params_seq, **options)

    @asynccontextmanager
    async def copy(self, statement: Any, params: Any = None, **options: Any) -> AsyncIterator[psycopg.AsyncCopy]:
        with statement_span(statement):
            async with super().copy(statement, params, **options) as copying:
                yield copying
