"""What people think of passages: one verdict a passage of a search, the last one counts."""

from __future__ import annotations

from collections.abc import Collection as Names
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, literal_column, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import Collection, Document, ParentChunk
from service.db.search_models import Feedback, SearchLog
from service.errors import InvalidInput, PassageNotFound
from service.types import Judgement


@dataclass(frozen=True, slots=True)
class _Judged:
    """The passage as it is kept with its verdict; all None when its chunk is gone."""

    collection_id: int | None = None
    document_id: UUID | None = None
    source: str | None = None
    content: str | None = None


async def keep_judgement(connection: AsyncConnection, judgement: Judgement, *, within: Names[str] | None) -> bool:
    """Keep a verdict with the passage it is about; True when it is the first on this passage of this search.

    The search need not be in the log: a part of them is logged, and a second later. When it is there, the passage must
    be one that it returned, and may have been replaced since.

    Args:
        within: collections that may be seen; None is all.

    Raises:
        InvalidInput: the search is in the log, and did not return this passage.
        PassageNotFound: there is no such parent chunk (any more), and no logged search returned it.
    """
    logged = await connection.scalar(
        select(SearchLog.result_chunk_ids).where(SearchLog.search_id == judgement.search_id)
    )
    if logged is not None and judgement.chunk_id not in logged:
        raise InvalidInput(
            f"the search {judgement.search_id} did not return the passage {judgement.chunk_id}: send the chunk_id of a "
            "passage, and the search_id of the answer that it stands in"
        )
    judged = await _judged(connection, judgement.chunk_id, within)
    if judged is None:
        if logged is None or within is not None:
            raise PassageNotFound(
                f"there is no passage {judgement.chunk_id}; its document may have been replaced or deleted since the "
                "search: search again",
                chunk_id=str(judgement.chunk_id),
            )
        judged = _Judged()
    values = {
        "verdict": judgement.verdict,
        "comment": judgement.comment,
        "query": judgement.query,
        "collection_id": judged.collection_id,
        "document_id": judged.document_id,
        "source": judged.source,
        "content": judged.content,
        "judged_at": func.now(),
    }
    # what is known from the first time stays when the passage is gone the second time
    kept = {name: func.coalesce(value, getattr(Feedback, name)) for name, value in values.items() if name not in _LAST}
    is_new = await connection.scalar(
        insert(Feedback)
        .values(search_id=judgement.search_id, chunk_id=judgement.chunk_id, **values)
        .on_conflict_do_update(
            index_elements=[Feedback.search_id, Feedback.chunk_id],
            set_={**kept, **{name: values[name] for name in _LAST}},
        )
        .returning(literal_column("xmax = 0"))
    )
    return bool(is_new)


_LAST = ("verdict", "comment", "judged_at")


async def _judged(connection: AsyncConnection, chunk_id: UUID, within: Names[str] | None) -> _Judged | None:
    statement = (
        select(Document.collection_id, Document.id, Document.source, ParentChunk.content)
        .join(Document, Document.id == ParentChunk.document_id)
        .where(ParentChunk.chunk_id == chunk_id)
    )
    if within is not None:
        visible = select(Collection.id).where(Collection.name.in_(list(within)))
        statement = statement.where(Document.collection_id.in_(visible))
    found = (await connection.execute(statement)).one_or_none()
    return None if found is None else _Judged(*found)
