"""A real HTTP server on loopback that answers, and misbehaves, as scripted.

Requests take their behaviour from ``rule`` if it returns one, else from the script, else they get the ``usual`` one.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self


@dataclass(frozen=True)
class Request:
    """What arrived; ``at`` is ``time.monotonic()``."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float

    @property
    def texts(self) -> list[str]:
        """What an embedding request wants embedded."""
        given = self.body["input"]
        return [given] if isinstance(given, str) else given


class Behaviour(Protocol):
    def act(self, handler: Handler, request: Request) -> None: ...


@dataclass(frozen=True)
class Answer:
    """Any status, headers and body (a string is sent as it is, anything else as JSON)."""

    status: int = 200
    body: Any = field(default_factory=lambda: {"error": {"message": "scripted"}})
    headers: Mapping[str, str] = field(default_factory=dict)

    def act(self, handler: Handler, request: Request) -> None:
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        handler.answer(self.status, text.encode(), self.headers)


@dataclass(frozen=True)
class Slow:
    """``then``, or what is usual, after ``seconds``."""

    seconds: float
    then: Behaviour | None = None

    def act(self, handler: Handler, request: Request) -> None:
        handler.owner.closing.wait(self.seconds)
        (self.then or handler.owner.usual).act(handler, request)


class Hang:
    """Takes the request and never answers."""

    def act(self, handler: Handler, request: Request) -> None:
        handler.owner.closing.wait()
        handler.close_connection = True


class Trickle:
    """Sends headers, then one byte of the body now and then, for ever."""

    def act(self, handler: Handler, request: Request) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while not handler.owner.closing.wait(0.02):
            handler.wfile.write(b" ")


@dataclass(frozen=True)
class Cut:
    """Drops the connection: before any answer, or after half of the body."""

    half_way: bool = False

    def act(self, handler: Handler, request: Request) -> None:
        if self.half_way:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"data": [{"index": 0, "embedd')
            handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True


class Handler(BaseHTTPRequestHandler):
    """Serves one connection."""

    protocol_version = "HTTP/1.1"
    server: _Server

    @property
    def owner(self) -> ScriptedServer:
        return self.server.owner

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length))
        request = Request(self.path, dict(self.headers.items()), body, time.monotonic())
        self.owner.take(request).act(self, request)

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden method
        """Silence."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up on a hanging server is no news."""


class ScriptedServer:
    """The server; threads of its own, so synchronous tests and other processes may use it too."""

    def __init__(self, usual: Behaviour) -> None:
        self.usual = usual
        self.rule: Callable[[Request], Behaviour | None] = lambda _request: None
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._script: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Base URL with a version path; Ollama and TEI take ``root``."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *behaviours: Behaviour) -> None:
        """Behaviours of the next requests, one each."""
        self._script.extend(behaviours)

    def take(self, request: Request) -> Behaviour:
        """Records a request and decides how it is treated."""
        with self._lock:
            self.requests.append(request)
            ruled = self.rule(request)
            if ruled is not None:
                return ruled
            return self._script.popleft() if self._script else self.usual

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
