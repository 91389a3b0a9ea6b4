"""What the flows see of an embedder, and what an embedding cache must offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from service.types import EmbeddingModel, Vector, VectorBatch

type Progress = Callable[[int], None]
"""Called with the number of texts done so far, of those given."""


class Embedder(Protocol):
    """Turns texts into vectors of one model.

    Queries and passages are embedded differently by most models, so they are different methods. Every vector that
    comes back has ``model.dimension`` finite numbers and is not zero.

    Raises, from both methods:
        InvalidInput: a text is blank; nothing was sent.
        EmbeddingFailed: the model answered with something that cannot be stored, or refuses for good.
        EmbedderUnavailable: the model is out of reach, after the configured tries.
    """

    @property
    def model(self) -> EmbeddingModel:
        """Identity of the vectors."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Vector of a search query, read-only float32 ``[dimension]``."""
        ...

    async def prepare_queries(self, texts: Sequence[str]) -> None:
        """Embed queries ahead, in as few calls as the model takes, so that `embed_query` has them at hand.

        Only a saving: what is not at hand any more, or could not be embedded, `embed_query` embeds by itself.
        """
        ...

    def knows_query(self, text: str) -> bool:
        """Whether `embed_query` has the vector of this text at hand."""
        ...

    async def embed_passages(self, texts: Sequence[str], on_progress: Progress | None = None) -> VectorBatch:
        """Vectors of texts to be stored, float32 ``[text_count, dimension]``, in the order of the texts."""
        ...

    async def close(self) -> None:
        """End connections and processes; the embedder cannot be used afterwards."""
        ...


class EmbeddingCache(Protocol):
    """Vectors that were embedded before, by model and SHA-256 of the text."""

    async def get_many(self, model_key: str, hashes: Sequence[bytes]) -> Mapping[bytes, Vector]:
        """The known ones among ``hashes``."""
        ...

    async def put_many(self, model_key: str, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors; known ones may be overwritten with equal values."""
        ...
