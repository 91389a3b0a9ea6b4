"""Settings: read once from ``FUZI_…`` variables, then passed down as values.

Nested names join with two underscores: ``FUZI_SPLIT__CHILD_SIZE=200``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

LOCAL_MODEL = "multilingual-e5-small"
LOCAL_DIMENSION = 384

_NO_SETTINGS = {"FUZI_URL", "FUZI_SHARED"}
"""The command line's default of ``--url``, and where the tests find their inputs."""


def default_home() -> Path:
    """``~/.fuzi``; for root ``/var/lib/fuzi``, since the unprivileged user that PostgreSQL needs cannot enter /root."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/fuzi")
    return Path.home() / ".fuzi"


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatabaseSettings(_Group):
    """Which PostgreSQL, and how to talk to it."""

    url: SecretStr | None = Field(None, description="PostgreSQL URL; unset starts the embedded server")
    programs: Path | None = Field(None, description="folder of pg_dump and pg_restore; unset looks for them")
    embedded_port: int = Field(0, ge=0, le=65535, description="loopback TCP port of the embedded server, 0 picks one")
    pool_size: int = Field(8, ge=1, le=200, description="open connections per process")
    connect_timeout_seconds: float = Field(5, gt=0, le=60, description="wait for a new connection")
    statement_timeout_seconds: float = Field(30, gt=0, le=3600, description="limit of one search statement")
    guard_seconds: float = Field(10, gt=0, le=3600, description="time between two looks whether a crash hit BM25")
    hnsw_m: int = Field(16, ge=2, le=100, description="links of a node in the HNSW index, used by the first migration")
    hnsw_ef_construction: int = Field(64, ge=4, le=1000, description="breadth of building it, at least twice `hnsw_m`")

    @model_validator(mode="after")
    def _hnsw_fits(self) -> Self:
        if self.hnsw_ef_construction < 2 * self.hnsw_m:
            raise ValueError(f"hnsw_ef_construction must be at least {2 * self.hnsw_m}, twice hnsw_m")
        return self


class ServerSettings(_Group):
    """Where the REST service listens."""

    host: str = Field("127.0.0.1", description="address to bind")
    port: int = Field(8000, ge=0, le=65535, description="port to bind, 0 picks one")
    allow_remote_without_keys: bool = Field(False, description="allow a non-loopback bind although no API keys exist")
    upload_folder: Path | None = Field(
        None, description="existing folder for uploads under way; unset is the system's temporary folder"
    )


class ExtractSettings(_Group):
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


class SplitSettings(_Group):
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


class EmbedSettings(_Group):
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


class SearchSettings(_Group):
    """Defaults and bounds of a search."""

    top_n: int = Field(5, ge=1, le=100, description="passages returned")
    max_top_n: int = Field(100, ge=1, le=1000, description="largest `top_n` a request may ask for")
    candidates: int = Field(50, ge=1, le=1000, description="child chunks each leg returns")
    max_candidates: int = Field(1000, ge=1, le=1000, description="largest `candidates` a request may ask for")
    vector_weight: float = Field(70, ge=0, le=1000, description="weight of the vector leg")
    fts_weight: float = Field(30, ge=0, le=1000, description="weight of the BM25 leg")
    rrf_k: int = Field(60, ge=1, le=10_000, description="k of reciprocal rank fusion")
    max_query_characters: int = Field(5000, ge=1, le=100_000, description="longest query")
    log_share: float = Field(1, ge=0, le=1, description="part of the searches noted in `rag.search_log`, 0 is none")
    ef_search: int = Field(100, ge=1, le=1000, description="HNSW search breadth, raised to `candidates` when smaller")


class RerankSettings(_Group):
    """Which reranker reorders the passages."""

    provider: Literal["none"] = Field("none", description="adapter")


class OriginalsSettings(_Group):
    """Where the uploaded files are kept."""

    url: str | None = Field(None, description="`s3://bucket/prefix` or `file:///folder`; unset is a folder below home")
    endpoint: str | None = Field(None, description="URL of the S3 server; unset is Amazon's")
    region: str = Field("us-east-1", min_length=1, description="region of the bucket")
    access_key: str | None = Field(None, description="S3 access key; unset asks the environment as AWS programs do")
    secret_key: SecretStr | None = Field(None, description="its secret")
    allow_http: bool = Field(False, description="allow an `endpoint` without TLS")
    virtual_hosted: bool = Field(False, description="the bucket is part of the host name, not of the path")
    connect_timeout_seconds: float = Field(5, gt=0, le=60, description="wait for a new connection to the S3 server")
    timeout_seconds: float = Field(30, gt=0, le=600, description="silence of the S3 server after which a try fails")
    retries: int = Field(5, ge=0, le=20, description="further tries of a request to the S3 server")
    retry_seconds: float = Field(60, gt=0, le=300, description="time for all tries of a request to the S3 server")

    @model_validator(mode="after")
    def _fits_its_url(self) -> Self:
        parts = urlsplit(self.url or "")
        if parts.scheme not in {"", "file", "s3"} or (self.url is not None and not parts.scheme):
            raise ValueError(f"url must be s3://bucket/prefix or file:///folder, not {self.url}")
        if parts.scheme == "s3" and not re.fullmatch(r"[a-z0-9][a-z0-9.-]+", parts.netloc):
            raise ValueError(f"url names no bucket: {self.url}")
        if parts.scheme == "file" and (parts.netloc or not parts.path.strip("/")):
            raise ValueError(f"url must name a folder with three slashes, as in file:///srv/originals, not {self.url}")
        if (self.access_key is None) != (self.secret_key is None):
            raise ValueError("access_key and secret_key belong together")
        endpoint = urlsplit(self.endpoint or "https://aws")
        if endpoint.scheme not in {"http", "https"} or not endpoint.netloc or endpoint.path.strip("/"):
            raise ValueError(f"endpoint must be a URL such as http://minio:9000, not {self.endpoint}")
        if endpoint.scheme == "http" and not self.allow_http:
            raise ValueError("endpoint has no TLS: use https, or set allow_http")
        return self


class LimitSettings(_Group):
    """Bounds that protect the service."""

    max_upload_mb: int = Field(200, ge=1, le=10_000, description="largest upload")
    max_request_mb: int = Field(4, ge=1, le=1000, description="largest body of any other request")
    large_file_mb: int = Field(2, ge=0, le=10_000, description="files above this wait in a lane of their own")
    max_metadata_bytes: int = Field(65_536, ge=2, le=10_000_000, description="largest metadata object")
    max_metadata_depth: int = Field(16, ge=1, le=100, description="deepest metadata object")


class JobSettings(_Group):
    """How uploads are worked on."""

    inside_serve: bool = Field(True, description="`fuzi serve` works on jobs itself; else `fuzi worker` must run")
    concurrency: int = Field(3, ge=1, le=100, description="jobs at once in one process")
    large_concurrency: int = Field(1, ge=1, le=100, description="jobs of large files at once, beside those")
    attempts: int = Field(5, ge=1, le=100, description="tries of one job before it is a dead letter")
    backoff_seconds: float = Field(2, gt=0, le=3600, description="wait before the second try, doubled for each further")
    max_backoff_seconds: float = Field(300, gt=0, le=86_400, description="longest wait before another try")
    heartbeat_seconds: float = Field(2, gt=0, le=60, description="time between two signs of life of a job")
    lease_seconds: float = Field(30, gt=0, le=3600, description="silence after which a job is given to another worker")
    graceful_seconds: float = Field(10, ge=0, le=3600, description="time for running jobs when a worker stops")
    sweep_seconds: float = Field(10, gt=0, le=3600, description="time between two sweeps for dead workers")
    metrics_port: int | None = Field(None, ge=0, le=65535, description="port on which `fuzi worker` answers /metrics")
    keep_days: float = Field(30, gt=0, le=3650, description="age at which jobs that ended well are forgotten")

    @model_validator(mode="after")
    def _lease_outlives_heartbeats(self) -> Self:
        if self.lease_seconds < 3 * self.heartbeat_seconds:
            raise ValueError(
                f"lease_seconds ({self.lease_seconds}) must be 3 × heartbeat_seconds ({self.heartbeat_seconds}) or more"
            )
        return self


class LogSettings(_Group):
    """What is logged, to standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="least level shown")
    format: Literal["auto", "json", "console"] = Field("auto", description="auto: console on a terminal, else JSON")


class Settings(BaseSettings):
    """All settings of one process; immutable."""

    model_config = SettingsConfigDict(
        env_prefix="FUZI_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        env_file=".env",
        # somebody else's lines in the same file are theirs; a misspelt FUZI_… is still refused
        dotenv_filtering="match_prefix",
        env_file_encoding="utf-8",
    )

    home: Path = Field(default_factory=default_home, description="folder of the embedded shape's data")
    database: DatabaseSettings = DatabaseSettings()
    server: ServerSettings = ServerSettings()
    extract: ExtractSettings = ExtractSettings()
    split: SplitSettings = SplitSettings()
    embed: EmbedSettings = EmbedSettings()
    search: SearchSettings = SearchSettings()
    rerank: RerankSettings = RerankSettings()
    originals: OriginalsSettings = OriginalsSettings()
    jobs: JobSettings = JobSettings()
    limits: LimitSettings = LimitSettings()
    log: LogSettings = LogSettings()

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        """Refuse a misspelt variable; the settings library sees only the names that it looks for."""
        known = {f"FUZI_{name.upper()}" for name in type(self).model_fields} | _NO_SETTINGS
        for name in os.environ:
            if name.startswith("FUZI_") and name.split("__")[0] not in known:
                raise ValueError(f"there is no setting {name}; `docs/settings.md` lists them")
        return self
