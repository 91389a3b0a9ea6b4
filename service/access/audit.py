"""Who changed what, or tried to: one row in ``rag.audit_log`` and one line in the log."""

from __future__ import annotations

from enum import StrEnum

import structlog
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.db.access_models import AuditEntry
from service.types import Principal

log = structlog.get_logger()

COMMAND_LINE = "command line"
"""Stands for the key of whoever works on the database itself."""

_LONGEST = 2000


class Outcome(StrEnum):
    """How an action ended."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


async def note_command(connection: AsyncConnection, action: str, target: str) -> None:
    """Note in a transaction what the command line does in it."""
    await connection.execute(
        insert(AuditEntry).values(key_name=COMMAND_LINE, action=action, target=target, outcome=Outcome.DONE)
    )


class AuditLog:
    """Notes what was changed through the REST service.

    The row is written before the request ends, in a transaction of its own: an action that was done stays done when
    the database is gone a moment later, and then only the log tells of it.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def note(
        self, principal: Principal, action: str, target: str, *, request_id: str | None, status: int
    ) -> None:
        """Write down one request.

        Args:
            action: method and route.
            target: path of what it was done to, percent-encoded.
            status: HTTP status of the answer.
        """
        outcome = Outcome.DONE if status < 400 else Outcome.REFUSED if status < 500 else Outcome.FAILED
        values = {"action": action, "target": target[:_LONGEST], "outcome": outcome, "status": status}
        log.info("audited", key=principal.name, **values)
        row = insert(AuditEntry).values(
            key_id=principal.key_id, key_name=principal.name, request_id=request_id, **values
        )
        try:
            async with self._engine.begin() as connection:
                await connection.execute(row)
        except SQLAlchemyError as error:
            log.warning("audit_row_lost", key=principal.name, **values, error=str(error))
