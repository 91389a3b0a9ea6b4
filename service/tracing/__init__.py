"""Spans of requests, searches, jobs and calls to others, for OpenTelemetry. Off unless the settings name a collector.

While it is off nothing of OpenTelemetry is imported, and a span costs a function call.
"""

from service.tracing.spans import ids, outgoing, span

__all__ = ["ids", "outgoing", "span"]
