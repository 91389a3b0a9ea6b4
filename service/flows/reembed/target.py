"""Which model to change to, made complete by asking it."""

from __future__ import annotations

from urllib.parse import urlsplit

from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import LOCAL_DIMENSION, LOCAL_MODEL, EmbedSettings
from service.db.spaces import EmbeddingSpace, active_space
from service.embed import create_embedder, find_dimension
from service.embed.following import settings_of
from service.embed.providers.known import own_url
from service.errors import EmbeddingDimension, InvalidInput
from service.types import EmbeddingModel


async def space_in_use(engine: AsyncEngine, settings: EmbedSettings) -> EmbeddingSpace | None:
    """The active space if it is the one that the settings name, so that nothing has to be asked."""
    async with engine.connect() as connection:
        space = await active_space(connection)
    model = space.model
    named = (settings.provider, settings.model, settings.dimension)
    return space if (model.provider, model.name, model.dimension) == named else None


async def target_space(
    settings: EmbedSettings,
    provider: str | None = None,
    model: str | None = None,
    dimension: int | None = None,
    base_url: str | None = None,
) -> EmbeddingSpace:
    """The space that is asked for; what is left out is that of the settings, the dimension that of the model.

    One short text is embedded, so that a wrong key, name or URL is found before anything is changed.

    Raises:
        InvalidInput: it cannot be said what is meant, or the URL holds a password.
        Misconfigured, EmbeddingFailed, EmbedderUnavailable: the model cannot be asked.
        EmbeddingDimension: it has no vectors of the dimension asked for.
    """
    same = provider in {None, settings.provider}
    provider = provider or settings.provider
    if provider == "local":
        return EmbeddingSpace(EmbeddingModel("local", model or LOCAL_MODEL, dimension or LOCAL_DIMENSION))
    name = model or (settings.model if same else None)
    if name is None:
        raise InvalidInput(f"which model of {provider}? add --model")
    if dimension is None and same and name == settings.model and "dimension" in settings.model_fields_set:
        dimension = settings.dimension
    url = base_url or (settings.base_url if same else None) or own_url(provider)
    if url is not None and urlsplit(url).password is not None:
        raise InvalidInput("the base URL must not hold a password, it is stored in the database; keys are variables")
    asked = EmbeddingSpace(EmbeddingModel(provider, name, dimension or 1), url)
    natural = await find_dimension(settings_of(asked, settings))
    if dimension in {None, natural}:
        return EmbeddingSpace(EmbeddingModel(provider, name, natural), url)
    shortened = EmbeddingSpace(asked.model, url, send_dimension=True)
    embedder = create_embedder(settings_of(shortened, settings))
    try:
        await embedder.embed_passages(["夫子"])
    except EmbeddingDimension as error:
        raise EmbeddingDimension(
            f"{provider} {name} has vectors of {natural} dimensions and does not shorten them to {dimension}",
            **error.details,
        ) from error
    finally:
        await embedder.close()
    return shortened
