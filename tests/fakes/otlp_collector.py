"""A collector of OpenTelemetry on loopback: takes spans by OTLP over HTTP and decodes their protobuf."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status


@dataclass(frozen=True)
class Span:
    """A span that arrived; ids in hexadecimal digits, ``parent_id`` is empty at the top of a trace."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: str
    attributes: dict[str, Any]
    failed: bool
    resource: dict[str, Any]
    seconds: float


class OtlpCollector:
    """The server; ``root`` is what the settings name."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def spans(self) -> list[Span]:
        """All that arrived so far."""
        with self._lock:
            return list(self._spans)

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        with self._lock:
            for of_resource in request.resource_spans:
                resource = _values(of_resource.resource.attributes)
                for of_scope in of_resource.scope_spans:
                    self._spans += [_span(wire, resource) for wire in of_scope.spans]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_ours = self.path == "/v1/traces" and self.headers["Content-Type"] == "application/x-protobuf"
                if is_ours:
                    collector.take(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
                self.send_response(200 if is_ours else 404)
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden method
                """Silence."""

        return Handler


def _span(wire: WireSpan, resource: dict[str, Any]) -> Span:
    return Span(
        trace_id=wire.trace_id.hex(),
        span_id=wire.span_id.hex(),
        parent_id=wire.parent_span_id.hex(),
        name=wire.name,
        kind=WireSpan.SpanKind.Name(wire.kind).removeprefix("SPAN_KIND_").lower(),
        attributes=_values(wire.attributes),
        failed=wire.status.code == Status.STATUS_CODE_ERROR,
        resource=resource,
        seconds=(wire.end_time_unix_nano - wire.start_time_unix_nano) / 1e9,
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in attributes}
