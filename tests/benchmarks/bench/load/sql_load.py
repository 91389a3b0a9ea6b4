"""The floor: the statement of a search alone, by psycopg, on connections that are open and warm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
import psycopg
from pgvector.psycopg import register_vector_async

from service.config import DatabaseSettings, SearchSettings
from service.db.engine import session_settings
from tests.benchmarks.bench.load.drive import drive, speak

CANDIDATES = 50
STATEMENTS: dict[str, LiteralString] = {
    # what the service asks for: all parents that 50 candidates of each leg can bring
    "hybrid": "select * from rag.hybrid_search(%(text)s, %(vector)s, 100, 50, document_ids => %(documents)s)",
    "vector": "select * from rag.vector_candidates(%(vector)s, 50, null, %(documents)s)",
    "words": "select * from rag.fts_candidates(%(text)s, 50, null, %(documents)s)",
}


class SqlLoad:
    """``open`` takes the URL of the database and the files of queries and vectors; ``load`` what to ask for."""

    async def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "open":
            self._dsn = request["dsn"]
            lines = Path(request["queries"]).read_text(encoding="utf-8").splitlines()
            self._texts = [json.loads(line)["text"] for line in lines]
            self._vectors = np.load(request["vectors"])
            self._connections: list[psycopg.AsyncConnection[Any]] = []
            return {}
        while len(self._connections) < request["clients"]:
            self._connections.append(await self._connect())
        statement = STATEMENTS[request["what"]]
        documents = None if (ids := request.get("documents")) is None else [UUID(each) for each in ids]

        async def ask(client: int, number: int) -> str:
            at = number % len(self._texts)
            values = {"text": self._texts[at], "vector": self._vectors[at], "documents": documents}
            await (await self._connections[client].execute(statement, values)).fetchall()
            return "ok"

        return await drive(ask, request["clients"], request["seconds"])

    async def _connect(self) -> psycopg.AsyncConnection[Any]:
        settings = session_settings(DatabaseSettings(), SearchSettings())
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        connection = await psycopg.AsyncConnection.connect(self._dsn, autocommit=True, options=options)
        await register_vector_async(connection)
        # the first use of the Chinese dictionary in a connection loads it
        await (await connection.execute("select count(*) from rag.fts_candidates('中文', 1)")).fetchall()
        return connection


if __name__ == "__main__":
    speak(SqlLoad().handle)
