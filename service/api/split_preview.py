"""How a text or a file would be cut, without writing anything."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field, TypeAdapter, ValidationError

from service.api.access import READ, Caller
from service.api.edge.dependencies import OpenServices
from service.api.edge.upload_form import receive_form
from service.api.schemas import Asked, Storable
from service.api.split_shape import SplitAnswer, split_json
from service.config import SplitSettings
from service.config.ingestion import IngestionSettings
from service.config.problems import first_problem, problem_told
from service.embed import in_thread
from service.errors import InvalidRequest, InvalidSettings, TooLarge
from service.split import SentenceEmbedder, split, split_sentences
from service.store.collections import get_collection, with_own_settings
from service.types import ExtractedText, ExtractRequest, Principal, TextFormat
from service.wiring import Services

PATH = "/v1/split/preview"
router = APIRouter(tags=["split"])

_SOFT_CUT_CHARACTERS = 20_000

_MEDIA_TYPES = {TextFormat.PLAIN: "text/plain", TextFormat.MARKDOWN: "text/markdown"}


class SplitOptions(Asked):
    """Settings that differ from those of the collection, or of the service; see the settings `FUZI_SPLIT__…`."""

    strategy: Literal["auto", "sentence", "structure"] | None = None
    unit: Literal["characters", "tokens"] | None = None
    parent_size: int | None = None
    child_size: int | None = None
    sentence_hard_limit: int | Literal["none"] | None = None
    parent_overlap: int | None = None
    soft_tokens: int | None = None
    hard_tokens: int | None = None

    def over(self, settings: SplitSettings) -> SplitSettings:
        """Return the settings with these in their place.

        Raises:
            InvalidSettings: together they make no sense.
        """
        try:
            return SplitSettings.model_validate({**settings.model_dump(), **self.model_dump(exclude_none=True)})
        except ValidationError as error:
            raise InvalidSettings("; ".join(problem_told(problem) for problem in error.errors())) from error


class PreviewBody(Asked):
    """A text to be cut."""

    text: Storable = Field(max_length=10_000_000)
    format: TextFormat = TextFormat.MARKDOWN
    settings: SplitOptions = SplitOptions()


_OPTIONS: TypeAdapter[SplitOptions] = TypeAdapter(SplitOptions)
_BODY: TypeAdapter[PreviewBody] = TypeAdapter(PreviewBody)
_DESCRIPTION: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["text"],
                    "additionalProperties": False,
                    "properties": {
                        "text": {"type": "string"},
                        "format": {"type": "string", "enum": list(TextFormat), "default": TextFormat.MARKDOWN},
                        "settings": SplitOptions.model_json_schema(),
                    },
                }
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {"type": "string", "contentMediaType": "application/octet-stream"},
                        "settings": {
                            "type": "string",
                            "contentMediaType": "application/json",
                            "examples": ['{"strategy": "sentence", "child_size": 150}'],
                        },
                    },
                }
            },
        },
    }
}


@router.post(PATH, summary="Preview a split", dependencies=[READ], openapi_extra=_DESCRIPTION)
async def preview(
    request: Request,
    services: OpenServices,
    caller: Caller,
    collection: Annotated[
        Storable | None, Query(max_length=200, description="take the settings that it has of its own")
    ] = None,
) -> SplitAnswer:
    """Cut a text (JSON) or a file (multipart) as an upload would be cut; nothing is written."""
    settings = await _settings(services, collection, caller)
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        extracted, options = await _read_form(request, services, settings)
    else:
        body = _parsed(_BODY, await request.body())
        extracted = ExtractedText(text=body.text, format=body.format, media_type=_MEDIA_TYPES[body.format])
        options = body.settings
    settings = replace(settings, split=options.over(settings.split))
    embed = _sentence_embedder(services, extracted) if settings.split.soft_cut else None
    return await asyncio.to_thread(_cut, extracted, settings.split, embed)


def _sentence_embedder(services: Services, extracted: ExtractedText) -> SentenceEmbedder:
    """The embedder for soft cuts; nothing is kept in the cache.

    Raises:
        TooLarge: embedding every sentence would take longer than anybody waits for an answer.
    """
    if len(extracted.text) > _SOFT_CUT_CHARACTERS:
        raise TooLarge(
            f"a preview with soft_cut embeds every sentence, so it takes up to {_SOFT_CUT_CHARACTERS:,} characters",
            limit=_SOFT_CUT_CHARACTERS,
        )
    return in_thread(services.embedder.current)


async def _settings(services: Services, collection: str | None, caller: Principal) -> IngestionSettings:
    settings = IngestionSettings.of(services.settings)
    if collection is None:
        return settings
    async with services.engine.connect() as connection:
        record = await get_collection(connection, collection, caller)
    return with_own_settings(settings, record.name, record.settings)


async def _read_form(
    request: Request, services: Services, settings: IngestionSettings
) -> tuple[ExtractedText, SplitOptions]:
    server, limits = services.settings.server, services.settings.limits
    async with receive_form(request, server.upload_folder, limits, text_fields=("settings",)) as form:
        options = _parsed(_OPTIONS, form.fields.get("settings", "{}").encode())
        wanted = ExtractRequest(form.path, form.file_name, form.declared_type, settings.extract.reflow)
        return await services.extractor.extract(wanted), options


def _parsed[Model](adapter: TypeAdapter[Model], body: bytes) -> Model:
    try:
        return adapter.validate_json(body)
    except ValidationError as error:
        problems = [
            {"place": ".".join(map(str, problem["loc"])), "message": problem["msg"]} for problem in error.errors()
        ]
        raise InvalidRequest(first_problem(error), problems=problems) from error


def _cut(extracted: ExtractedText, settings: SplitSettings, embed: SentenceEmbedder | None) -> SplitAnswer:
    chunks = split(extracted, settings, embed)
    return SplitAnswer.model_validate(split_json(extracted, split_sentences(extracted.text), chunks))
