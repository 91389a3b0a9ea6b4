"""The stand-in for a model that other tests rely on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.embed import Embedder
from service.errors import InvalidInput
from tests.fakes.hash_embedder import HashEmbedder


async def test_texts_with_shared_characters_are_closer_than_others() -> None:
    embedder: Embedder = HashEmbedder(128)
    query = await embedder.embed_query("保修期多长")
    vectors = await embedder.embed_passages(["保修期为三年", "食堂七点开门"])
    assert float(vectors[0] @ query) > float(vectors[1] @ query)


async def test_vectors_are_the_same_in_every_process() -> None:
    vector = await HashEmbedder(8).embed_query("父子")
    np.testing.assert_allclose(vector, [0, 0, -0.4082483, 0, 0, -0.8164966, -0.4082483, 0], atol=1e-6)


@given(st.text(min_size=1, max_size=30), st.integers(1, 64))
async def test_every_vector_is_finite_and_of_length_one(text: str, dimension: int) -> None:
    embedder = HashEmbedder(dimension)
    if text.replace("\x00", "").strip():
        vector = await embedder.embed_query(text)
        assert vector.shape == (dimension,)
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)
    else:
        with pytest.raises(InvalidInput):
            await embedder.embed_query(text)
