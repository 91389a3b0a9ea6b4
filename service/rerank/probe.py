"""One small question to a reranker, to see whether it answers."""

from __future__ import annotations

from uuid import UUID

from service.rerank.protocol import Reranker
from service.types import Candidate, Hit, Passage

_CONTENTS = ("今天天气晴朗。", "更换滤芯前先切断电源。")


async def probe(reranker: Reranker) -> list[Passage]:
    """Two passages of nobody's documents, as the reranker orders them.

    Raises:
        RerankerUnavailable: it does not answer, or with something that is no use.
    """
    return await reranker.rerank("换滤芯前要做什么？", [_passage(at) for at in range(len(_CONTENTS))], len(_CONTENTS))


def _passage(position: int) -> Passage:
    content, score = _CONTENTS[position], 1 / (61 + position)
    candidate = Candidate(position, position, position + 1, 0.2, position + 1, 1.0, score)
    return Passage(
        chunk_id=UUID(int=position),
        parent_id=position,
        document_id=UUID(int=0),
        collection="probe",
        source=f"probe-{position}",
        title=None,
        media_type="text/plain",
        metadata={},
        content=content,
        start=0,
        end=len(content),
        heading_path=(),
        first_page=None,
        last_page=None,
        rrf_score=score,
        hits=(Hit(UUID(int=position), 0, len(content), candidate),),
        rank_before_rerank=position + 1,
        child_distances=(0.2,),
    )
