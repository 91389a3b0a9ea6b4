"""Clients of the REST service: HTTP/1.1 on connections that stay open, written by hand to cost little themselves."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.bench.load.drive import drive, speak


class HttpLoad:
    """``open`` takes host, port and the file of queries; ``load`` and ``all`` what is added to each search.

    ``all`` asks every question once. After a refusal a client waits ``pause`` seconds.
    """

    async def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "open":
            self._host, self._port = request["host"], request["port"]
            lines = Path(request["queries"]).read_text(encoding="utf-8").splitlines()
            self._queries = [json.loads(line)["text"] for line in lines]
            self._connections: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
            return {}
        more = request.get("body", {})
        messages = [self._message({"query": text, **more}) for text in self._queries]
        if request["do"] == "all":
            await self._connect(1)
            return await self._all(messages)
        await self._connect(request["clients"])

        async def ask(client: int, number: int) -> str:
            status, head, _ = await self._exchange(client, messages[number % len(messages)])
            if status == 200:
                return "ok"
            await asyncio.sleep(request.get("pause", 0))
            return str(status) if b"retry-after:" in head else f"{status} without Retry-After"

        return await drive(ask, request["clients"], request["seconds"])

    async def _connect(self, clients: int) -> None:
        """Open new ones: the service closes those that were idle for a few seconds."""
        for _, writer in self._connections:
            writer.close()
        self._connections = [await asyncio.open_connection(self._host, self._port) for _ in range(clients)]

    def _message(self, body: dict[str, Any]) -> bytes:
        data = json.dumps(body, ensure_ascii=False).encode()
        head = f"POST /v1/search HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        return head.encode() + f"Content-Length: {len(data)}\r\n\r\n".encode() + data

    async def _all(self, messages: list[bytes]) -> dict[str, Any]:
        """Sources of the passages of each question, best first; medians of the answers' own times, and of ours."""
        sources, times = list[list[str]](), dict[str, list[float]]()
        for message in messages:
            begin = time.perf_counter()
            status, _, body = await self._exchange(0, message)
            milliseconds = (time.perf_counter() - begin) * 1000
            answer = json.loads(body)
            if status != 200:
                raise RuntimeError(f"{status}: {answer}")
            sources.append([passage["source"] for passage in answer["passages"]])
            for step, value in {**answer["timings_ms"], "outside_ms": milliseconds}.items():
                times.setdefault(step, []).append(value)
        return {"sources": sources, "medians": {step: statistics.median(values) for step, values in times.items()}}

    async def _exchange(self, client: int, message: bytes) -> tuple[int, bytes, bytes]:
        """Status, head in small letters, and body."""
        reader, writer = self._connections[client]
        writer.write(message)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        body = await reader.readexactly(length)
        if b"connection: close" in head:
            writer.close()
            self._connections[client] = await asyncio.open_connection(self._host, self._port)
        return int(head.split(b" ", 2)[1]), head, body


if __name__ == "__main__":
    speak(HttpLoad().handle)
