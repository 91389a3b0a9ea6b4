"""What is particular to one provider, over a real HTTP server."""

from __future__ import annotations

import pytest

from service.config import EmbedSettings
from service.embed import create_embedder
from service.errors import EmbeddingRefused, Misconfigured
from tests.fakes.embedding_server import Answer, EmbeddingServer, require_input_type
from tests.unit.embed.remote_embedder import embedder


async def test_dashscope_never_gets_more_than_ten(server: EmbeddingServer) -> None:
    await embedder(server, "dashscope", batch_size=100).embed_passages(["段"] * 23)
    assert sorted(len(request.texts) for request in server.requests) == [3, 10, 10]


async def test_br_043_ollama_says_nan_by_a_500_that_must_not_be_repeated(server: EmbeddingServer) -> None:
    server.script(Answer(500, {"error": "failed to encode response: json: unsupported value: NaN"}))
    with pytest.raises(EmbeddingRefused, match="non-finite"):
        await embedder(server, "ollama").embed_passages(["含有异常的段落。"])
    assert len(server.requests) == 1


async def test_br_044_nvidia_hears_what_each_text_is_for(server: EmbeddingServer) -> None:
    server.rule = require_input_type
    nvidia = embedder(server, "nvidia")
    await nvidia.embed_passages(["段"] * 12)
    await nvidia.embed_query("问题")
    assert [request.body["input_type"] for request in server.requests] == ["passage", "passage", "query"]
    assert {request.body["truncate"] for request in server.requests} == {"END"}


@pytest.mark.parametrize("provider", ["openai", "ollama", "dashscope"])
async def test_br_044_other_providers_get_no_input_type(server: EmbeddingServer, provider: str) -> None:
    other = embedder(server, provider)
    await other.embed_passages(["段"])
    await other.embed_query("问题")
    assert [sorted(request.body) for request in server.requests] == [["input", "model"], ["input", "model"]]


async def test_paths_of_the_providers(server: EmbeddingServer) -> None:
    for provider in ("openai", "nvidia", "dashscope", "ollama"):
        await embedder(server, provider).embed_query("问题")
    assert [request.path for request in server.requests] == ["/v1/embeddings"] * 3 + ["/api/embed"]


@pytest.mark.parametrize("provider", ["openai", "ollama", "nvidia", "dashscope"])
async def test_the_dimension_is_asked_for_only_when_the_settings_say_so(server: EmbeddingServer, provider: str) -> None:
    await embedder(server, provider).embed_query("问题")
    await embedder(server, provider, send_dimension=True).embed_query("问题")
    assert [request.body.get("dimensions") for request in server.requests] == [None, 3]


@pytest.mark.parametrize("provider", ["openai", "nvidia", "dashscope"])
def test_a_missing_key_is_a_mistake_at_start(provider: str) -> None:
    with pytest.raises(Misconfigured, match="FUZI_EMBED__API_KEY"):
        create_embedder(EmbedSettings.model_validate({"provider": provider, "model": "m"}))


def test_a_server_of_ones_own_needs_no_key() -> None:
    create_embedder(EmbedSettings(provider="openai", model="m", base_url="http://127.0.0.1:9/v1"))
    create_embedder(EmbedSettings(provider="ollama", model="m"))
