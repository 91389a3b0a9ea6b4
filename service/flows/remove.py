"""REMOVE FLOW: the document with its chunks and jobs in one transaction; its originals follow."""

from __future__ import annotations

from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.corpus import raise_revision
from service.flows.sweep import delete_originals
from service.queue.attempts import end_all_cancelled
from service.store.documents import delete_document
from service.store.originals import Originals
from service.store.removals import keys_of_document, note_removals

log = structlog.get_logger()


async def remove(engine: AsyncEngine, originals: Originals, document_id: UUID) -> None:
    """Delete a document; no search finds it any more, and an upload of it that is under way ends as cancelled.

    Its originals are noted in the same transaction and deleted now; what the object store refuses is tried again
    by the sweeps of every worker.

    Raises:
        DocumentNotFound: there is none with this id.
    """
    async with engine.begin() as connection:
        keys = await keys_of_document(connection, document_id)
        await delete_document(connection, document_id)
        await end_all_cancelled(connection, document_id, "its document was deleted")
        await note_removals(connection, keys)
        await raise_revision(connection)
    await delete_originals(engine, originals, sorted(keys))
    log.info("removed", document_id=str(document_id))
