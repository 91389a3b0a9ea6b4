"""Feedback: what people think of the passages of a search."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response, status
from pydantic import ConfigDict, Field

from service.api.access import READ, Caller
from service.api.edge.dependencies import OpenServices
from service.api.schemas import Answer, Asked, Storable
from service.store.judgements import keep_judgement
from service.types import Judgement, Verdict

router = APIRouter(prefix="/v1/feedback", tags=["search"])

_LONGEST_COMMENT = 2000
_LONGEST_QUERY = 20_000


class FeedbackBody(Asked):
    """A verdict on one passage of an answer. The last one on a passage of a search counts."""

    model_config = ConfigDict(
        str_max_length=None,
        json_schema_extra={
            "examples": [
                {
                    "search_id": "5f0f6f5e-5d0b-4f57-9d51-0a7d6c1f2b3c",
                    "chunk_id": "95c43f20-5630-5fc3-96c9-483f4de30ffa",
                    "verdict": "good",
                    "query": "更换滤芯之前要切断电源吗？",
                }
            ]
        },
    )

    search_id: UUID = Field(description="of the answer")
    chunk_id: UUID = Field(description="of the passage, not of a hit in it")
    verdict: Verdict
    comment: Annotated[Storable, Field(max_length=_LONGEST_COMMENT)] | None = Field(None, description="why")
    query: Annotated[Storable, Field(max_length=_LONGEST_QUERY)] | None = Field(
        None, description="what was searched for; needed where not every search is logged"
    )


class FeedbackAnswer(Answer):
    """What is kept."""

    search_id: UUID
    chunk_id: UUID
    verdict: Verdict


@router.post(
    "",
    summary="Judge a passage",
    status_code=status.HTTP_201_CREATED,
    dependencies=[READ],
    responses={status.HTTP_200_OK: {"model": FeedbackAnswer, "description": "It takes the place of a former verdict"}},
)
async def judge_passage(
    body: FeedbackBody, services: OpenServices, caller: Caller, response: Response
) -> FeedbackAnswer:
    """Keep whether a passage was a good answer. Analysts see it in `analytics.feedback`.

    The search need not be in the search log, nor be there yet.
    """
    judgement = Judgement(body.search_id, body.chunk_id, body.verdict, body.comment, body.query)
    async with services.engine.begin() as connection:
        is_first = await keep_judgement(connection, judgement, within=caller.visible())
    if not is_first:
        response.status_code = status.HTTP_200_OK
    return FeedbackAnswer(search_id=body.search_id, chunk_id=body.chunk_id, verdict=body.verdict)
