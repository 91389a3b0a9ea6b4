"""The reasons of the reranker come with an explanation, and only then."""

from __future__ import annotations

from dataclasses import replace

from service.config import RerankSettings
from service.rerank import create_reranker
from service.search import search
from service.types import SearchRequest
from tests.flows.conftest import Library

ASKED = SearchRequest("滤芯多久更换一次？", 2, 50, 70, 30, 60, explain=True)


async def test_the_local_reranker_says_why(library: Library) -> None:
    await library.put("a.md", "# 更换滤芯\n\n滤芯每三个月更换一次。\n\n# 保修\n\n保修期为三年。")
    await library.put("b.md", "公司食堂的开放时间为十一点。")
    parts = replace(library.services.for_search, reranker=create_reranker(RerankSettings(provider="local")))
    explained = await search(parts, ASKED)
    assert explained.explanation is not None
    best = explained.explanation.passages[0]
    assert best.rerank_score is not None
    assert any("question" in reason for reason in best.rerank_reasons), best.rerank_reasons
    assert [passage.rerank_reasons for passage in explained.passages] == [
        each.rerank_reasons for each in explained.explanation.passages
    ]
    plain = await search(parts, replace(ASKED, explain=False))
    assert all(passage.rerank_reasons == () for passage in plain.passages)
