"""Structured logs on standard error, so that standard output stays free for results."""

from __future__ import annotations

import logging
import sys

import structlog

from service import tracing
from service.config import LogSettings

# The local variables of a trace hold passwords and whole documents, and take seconds to print.
_TRACE = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)


def configure_logs(settings: LogSettings) -> None:
    """Send this process's logs, and those of the libraries it uses, to standard error."""
    console = settings.format == "console" or (settings.format == "auto" and sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _in_its_trace,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        _without_colours,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if console
        else [structlog.processors.ExceptionRenderer(_TRACE), structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    # psycopg's logger has a level of its own, which the root's does not hold back.
    handler.setLevel(settings.level.upper())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    # Both log every request at INFO; the service has its own line per request.
    for name in ("httpx", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # Names each of its own parts whenever it is imported.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)


def _in_its_trace(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Name the trace and span that a line belongs to."""
    return {**event, **tracing.ids()}


def _without_colours(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Uvicorn adds each message a second time, with the codes of a terminal."""
    event.pop("color_message", None)
    return event
