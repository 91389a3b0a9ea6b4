"""A real HTTP server on loopback that writes answers as an OpenAI-compatible chat model does, and misbehaves as told.

with ChatServer("更换前", "切断电源 [1]。") as server:
    server.script(Stream("一", cut=True))
    ...  # against server.url
    assert question_of(server.requests[0]) == "多久换一次滤芯？"
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes.scripted_server import Handler, Request, ScriptedServer

USAGE = {"prompt_tokens": 120, "completion_tokens": 9, "total_tokens": 129}


@dataclass(frozen=True)
class Stream:
    """Sends deltas, then ends as models do, or otherwise.

    ``pause_seconds`` is the silence before each delta, ``cut`` drops the connection after the last one, ``unended``
    closes it as if all was said, ``error`` is a last event in place of an end, ``piece_bytes`` the size of the writes.
    """

    deltas: Sequence[str]
    pause_seconds: float = 0
    cut: bool = False
    unended: bool = False
    error: Any = None
    finish: str = "stop"
    piece_bytes: int = 0
    content_type: str = "text/event-stream; charset=utf-8"

    def act(self, handler: Handler, request: Request) -> None:
        owner = handler.owner
        assert isinstance(owner, ChatServer)
        handler.send_response(200)
        handler.send_header("Content-Type", self.content_type)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        try:
            self._write_all(handler, request)
        except OSError:
            owner.left += 1

    def _write_all(self, handler: Handler, request: Request) -> None:
        self._write(handler, {"role": "assistant", "content": ""})
        for delta in self.deltas:
            if self.pause_seconds and handler.owner.closing.wait(self.pause_seconds):
                return
            self._write(handler, {"content": delta})
        if self.cut:
            handler.connection.shutdown(socket.SHUT_RDWR)
        elif self.error is not None:
            self._send(handler, json.dumps(self.error))
        elif not self.unended:
            self._write(handler, {}, self.finish)
            if request.body.get("stream_options", {}).get("include_usage"):
                self._send(handler, json.dumps({"choices": [], "usage": USAGE}))
            self._send(handler, "[DONE]")

    def _write(self, handler: Handler, delta: dict[str, str], finish: str | None = None) -> None:
        chunk = {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        self._send(handler, json.dumps(chunk, ensure_ascii=False))

    def _send(self, handler: Handler, data: str) -> None:
        raw = f"data: {data}\n\n".encode("utf-8", "surrogatepass")
        size = self.piece_bytes or len(raw)
        for at in range(0, len(raw), size):
            handler.wfile.write(raw[at : at + size])
            handler.wfile.flush()


class ChatServer(ScriptedServer):
    """Usually says ``deltas``. ``left`` counts streams whose reader went away."""

    def __init__(self, *deltas: str) -> None:
        super().__init__(Stream(deltas))
        self.left = 0


def said(request: Request) -> str:
    """Everything that a request tells the model."""
    return "\n".join(message["content"] for message in request.body["messages"])
