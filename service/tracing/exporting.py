"""Spans by the OpenTelemetry SDK, sent to a collector by OTLP over HTTP in a thread of their own."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from service.config import TracingSettings
from service.errors import FuziError, Misconfigured
from service.tracing.spans import Attributes, Kind, Span, using

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span as OpenSpan

_TRACES = "/v1/traces"
_SEND_SECONDS = 5.0
"""Also what a collector that hangs can hold up the end of the process."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@contextmanager
def tracing(settings: TracingSettings) -> Iterator[None]:
    """Send the spans of this process away while the block runs, if the settings say where; the last ones at its end.

    A collector that is away costs spans, never a request.

    Raises:
        Misconfigured: the packages of OpenTelemetry are not installed.
    """
    if settings.endpoint is None:
        yield
        return
    try:
        provider = _provider(settings)
    except ImportError as error:
        raise Misconfigured(
            f"FUZI_TRACING__ENDPOINT is set, but {error.name} is not installed: pip install 'fuzi[otel]'"
        ) from error
    try:
        with using(OpenTelemetryTracer(provider)):
            yield
    finally:
        provider.shutdown()


class OpenTelemetryTracer:
    """A `Tracer` over the SDK."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        self._tracer = provider.get_tracer("fuzi", version("fuzi"))
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(self, name: str, attributes: Attributes, kind: Kind, carrier: Mapping[str, str] | None) -> Iterator[Span]:
        """See `Tracer`."""
        from opentelemetry.context import Context  # noqa: PLC0415
        from opentelemetry.trace import SpanKind  # noqa: PLC0415

        above = None if carrier is None else self._propagator.extract(carrier, context=Context())
        with self._tracer.start_as_current_span(
            name,
            context=above,
            kind=SpanKind[kind.upper()],
            attributes=dict(attributes),
            # their messages may hold what a person wrote
            record_exception=False,
            set_status_on_exception=False,
        ) as own:
            opened = _Open(own)
            try:
                yield opened
            except BaseException as error:
                opened.fail(error.code if isinstance(error, FuziError) else type(error).__name__)
                raise

    def ids(self) -> dict[str, str]:
        """See `Tracer`."""
        from opentelemetry.trace import format_span_id, format_trace_id, get_current_span  # noqa: PLC0415

        context = get_current_span().get_span_context()
        if not context.is_valid:
            return {}
        return {"trace_id": format_trace_id(context.trace_id), "span_id": format_span_id(context.span_id)}

    def headers(self) -> dict[str, str]:
        """See `Tracer`."""
        headers: dict[str, str] = {}
        self._propagator.inject(headers)
        return headers


class _Open:
    def __init__(self, span: OpenSpan) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        self._span.set_attributes(dict(attributes))

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, reason: str) -> None:
        from opentelemetry.trace import StatusCode  # noqa: PLC0415

        self._span.set_attribute("error.type", reason)
        self._span.set_status(StatusCode.ERROR)


def _provider(settings: TracingSettings) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased  # noqa: PLC0415

    resource = Resource.create(
        {
            "service.name": settings.service_name,
            "service.version": version("fuzi"),
            "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
        }
    )
    provider = TracerProvider(
        resource=resource,
        sampler=ParentBased(TraceIdRatioBased(settings.sample_share)),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(BatchSpanProcessor(_exporter(settings)))
    return provider


def _exporter(settings: TracingSettings) -> SpanExporter:
    import requests  # noqa: PLC0415
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

    endpoint = (settings.endpoint or "").rstrip("/").removesuffix(_TRACES)
    session = requests.Session()
    # A proxy of the environment cannot reach this machine's loopback.
    session.trust_env = urlsplit(endpoint).hostname not in _LOOPBACK
    return OTLPSpanExporter(endpoint + _TRACES, timeout=_SEND_SECONDS, session=session)
