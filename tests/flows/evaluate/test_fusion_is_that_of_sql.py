"""The sweep's arithmetic is that of `rag.hybrid_search`: the same passages in the same order, for any setting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from service.evaluate.figures.measures import DEPTH
from service.evaluate.read.records import Question
from service.evaluate.run.ask import Stage, request_of
from service.evaluate.tune.fusion import Fusion, fused_order, reciprocal_ranks
from service.evaluate.tune.tuning import ask_legs, asked_of, with_fusion
from service.search import search
from service.types import SearchResult
from tests.flows.conftest import Library

PLACES = ["北京", "上海", "广州", "深圳", "成都", "杭州", "武汉", "西安", "南京", "重庆"]
THINGS = ["合同", "保修", "水泵", "检验", "付款", "运输", "培训", "保密"]
QUERIES = ("水泵在成都的保修", "北京 付款", "谁负责运输和检验？", "保密")
RNG = np.random.default_rng(5)
FUSIONS = [
    Fusion(70, 30, 60, 60),
    Fusion(30, 70, 1, 60),
    Fusion(100, 0, 60, 60),
    Fusion(0, 100, 60, 60),
    Fusion(40, 60, 60, 60, "words"),
    Fusion(40, 60, 60, 60, "pairs"),
    # equal weights: many parents with the same score
    *(Fusion(50, 50, int(k), int(candidates)) for k, candidates in zip((1, 20, 1000), (5, 20, 60), strict=True)),
    *(Fusion(float(w), float(100 - w), int(k), 60) for w, k in RNG.integers(1, 99, (8, 2))),
]


def text_about(place: str, number: int) -> str:
    things = RNG.permutation(THINGS)
    # parents of one to four children, some of them alike in all documents
    return "\n".join(f"{place}的{thing}由第{number % 3}组负责，{thing}的期限是{number}天。" * 6 for thing in things)


@pytest.fixture
async def filled(library: Library) -> Library:
    for number, place in enumerate(PLACES):
        await library.put(f"{place}.txt", text_about(place, number))
    return library


async def ask(library: Library, query: str, fusion: Fusion) -> SearchResult:
    parts = replace(library.services.for_search, settings=with_fusion(library.services.settings.search, fusion))
    request = request_of(Stage.RRF, query, parts.settings, ["default"])
    # given, so that fewer candidates than passages stay as few
    return await search(parts, replace(request, given=request.given | {"candidates"}))


async def test_every_fusion_has_the_order_of_the_search(filled: Library) -> None:
    questions = [Question(query, query, answers=("第1组负责",)) for query in QUERIES]
    parts = filled.services.for_search
    asked = [asked_of(fusion) for fusion in FUSIONS]
    legs = await ask_legs(parts, questions, "default", asked=asked, at_once=2, watch=lambda done: None)
    found_by_both = 0
    for question, each in zip(questions, legs, strict=True):
        for fusion in FUSIONS:
            found = each[asked_of(fusion)]
            (places,), (value,) = fused_order(found, [fusion], DEPTH), reciprocal_ranks(found, [fusion], DEPTH)
            passages = (await ask(filled, question.text, fusion)).passages
            assert found.parent_ids[places[places >= 0]].tolist() == [passage.parent_id for passage in passages]
            counts = ["第1组负责" in passage.content for passage in passages]
            assert value == (1 / (counts.index(True) + 1) if True in counts else 0)
            found_by_both += len(passages)
    assert found_by_both > 200
