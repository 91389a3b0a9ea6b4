"""The outbox of originals: what is no longer referred to is noted in the same transaction, and deleted later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ARRAY, CompoundSelect, Text, cast, delete, func, or_, select, union_all, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.job_models import Job, OriginalRemoval
from service.db.models import Document
from service.store.documents import NO_ORIGINAL

_BATCH = 100


async def note_removals(connection: AsyncConnection, object_keys: Iterable[str]) -> None:
    """Note originals to be deleted once the caller's transaction is committed."""
    rows = [{"object_key": key} for key in sorted(set(object_keys))]
    if rows:
        await connection.execute(insert(OriginalRemoval).values(rows).on_conflict_do_nothing())


async def note_unless_served(connection: AsyncConnection, document_id: UUID, object_key: str) -> None:
    """Note the original of an upload that nobody wants any more, but not when the served version was made of it.

    The caller holds the lock of the document.
    """
    served = select(Document.id).where(Document.id == document_id, Document.object_key == object_key)
    if object_key != NO_ORIGINAL and await connection.scalar(served) is None:
        await note_removals(connection, [object_key])


async def due_removals(connection: AsyncConnection) -> list[str]:
    """Return some noted originals; those with few failed deletions first."""
    query = (
        select(OriginalRemoval.object_key)
        .order_by(OriginalRemoval.attempts, OriginalRemoval.noted_at, OriginalRemoval.object_key)
        .limit(_BATCH)
    )
    return list(await connection.scalars(query))


async def removed(connection: AsyncConnection, object_keys: Sequence[str]) -> None:
    """Forget originals that were deleted."""
    await connection.execute(delete(OriginalRemoval).where(OriginalRemoval.object_key.in_(object_keys)))


async def removal_failed(connection: AsyncConnection, object_keys: Sequence[str]) -> None:
    """Count a deletion that failed."""
    await connection.execute(
        update(OriginalRemoval)
        .where(OriginalRemoval.object_key.in_(object_keys))
        .values(attempts=OriginalRemoval.attempts + 1)
    )


async def keys_of_document(connection: AsyncConnection, document_id: UUID) -> set[str]:
    """Return every original that a document or one of its jobs may still refer to."""
    mine = Document.id == document_id
    keys: CompoundSelect[str] = union_all(
        select(Document.object_key).where(mine, Document.object_key.is_not(None)),
        select(Document.pending_key).where(mine, Document.pending_key.is_not(None)),
        # The originals of stored and cancelled uploads were noted when those ended.
        select(Job.object_key).where(
            Job.document_id == document_id, or_(Job.finished_at.is_(None), Job.status == "failed")
        ),
    )
    return set(await connection.scalars(keys)) - {NO_ORIGINAL}


async def unreferenced(connection: AsyncConnection, object_keys: Collection[str]) -> list[str]:
    """Return those keys that no document, no job that may go on, and no note in the outbox refers to."""
    # Not named like the tables' columns, which would stand in its place within the subqueries.
    keys = func.unnest(cast(list(object_keys), ARRAY(Text))).column_valued("candidate")
    query = select(keys).where(
        ~select(Document.id).where(or_(Document.object_key == keys, Document.pending_key == keys)).exists(),
        ~select(Job.id).where(Job.object_key == keys, or_(Job.finished_at.is_(None), Job.status == "failed")).exists(),
        ~select(OriginalRemoval.object_key).where(OriginalRemoval.object_key == keys).exists(),
    )
    return list(await connection.scalars(query))


STALE_AFTER = timedelta(hours=1)
"""An object younger than this may belong to an upload that is being accepted just now."""
