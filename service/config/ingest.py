"""Settings of the steps that take a document in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from service.config.group import Group

LOCAL_MODEL = "multilingual-e5-small"
LOCAL_DIMENSION = 384
LONGEST_VECTOR = 2000
"""Dimensions that an HNSW index of pgvector holds on a column of type ``vector``."""


class ExtractSettings(Group):
    """How files become text, and within which limits."""

    adapter: Literal["native", "server"] = Field("native", description="Tika in process, or a Tika server")
    tika_url: str | None = Field(None, description="URL of the Tika server (adapter `server`)")
    timeout_seconds: float = Field(60, gt=0, le=3600, description="time limit of one file")
    memory_mb: int = Field(2048, ge=256, le=65536, description="memory limit of one parser process")
    max_characters: int = Field(
        50_000_000, ge=1, le=2_000_000_000, description="largest text of one file, in characters"
    )
    max_depth: int = Field(8, ge=1, le=64, description="nesting limit of attachments and archives")
    workers: int = Field(2, ge=1, le=64, description="parser processes kept ready")
    reflow: bool = Field(True, description="mend what a PDF layout did to the text; off: none of the next three")
    join_lines: bool = Field(True, description="join PDF line wraps and hyphenated words")
    drop_furniture: bool = Field(True, description="drop headers, footers and page numbers that recur on most pages")
    close_gaps: bool = Field(True, description="remove blanks that a PDF put between Han characters")
    ocr: bool = Field(True, description="read scans by Tesseract when it is installed")
    ocr_languages: str = Field("chi_sim+eng", description="Tesseract languages")
    ocr_timeout_seconds: float = Field(600, gt=0, le=86_400, description="time limit of one scan")


class SplitSettings(Group):
    """How text is cut. Sizes count code points, or tokens when ``unit`` is ``tokens``."""

    strategy: Literal["auto", "sentence", "structure"] = Field("auto", description="structure when there are headings")
    unit: Literal["characters", "tokens"] = Field("characters", description="what the sizes of `structure` count")
    parent_size: int = Field(800, ge=1, le=100_000, description="largest parent chunk")
    child_size: int = Field(200, ge=1, le=100_000, description="largest child chunk, except one longer whole sentence")
    sentence_hard_limit: int | None = Field(
        400, ge=1, le=100_000, description="longest uncut sentence, `none` = no cut"
    )
    parent_overlap: int = Field(100, ge=0, le=10_000, description="tail repeated in the next parent of a cut section")
    soft_tokens: int = Field(500, ge=1, le=100_000, description="aim of a structure parent in tokens")
    hard_tokens: int = Field(600, ge=1, le=100_000, description="limit of a structure parent in tokens")
    tokenizer_file: Path | None = Field(None, description="tokenizer.json for exact token counts")
    soft_cut: bool = Field(False, description="`sentence` cuts where the subject changes most, by embeddings")

    @model_validator(mode="before")
    @classmethod
    def _none_word(cls, values: object) -> object:
        if isinstance(values, dict) and str(values.get("sentence_hard_limit", "")).lower() == "none":
            return {**values, "sentence_hard_limit": None}
        return values

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.child_size > self.parent_size:
            raise ValueError(f"child_size ({self.child_size}) must not exceed parent_size ({self.parent_size})")
        if self.soft_tokens > self.hard_tokens:
            raise ValueError(f"soft_tokens ({self.soft_tokens}) must not exceed hard_tokens ({self.hard_tokens})")
        if self.parent_overlap >= self.parent_size:
            raise ValueError(f"parent_overlap ({self.parent_overlap}) must be below parent_size ({self.parent_size})")
        return self


class EmbedSettings(Group):
    """Which model turns texts into vectors."""

    provider: Literal["local", "openai", "nvidia", "ollama", "dashscope"] = Field("local", description="adapter")
    model: str = Field(LOCAL_MODEL, min_length=1, description="model name at the provider")
    dimension: int = Field(LOCAL_DIMENSION, ge=1, le=4000, description="numbers in a vector")
    send_dimension: bool = Field(False, description="ask the provider for this dimension (`dimensions`)")
    base_url: str | None = Field(None, description="URL of the provider, up to and including its version path")
    api_key: SecretStr | None = Field(None, description="key of the provider")
    standby_api_key: SecretStr | None = Field(None, description="key of the model that `fuzi reembed` changes to")
    batch_size: int = Field(10, ge=1, le=2048, description="texts a call")
    concurrency: int = Field(4, ge=1, le=64, description="calls in flight")
    timeout_seconds: float = Field(30, gt=0, le=600, description="limit of one call")
    total_timeout_seconds: float = Field(300, gt=0, le=86_400, description="limit of all tries of one call")
    attempts: int = Field(5, ge=1, le=20, description="tries of one call")
    heading_context: bool = Field(True, description="embed title and heading path in front of the content")
    vector_type: Literal["auto", "vector", "halfvec"] = Field("auto", description="4 or 2 bytes a number")

    @model_validator(mode="after")
    def _type_holds_the_dimension(self) -> Self:
        if self.vector_type == "vector" and self.dimension > LONGEST_VECTOR:
            raise ValueError(
                f"vector_type `vector` holds up to {LONGEST_VECTOR:,} dimensions in an HNSW index, the model has "
                f"{self.dimension:,}: take `halfvec` or `auto`"
            )
        return self
