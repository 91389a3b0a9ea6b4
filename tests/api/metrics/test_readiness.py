"""`/readyz` says what searches lack while the embedding model is away, and forgets it when it answers again."""

from __future__ import annotations

from service.config import Settings
from service.errors import EmbedderUnavailable
from service.extract import Extractor
from service.types import Vector
from tests.api.conftest import opener, running
from tests.fakes.hash_embedder import HashEmbedder


class _Away(HashEmbedder):
    """Out of reach while told so."""

    is_away = False

    async def embed_query(self, text: str) -> Vector:
        if self.is_away:
            raise EmbedderUnavailable("openai (secret.example) is out of reach: connection refused")
        return await super().embed_query(text)


async def test_a_model_that_is_away_degrades_until_it_answers_again(settings: Settings, extractor: Extractor) -> None:
    embedder = _Away(384)
    async with running(settings, opener(extractor, embedder)) as api:

        async def ready() -> tuple[int, str, list[str]]:
            answer = await api.http.get("/readyz")
            assert "secret" not in answer.text
            body = answer.json()
            return answer.status_code, body["status"], [reason["code"] for reason in body["reasons"]]

        await api.put("甲.md", "水泵每半年更换一次轴承。")
        assert await ready() == (200, "ready", [])
        embedder.is_away = True
        answer = (await api.search("轴承")).json()
        assert [warning["code"] for warning in answer["warnings"]] == ["vector_unavailable"]
        assert len(answer["passages"]) == 1
        assert await ready() == (200, "degraded", ["vector_unavailable"])
        await api.search("轴承", vector_weight=0)  # did not ask it
        assert (await ready())[1] == "degraded"
        embedder.is_away = False
        await api.search("轴承")
        assert await ready() == (200, "ready", [])
