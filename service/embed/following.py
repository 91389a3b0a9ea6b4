"""An embedder that goes with the database from one model to another, in a process that keeps running."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog
from pydantic import ValidationError

from service.config import EmbedSettings
from service.db.spaces import EmbeddingSpace
from service.embed.protocol import Embedder, Progress
from service.embed.providers.known import own_url
from service.errors import EmbedderUnavailable, EmbeddingRefused, FuziError, ModelNotFollowed
from service.types import EmbeddingModel, Notice, Vector, VectorBatch

log = structlog.get_logger()

type BuildEmbedder = Callable[[EmbeddingSpace], Embedder]


class FollowingEmbedder:
    """An ``Embedder`` of the model that was active when this process last looked.

    Whoever compares or stores vectors takes ``current`` once, checks its model against the space that it holds in the
    database, and calls ``follow`` when they differ.
    """

    def __init__(self, first: Embedder, build: BuildEmbedder) -> None:
        """Takes the embedder to begin with, and what makes the one of another space."""
        self._current = self._first = first
        self._followed: EmbeddingSpace | None = None
        self._build = build
        self._is_away = False
        # Work under way goes on with the former model, and a rollback may come: none is closed before the end.
        self._known = {first.model: first}

    @property
    def current(self) -> Embedder:
        """The embedder of one model, which stays that model's."""
        return self._current

    @property
    def model(self) -> EmbeddingModel:
        """The current model."""
        return self._current.model

    async def embed_query(self, text: str) -> Vector:
        """See ``Embedder``; by the current model."""
        return await self._current.embed_query(text)

    async def embed_passages(self, texts: Sequence[str], on_progress: Progress | None = None) -> VectorBatch:
        """See ``Embedder``; by the current model."""
        return await self._current.embed_passages(texts, on_progress)

    def follow(self, space: EmbeddingSpace) -> None:
        """Make the embedder of this space the current one.

        Raises:
            ModelNotFollowed: it cannot be made with this process's settings; the message says what to set.
        """
        known = self._known.get(space.model)
        if known is None:
            try:
                known = self._known[space.model] = self._build(space)
            except FuziError as error:
                raise ModelNotFollowed(_cannot_follow(space, error.message), variables=variables(space)) from error
        if known is not self._current:
            log.warning("embedding_model_followed", model=space.title, next_start=variables(space))
            self._current = known
        self._followed = None if known is self._first else space

    def asked(self, *, is_away: bool) -> None:
        """Take note of how the last query fared that asked the model."""
        self._is_away = is_away

    def notices(self) -> list[Notice]:
        """What searches lack while the model does not answer, as last seen; what it said is for the log only."""
        if not self._is_away:
            return []
        message = (
            f"the embedding model {self.model.name} did not answer when last asked; searches go by words meanwhile"
        )
        return [Notice("vector_unavailable", message)]

    def why_refused(self, refusal: EmbeddingRefused) -> FuziError:
        """Of a model that this process followed to, a refused key is a matter of its settings, not of the text."""
        if self._followed is None or refusal.details.get("status") not in {401, 403}:
            return refusal
        reason = _cannot_follow(self._followed, refusal.message)
        return ModelNotFollowed(reason, variables=variables(self._followed))

    async def close(self) -> None:
        """Closes every embedder that was in use."""
        for embedder in self._known.values():
            await embedder.close()


def settings_of(space: EmbeddingSpace, settings: EmbedSettings) -> EmbedSettings:
    """The settings of this process turned to another space.

    A key is sent to nobody but the provider it was meant for: ``api_key`` stays with the provider and URL of the
    settings (the local model needs none, so beside it the key can only be the other's); else it is
    ``standby_api_key``.

    Raises:
        EmbedderUnavailable: the database names a model that this version knows no adapter for.
    """
    provider = space.model.provider
    place = settings.base_url or own_url(settings.provider)
    same_place = provider == settings.provider and space.base_url in {None, place}
    base_url = settings.base_url if same_place else space.base_url
    if base_url == own_url(provider):
        base_url = None
    key = settings.api_key if same_place or settings.provider == "local" else None
    values = {
        "provider": provider,
        "model": space.model.name,
        "dimension": space.model.dimension,
        "base_url": base_url,
        "send_dimension": space.send_dimension,
        "api_key": settings.standby_api_key or key,
        "vector_type": "auto",  # of no matter to who asks a model, and too short perhaps for another one
    }
    if (provider, space.model.name, space.model.dimension) == (settings.provider, settings.model, settings.dimension):
        values |= {"send_dimension": settings.send_dimension, "api_key": settings.api_key}
    try:
        return EmbedSettings.model_validate({**settings.model_dump(), **values})
    except ValidationError as error:
        raise EmbedderUnavailable(f"this version of Fuzi does not know the embedding model {space.title}") from error


def variables(space: EmbeddingSpace) -> dict[str, str]:
    """The variables that make this space's model that of the settings; the key is not among them."""
    model = space.model
    named = {
        "FUZI_EMBED__PROVIDER": model.provider,
        "FUZI_EMBED__MODEL": model.name,
        "FUZI_EMBED__DIMENSION": str(model.dimension),
    }
    if space.base_url not in {None, own_url(model.provider)}:
        named["FUZI_EMBED__BASE_URL"] = str(space.base_url)
    if space.send_dimension:
        named["FUZI_EMBED__SEND_DIMENSION"] = "true"
    return named


def _cannot_follow(space: EmbeddingSpace, reason: str) -> str:
    assignments = " ".join(f"{name}={value}" for name, value in variables(space).items())
    return (
        f"the database now has the vectors of {space.title}, which cannot be asked with these settings ({reason}); "
        f"set {assignments} and its key (FUZI_EMBED__API_KEY), then start again"
    )
