"""The cache in front of an embedder: what is known is not embedded again, and the counts say so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.embed import CachedEmbedder
from service.embed.cached import model_key, text_hash
from service.errors import EmbeddingRefused
from service.types import EmbeddingModel, Vector, VectorBatch
from tests.fakes.hash_embedder import HashEmbedder


class MemoryCache:
    """Keeps everything; ``writes`` has the size of each write."""

    def __init__(self) -> None:
        self.vectors: dict[tuple[str, bytes], Vector] = {}
        self.writes: list[int] = []

    async def get_many(self, model_key: str, hashes: Sequence[bytes]) -> Mapping[bytes, Vector]:
        assert len(set(hashes)) == len(hashes)
        return {one: self.vectors[model_key, one] for one in hashes if (model_key, one) in self.vectors}

    async def put_many(self, model_key: str, vectors: Mapping[bytes, Vector]) -> None:
        self.writes.append(len(vectors))
        self.vectors.update({(model_key, one): vector for one, vector in vectors.items()})


class RefusesBad(HashEmbedder):
    """Refuses texts that contain 坏, as a provider does."""

    async def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> VectorBatch:
        for position, text in enumerate(texts):
            if "坏" in text:
                raise EmbeddingRefused(
                    f"text {position + 1} of {len(texts)}: no", position=position, reason="no", status=400
                )
        return await super().embed_passages(texts, on_progress)


async def test_a_second_time_costs_nothing() -> None:
    inner = HashEmbedder(16)
    cached = CachedEmbedder(inner, MemoryCache())
    first = await cached.embed_and_count(["甲", "乙", "丙"])
    second = await cached.embed_and_count(["丙", "丁", "甲"])
    assert (first.embedded_count, first.reused_count) == (3, 0)
    assert (second.embedded_count, second.reused_count) == (1, 2)
    assert inner.calls == [("passage", 3), ("passage", 1)]
    np.testing.assert_array_equal(second.vectors, await HashEmbedder(16).embed_passages(["丙", "丁", "甲"]))


async def test_another_model_knows_nothing_of_it() -> None:
    cache = MemoryCache()
    await CachedEmbedder(HashEmbedder(16), cache).embed_passages(["甲"])
    other = await CachedEmbedder(HashEmbedder(8), cache).embed_and_count(["甲"])
    assert (other.embedded_count, other.vectors.shape) == (1, (1, 8))
    assert model_key(EmbeddingModel("openai", "m", 8)) != model_key(EmbeddingModel("ollama", "m", 8))


async def test_a_kept_vector_of_a_wrong_size_is_embedded_again() -> None:
    inner, cache = HashEmbedder(16), MemoryCache()
    cache.vectors[model_key(inner.model), text_hash("甲")] = np.ones(3, dtype=np.float32)
    assert (await CachedEmbedder(inner, cache).embed_and_count(["甲"])).embedded_count == 1


async def test_progress_begins_with_what_is_known_and_ends_with_all() -> None:
    cached = CachedEmbedder(HashEmbedder(4), MemoryCache())
    await cached.embed_passages(["甲", "乙"])
    seen: list[int] = []
    await cached.embed_passages(["甲", "丙", "乙", "丁", "丙"], seen.append)
    assert seen == [3, 4, 5]


async def test_what_was_finished_before_a_failure_is_kept_and_the_failure_names_the_right_text() -> None:
    cache = MemoryCache()
    inner = RefusesBad(4)
    texts = [f"第{n}段" for n in range(600)]
    texts[0] = "第1段"  # a repetition moves the positions of what is left to embed
    texts[555] = "坏"
    with pytest.raises(EmbeddingRefused, match=r"^text 556 of 600: no$") as refused:
        await CachedEmbedder(inner, cache).embed_passages(texts)
    assert refused.value.details == {"position": 555, "reason": "no", "status": 400}
    assert cache.writes == [256, 256]
    texts[555] = "好"
    again = await CachedEmbedder(inner, cache).embed_and_count(texts)
    assert (again.embedded_count, again.reused_count) == (87, 513)


async def test_queries_and_closing_go_to_the_inner_embedder() -> None:
    inner = HashEmbedder(4)
    cached = CachedEmbedder(inner, MemoryCache())
    np.testing.assert_array_equal(await cached.embed_query("问"), await inner.embed_query("问"))
    await cached.close()
    assert inner.closed
    assert cached.model == inner.model


WORDS = st.lists(st.sampled_from(["甲", "乙", "丙", "丁", "戊"]), max_size=12)


@given(WORDS, WORDS)
def test_cached_vectors_equal_fresh_ones_and_the_counts_add_up(first: list[str], second: list[str]) -> None:
    async def run() -> None:
        cached = CachedEmbedder(HashEmbedder(8), MemoryCache())
        for texts in (first, second):
            result = await cached.embed_and_count(texts)
            np.testing.assert_array_equal(result.vectors, await HashEmbedder(8).embed_passages(texts))
            assert result.embedded_count + result.reused_count == len(texts)
        assert result.embedded_count == len(set(second) - set(first))

    asyncio.run(run())
