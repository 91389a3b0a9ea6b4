"""What decides how a file becomes chunks and embedded texts: settings of the service and those of a collection."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from service.config.group import Group
from service.config.ingest import ExtractSettings, SplitSettings
from service.config.settings import Settings

_NO_CONTEXT = "/no_context"
_PAGES = "/pages:"
_NEVER_LAID_OUT = (
    "text/",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.",
    "application/vnd.oasis.opendocument.",
    "application/epub+zip",
)
"""Media types without pages as a printer has them, inside either; mails and archives may hold a PDF."""


class CollectionIngestion(Group):
    """What a collection has of its own for documents that are taken in from then on."""

    strategy: Literal["auto", "sentence", "structure"] | None = Field(None, description="how text is cut")
    unit: Literal["characters", "tokens"] | None = Field(None, description="what the sizes of `structure` count")
    parent_size: int | None = Field(None, ge=1, le=100_000, strict=True, description="largest parent chunk")
    child_size: int | None = Field(None, ge=1, le=100_000, strict=True, description="largest child chunk")
    sentence_hard_limit: Literal["none"] | Annotated[int, Field(ge=1, le=100_000, strict=True)] | None = Field(
        None, description="longest uncut sentence, `none` = no cut"
    )
    parent_overlap: int | None = Field(None, ge=0, le=10_000, strict=True, description="tail repeated in the next one")
    soft_tokens: int | None = Field(None, ge=1, le=100_000, strict=True, description="aim of a structure parent")
    hard_tokens: int | None = Field(None, ge=1, le=100_000, strict=True, description="limit of a structure parent")
    soft_cut: bool | None = Field(None, strict=True, description="`sentence` cuts where the subject changes")
    reflow: bool | None = Field(None, strict=True, description="mend what a PDF layout did to the text")
    heading_context: bool | None = Field(None, strict=True, description="embed title and heading path in front")

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """Those of a collection's settings; what else it has does not matter here.

        Raises:
            ValueError: a value is out of its bounds.
        """
        return cls.model_validate(
            {key: value for key, value in stored.items() if key in CollectionIngestion.model_fields}
        )


@dataclass(frozen=True, slots=True)
class IngestionSettings:
    """Settings in force. Of ``extract`` only what mends a PDF layout differs between collections."""

    split: SplitSettings
    extract: ExtractSettings
    heading_context: bool

    @classmethod
    def of(cls, settings: Settings) -> IngestionSettings:
        """Those of the service."""
        return cls(settings.split, settings.extract, settings.embed.heading_context)

    def with_own(self, own: CollectionIngestion) -> IngestionSettings:
        """These with what a collection has of its own in their place.

        Raises:
            ValueError: together they make no sense.
        """
        given = own.model_dump(exclude_none=True)
        reflow, context = given.pop("reflow", None), given.pop("heading_context", None)
        return replace(
            self,
            split=SplitSettings.model_validate({**self.split.model_dump(), **given}) if given else self.split,
            extract=self.extract if reflow is None else self.extract.model_copy(update={"reflow": reflow}),
            heading_context=self.heading_context if context is None else context,
        )

    def reading(self, media_type: str) -> str:
        """How such a file is read: empty for all that is mended by default, and for files that have no layout."""
        kinds = ("join_lines", "drop_furniture", "close_gaps")
        mended = [kind for kind in kinds if self.extract.reflow and getattr(self.extract, kind)]
        if len(mended) == len(kinds) or media_type.startswith(_NEVER_LAID_OUT):
            return ""
        return "+".join(mended) or "as_laid_out"

    def fingerprint(self, reading: str) -> str:
        """What is kept with a document, so that a change of settings is seen: how it was cut, embedded and read.

        With ``heading_context`` and ``reading`` as by default it is that of the split settings alone.
        """
        context = "" if self.heading_context else _NO_CONTEXT
        return settings_hash(self.split) + context + (_PAGES + reading if reading else "")


def settings_hash(settings: SplitSettings) -> str:
    """Short fingerprint of everything that decides how a text is cut, 16 hexadecimal digits."""
    return hashlib.sha256(settings.model_dump_json().encode()).hexdigest()[:16]


def reading_in(fingerprint: str) -> str:
    """The ``reading`` in a fingerprint."""
    return fingerprint.partition(_PAGES)[2]


def with_context(fingerprint: str, heading_context: bool) -> str:
    """The fingerprint of the same document embedded with, or without, title and heading path in front."""
    cut, pages, reading = fingerprint.partition(_PAGES)
    return cut.removesuffix(_NO_CONTEXT) + ("" if heading_context else _NO_CONTEXT) + pages + reading
