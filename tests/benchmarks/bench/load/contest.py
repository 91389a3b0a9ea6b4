"""A library that is served, and the two programs that ask it: by REST and by its SQL functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.bench.data.homes import Stored, write_queries
from tests.benchmarks.bench.data.library import Asked
from tests.benchmarks.bench.load.served import Served, served
from tests.benchmarks.bench.load.subject import Contestant, Subject, subject
from tests.benchmarks.bench.options import Bench

_LOAD = "tests.benchmarks.bench.load."


@dataclass(frozen=True, slots=True)
class Contest:
    """Both ask the questions of the same files."""

    service: Served
    http: Subject
    sql: Subject
    queries: Path
    vectors: Path

    def rest(self, **body: Any) -> Contestant:
        """`POST /v1/search` with these fields beside the query."""
        return Contestant(self.http, {"body": body})

    def statement(self, what: str, **more: Any) -> Contestant:
        """`hybrid`, `vector` or `words` by psycopg."""
        return Contestant(self.sql, {"what": what, **more})


@contextmanager
def contest(
    bench: Bench, store: Stored, asked: Asked, *, database: str | None = None, home: Path | None = None
) -> Iterator[Contest]:
    """Serve a library, or a copy of its ``database``, and let the service embed all questions once."""
    with ExitStack() as stack:
        queries, vectors = write_queries(bench.folder, asked)
        settings = {} if database is None else {"FUZI_DATABASE__URL": database}
        service = stack.enter_context(served(home or store.home, bench.log, settings))
        files = {"queries": str(queries), "vectors": str(vectors)}
        http = subject(f"{_LOAD}http_load", log=bench.log, host=service.host, port=service.port, **files)
        sql = subject(f"{_LOAD}sql_load", log=bench.log, dsn=database or store.dsn, **files)
        found = Contest(service, stack.enter_context(http), stack.enter_context(sql), queries, vectors)
        bench.tell(f"warming up the service of {store.chunks:,} chunks")
        found.http.ask(do="all")  # afterwards it has the vectors of all questions at hand
        yield found
