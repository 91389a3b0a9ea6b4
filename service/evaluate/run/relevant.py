"""How many passages would answer each question if all were found: what nDCG compares with."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.models import Collection, Document, ParentChunk
from service.evaluate.figures.judging import Judge, squeezed
from service.evaluate.read.records import Question
from service.evaluate.run.ask import Answers


async def relevant_counts(
    engine: AsyncEngine, questions: Sequence[Question], answers: Sequence[Answers], collections: Sequence[str] | None
) -> list[int]:
    """For each question the number of passages that count.

    Of named documents all stored passages are looked at. Without documents only those that some stage found are
    known (pooling); without a phrase each named document has one.
    """
    judges = [Judge(question) for question in questions]
    asking: dict[str, list[int]] = {}
    counts = []
    for number, question in enumerate(questions):
        if not question.documents:
            pool = {each.parent_id for answer in answers[number].values() for each in answer.passages if each.counts}
            counts.append(len(pool))
        elif not question.answers:
            counts.append(len(question.documents))
        else:
            counts.append(0)
            for document in question.documents:
                asking.setdefault(document, []).append(number)
    passages = (
        select(Document.source, ParentChunk.content)
        .join(Document, Document.id == ParentChunk.document_id)
        .join(Collection, Collection.id == Document.collection_id)
        .where(Document.source.in_(list(asking)))
    )
    if collections is not None:
        passages = passages.where(Collection.name.in_(collections))
    async with engine.connect() as connection:
        async for source, content in await connection.stream(passages):
            text = squeezed(content)
            for number in asking[source]:
                counts[number] += judges[number].contains_answer(text)
    return counts
