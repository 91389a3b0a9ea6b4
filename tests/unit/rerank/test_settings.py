"""Settings of a reranker that cannot work are refused with what is missing."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from service.config import RERANK_PROVIDERS_OVER_HTTP, RerankSettings, Settings
from service.rerank import KeepOrder, create_reranker
from service.rerank.providers.known import SHAPES
from tests.unit.rerank.remote_reranker import fused


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"provider": "cohere", "model": "m"}, "cohere needs api_key, or the base_url"),
        ({"provider": "jina", "api_key": "k"}, "jina needs model"),
        ({"provider": "tei"}, r"tei needs base_url, such as http://127\.0\.0\.1:8080"),
        ({"provider": "nvidia", "model": "m", "api_key": "k"}, "nvidia needs base_url"),
        ({"provider": "dashscope", "model": "m"}, "dashscope needs api_key"),
        ({"provider": "jina", "model": "m", "base_url": "vllm:8000"}, "base_url must start with http"),
        ({"provider": "tei", "base_url": "http://tei:80800000"}, "Port out of range"),
        ({"base_url": "http://tei:8080"}, "auto has no base_url"),
        ({"provider": "local", "api_key": "k"}, "local has no base_url and no api_key"),
        ({"provider": "voyage"}, "provider"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"pool": 0}, "pool"),
    ],
)
def test_what_is_missing_is_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        RerankSettings.model_validate(values)


@pytest.mark.parametrize(
    "values",
    [
        {"provider": "cohere", "model": "m", "api_key": "k"},
        {"provider": "jina", "model": "m", "base_url": "http://vllm:8000/v1"},
        {"provider": "tei", "base_url": "http://tei:8080"},
        {"provider": "none", "model": "m", "base_url": "http://kept-for-later", "api_key": "k"},
    ],
)
async def test_what_is_enough(values: dict[str, Any]) -> None:
    await create_reranker(RerankSettings.model_validate(values)).close()


async def test_none_keeps_the_order() -> None:
    reranker = create_reranker(RerankSettings(provider="none"))
    assert isinstance(reranker, KeepOrder)
    passages = fused("甲乙丙")
    assert await reranker.rerank("问题", passages, 2) == passages[:2]
    assert reranker.notices() == []


def test_every_provider_over_http_has_a_shape() -> None:
    assert set(SHAPES) == RERANK_PROVIDERS_OVER_HTTP
    public = {name for name, shape in SHAPES.items() if shape.base_url is not None}
    assert public == {"cohere", "jina", "dashscope"}


def test_a_complaint_does_not_print_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUZI_RERANK__PROVIDER", "jina")
    monkeypatch.setenv("FUZI_RERANK__API_KEY", "sk-not-for-the-terminal")
    with pytest.raises(ValidationError, match="jina needs model") as refused:
        Settings(_env_file=None)
    assert "sk-not" not in str(refused.value)
