"""Settings of what is kept: PostgreSQL and the originals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from service.config.group import Group


class DatabaseSettings(Group):
    """Which PostgreSQL, and how to talk to it."""

    url: SecretStr | None = Field(None, description="PostgreSQL URL; unset starts the embedded server")
    read_url: SecretStr | None = Field(None, description="replica that `fuzi serve` searches while it is well")
    read_max_lag_seconds: float = Field(
        30, gt=0, le=86400, description="a replica further behind is not searched, the primary is"
    )
    analyst_url: SecretStr | None = Field(
        None, description="login of `fuzi sql`, a member of rag_analyst; unset makes one for each query"
    )
    programs: Path | None = Field(None, description="folder of pg_dump and pg_restore; unset looks for them")
    embedded_port: int = Field(0, ge=0, le=65535, description="loopback TCP port of the embedded server, 0 picks one")
    pool_size: int = Field(8, ge=1, le=200, description="open connections per process")
    connect_timeout_seconds: float = Field(5, gt=0, le=60, description="wait for a new connection")
    statement_timeout_seconds: float = Field(30, gt=0, le=3600, description="limit of one search statement")
    guard_seconds: float = Field(10, gt=0, le=3600, description="time between two looks whether a crash hit BM25")
    compact_above_segments: int = Field(
        8,
        ge=1,
        le=10_000,
        description="BM25 segments above which an index at rest is rebuilt, a large one after a third more",
    )
    compact_after_seconds: float = Field(
        60, gt=0, le=86400, description="rest before that: nothing was written, and no job works"
    )
    hnsw_m: int = Field(24, ge=2, le=100, description="links of a node in the HNSW index, used by the first migration")
    hnsw_ef_construction: int = Field(200, ge=4, le=1000, description="breadth of building it, at least twice `hnsw_m`")

    @model_validator(mode="after")
    def _hnsw_fits(self) -> Self:
        if self.hnsw_ef_construction < 2 * self.hnsw_m:
            raise ValueError(f"hnsw_ef_construction must be at least {2 * self.hnsw_m}, twice hnsw_m")
        return self


class OriginalsSettings(Group):
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
