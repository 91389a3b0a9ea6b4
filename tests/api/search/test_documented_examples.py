"""The JSON of docs/api.md is what the service takes and answers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import BaseModel

from service.api.answer.request import bounded_answer_body
from service.api.answer.schemas import WholeAnswer
from service.api.collections import CollectionBody
from service.api.feedback import FeedbackAnswer, FeedbackBody
from service.api.search.answer import SearchAnswer
from service.api.search.batch import BatchOutcome, bounded_batch_body, to_requests
from service.api.search.passages import AroundAnswer
from service.api.search.request import bounded_search_body
from service.config import SearchSettings
from tests.architecture import ROOT

SETTINGS = SearchSettings()
SCHEMAS: dict[str, type[BaseModel]] = {
    "SearchBody": bounded_search_body(SETTINGS),
    "SearchAnswer": SearchAnswer,
    "AnswerBody": bounded_answer_body(SETTINGS),
    "WholeAnswer": WholeAnswer,
    "AroundAnswer": AroundAnswer,
    "BatchBody": bounded_batch_body(SETTINGS),
    "BatchOutcome": BatchOutcome,
    "FeedbackBody": FeedbackBody,
    "FeedbackAnswer": FeedbackAnswer,
    "CollectionBody": CollectionBody,
}
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"<!-- schema: (\w+) -->\n```json\n(.*?)```", PAGE, re.DOTALL)


def test_every_block_of_json_names_its_schema_and_every_schema_has_one() -> None:
    assert len(EXAMPLES) == PAGE.count("```json")
    assert {name for name, _ in EXAMPLES} == SCHEMAS.keys()


@pytest.mark.parametrize(("name", "text"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_follows_its_schema_to_the_last_field(name: str, text: str) -> None:
    value = json.loads(text)
    parsed = SCHEMAS[name].model_validate(value)
    if name.endswith("Body"):
        assert parsed.model_dump(mode="json", exclude_unset=True) == value
    else:
        assert parsed.model_dump(mode="json") == value


def test_the_queries_of_the_documented_batch_are_searches() -> None:
    (text,) = [text for name, text in EXAMPLES if name == "BatchBody"]
    body = bounded_batch_body(SETTINGS).model_validate_json(text)
    requests = to_requests(body, bounded_search_body(SETTINGS), SETTINGS)
    assert [getattr(request, "top_n", request) for request in requests] == [1, 1, 1]


def test_the_documented_explanation_adds_up_and_its_highlights_are_words_of_the_query() -> None:
    (text,) = [text for name, text in EXAMPLES if name == "SearchAnswer"]
    answer: dict[str, Any] = json.loads(text)
    (passage,), (why,) = answer["passages"], answer["explanation"]["passages"]
    assert why["vector_share"] + why["fts_share"] == pytest.approx(passage["rrf_score"])
    words = [passage["content"][start:end] for start, end in passage["highlights"]]
    assert words == ["更换", "滤芯", "更换", "切断电源"]


def test_every_field_of_a_search_is_in_the_table() -> None:
    named = set(re.findall(r"`(\w+)`", "".join(line for line in PAGE.splitlines() if line.startswith("| `"))))
    assert SCHEMAS["SearchBody"].model_fields.keys() <= named


def test_the_documented_answer_cites_what_it_says_it_does() -> None:
    (text,) = [text for name, text in EXAMPLES if name == "WholeAnswer"]
    answer: dict[str, Any] = json.loads(text)
    (citation,), (passage,) = answer["citations"], answer["passages"]
    assert [answer["text"][start:end] for start, end in citation["mentions"]] == [f"[{passage['number']}]"]
    assert passage["end"] - passage["start"] == len(passage["content"])
