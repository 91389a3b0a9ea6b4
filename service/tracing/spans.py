"""What the rest of the service sees of tracing: open a span, hand the trace on, name it in a log line.

Like the logs, tracing belongs to the process: whoever starts it enters `service.tracing.exporting.tracing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal, Protocol

type Kind = Literal["internal", "server", "client", "consumer"]
type Attributes = Mapping[str, str | int | float | bool]


class Span(Protocol):
    """A span that is open."""

    def note(self, attributes: Attributes) -> None:
        """Add attributes, or change them."""

    def rename(self, name: str) -> None:
        """Give it a better name, when that is known later."""

    def fail(self, reason: str) -> None:
        """Mark it as failed; ``reason`` is a stable code, never a text that may hold somebody's words."""


class Tracer(Protocol):
    """Makes spans and sends them away; nothing here raises on account of the collector, or waits for it."""

    def span(
        self, name: str, attributes: Attributes, kind: Kind, carrier: Mapping[str, str] | None
    ) -> AbstractContextManager[Span]:
        """See `span`."""

    def ids(self) -> dict[str, str]:
        """See `ids`."""

    def headers(self) -> dict[str, str]:
        """``traceparent`` and its like, of the span that is open."""


class _Nothing:
    """A span while tracing is off."""

    def note(self, attributes: Attributes) -> None:
        pass

    def rename(self, name: str) -> None:
        pass

    def fail(self, reason: str) -> None:
        pass


NOTHING: Span = _Nothing()
NO_SPAN: AbstractContextManager[Span] = nullcontext(NOTHING)
_NO_ATTRIBUTES: Attributes = {}
_tracers: list[Tracer] = []
"""At most one: that of this process."""


def span(
    name: str,
    attributes: Attributes = _NO_ATTRIBUTES,
    *,
    kind: Kind = "internal",
    carrier: Mapping[str, str] | None = None,
) -> AbstractContextManager[Span]:
    """Open a span below the one that is open here; an exception that passes through marks it as failed.

    Args:
        carrier: headers of a request; their ``traceparent`` is the span above instead. Without one a trace begins.
    """
    return _tracers[-1].span(name, attributes, kind, carrier) if _tracers else NO_SPAN


@contextmanager
def outgoing(method: str, host: str) -> Iterator[tuple[Span, dict[str, str]]]:
    """Open a span around a call to another service; yields it and the headers that hand the trace on."""
    attributes = {"http.request.method": method, "server.address": host}
    with span(f"{method} {host}", attributes, kind="client") as own:
        yield own, _tracers[-1].headers() if _tracers else {}


def is_on() -> bool:
    """Whether this process is traced."""
    return bool(_tracers)


def ids() -> dict[str, str]:
    """``trace_id`` and ``span_id`` in hexadecimal digits of the span that is open here; empty without one."""
    return _tracers[-1].ids() if _tracers else {}


@contextmanager
def using(tracer: Tracer) -> Iterator[None]:
    """Send the spans of this process to ``tracer`` while the block runs."""
    _tracers.append(tracer)
    try:
        yield
    finally:
        _tracers.remove(tracer)
