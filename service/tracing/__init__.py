"""Spans of requests, searches, jobs, statements and calls to others, for OpenTelemetry.

Off unless the settings name a collector. While it is off nothing of OpenTelemetry is imported, a span costs a
function call, and a statement nothing.
"""

from service.tracing.spans import ids, outgoing, span

__all__ = ["ids", "outgoing", "span"]
