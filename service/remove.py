"""REMOVE FLOW: the rows in one transaction, then the originals."""

from __future__ import annotations

from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from service.errors import OriginalsUnavailable
from service.store.documents import delete_document
from service.store.originals import Originals

log = structlog.get_logger()


async def remove(engine: AsyncEngine, originals: Originals, document_id: UUID) -> None:
    """Delete a document, its chunks and its originals; no search finds it any more.

    The originals go after the commit, so that no failure leaves a document without its original.

    Raises:
        DocumentNotFound: there is none with this id.
        OriginalsUnavailable: the document is gone, but its original could not be removed; ``details`` names it.
    """
    async with engine.begin() as connection:
        keys = await delete_document(connection, document_id)
    left = [key for key in keys if not await _removed(originals, key)]
    log.info("removed", document_id=str(document_id), originals_left=left)
    if left:
        raise OriginalsUnavailable(
            "the document was deleted, but its original could not be removed from the object store",
            document_id=str(document_id),
            object_keys=left,
        )


async def _removed(originals: Originals, key: str) -> bool:
    try:
        await originals.delete(key)
    except OriginalsUnavailable as error:
        log.warning("original_left_behind", object_key=key, message=error.message)
        return False
    return True
