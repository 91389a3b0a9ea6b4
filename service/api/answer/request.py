"""A question in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, create_model

from service.api.schemas import Asked, Storable
from service.api.search.request import SearchBody, bounded_search_body
from service.config import SearchSettings
from service.types import AnswerRequest, Turn

_MOST_MESSAGES = 100


class MessageBody(Asked):
    """An earlier message of the conversation."""

    role: Literal["user", "assistant"]
    content: Storable


class AnswerBody(Asked):
    """A question; everything else may be left out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "出差住宿费的上限是多少？"},
                {
                    "question": "那要提前多久申请？",
                    "messages": [
                        {"role": "user", "content": "出差住宿费的上限是多少？"},
                        {"role": "assistant", "content": "一线城市每晚 500 元。[1]"},
                    ],
                    "search": {"top_n": 3, "collections": ["default"]},
                    "stream": False,
                },
            ]
        },
    )

    question: Storable
    messages: Annotated[list[MessageBody], Field(max_length=_MOST_MESSAGES)] = Field(
        default=[], description="the conversation before the question, oldest first"
    )
    search: SearchBody
    stream: bool = Field(True, strict=True, description="answer with events as they come; else with one JSON object")
    extractive: bool = Field(
        False, strict=True, description="answer with sentences of the passages although there is a chat model"
    )

    def to_request(self, settings: SearchSettings, within: Sequence[str] | None = None) -> AnswerRequest:
        """Return the flow's own form.

        Args:
            within: collections that may be seen; None is all.

        Raises:
            InvalidInput: a source to restrict the search to is no possible source.
        """
        search = replace(self.search.to_request(settings), within=within)
        history = tuple(Turn(message.role, message.content) for message in self.messages)
        return AnswerRequest(self.question, search, history, self.extractive)


def bounded_answer_body(settings: SearchSettings) -> type[AnswerBody]:
    """`AnswerBody` with the defaults and bounds of these settings."""
    most = settings.max_query_characters
    part = create_model(
        "AnswerSearchBody",
        __base__=bounded_search_body(settings),
        __doc__="The fields of `POST /v1/search` for the search behind an answer.",
        query=(
            Storable,
            Field("", max_length=most, description="what to search for; left out, the question and the one before it"),
        ),
    )
    return create_model(
        "AnswerBody",
        __base__=AnswerBody,
        __doc__=AnswerBody.__doc__,
        question=(Storable, Field(min_length=1, max_length=most, pattern=r"\S", description="what is to be answered")),
        search=(part, Field(default_factory=part, description="fields of `POST /v1/search`")),
    )
