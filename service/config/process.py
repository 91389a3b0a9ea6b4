"""Settings of a running process: where it listens, what it works on, its bounds and its log."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from service.config.group import Group

_ORIGIN = re.compile(r"https?://[^/?#@\s]+")


class ServerSettings(Group):
    """Where the REST service listens, and whom it lets in."""

    host: str = Field("127.0.0.1", description="address to bind")
    port: int = Field(8000, ge=0, le=65535, description="port to bind, 0 picks one")
    allow_remote_without_keys: bool = Field(False, description="allow a non-loopback bind although no API keys exist")
    graceful_seconds: float = Field(
        30, ge=0, le=3600, description="time for requests under way when the service stops; then they get a 503"
    )
    require_keys: bool | None = Field(
        None, description="ask every request for an API key; unset: as soon as the first one was made"
    )
    allowed_origins: str | None = Field(
        None,
        description="origins of other sites whose pages may ask, divided by blanks, such as `https://app.example.org`",
    )
    upload_folder: Path | None = Field(
        None, description="existing folder for uploads under way; unset is the system's temporary folder"
    )

    @model_validator(mode="after")
    def _origins_are_origins(self) -> Self:
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"allowed_origins: {origin!r} is no origin such as https://app.example.org")
        return self

    @property
    def origins(self) -> tuple[str, ...]:
        """The allowed origins, one by one."""
        return tuple((self.allowed_origins or "").split())

    @property
    def is_loopback(self) -> bool:
        """True when only this machine can reach the address."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def keys_required(self) -> bool | None:
        """Whether keys are asked for; None: as soon as the first one was made.

        An address that other machines reach never turns open because of what is (no longer) in the database.
        """
        if self.require_keys is None and not self.is_loopback and not self.allow_remote_without_keys:
            return True
        return self.require_keys


class LimitSettings(Group):
    """Bounds that protect the service."""

    max_upload_mb: int = Field(200, ge=1, le=10_000, description="largest upload")
    max_request_mb: int = Field(4, ge=1, le=1000, description="largest body of any other request")
    large_file_mb: int = Field(2, ge=0, le=10_000, description="files above this wait in a lane of their own")
    max_metadata_bytes: int = Field(65_536, ge=2, le=10_000_000, description="largest metadata object")
    max_metadata_depth: int = Field(16, ge=1, le=100, description="deepest metadata object")
    searches_at_once: int = Field(8, ge=1, le=1000, description="searches in work at once in one process")
    searches_waiting: int = Field(64, ge=0, le=100_000, description="searches that may wait for those; more get a 503")
    requests_per_minute: int | None = Field(
        None, ge=1, le=1_000_000, description="requests of one API key a minute in one process; more get a 429"
    )
    search_wait_seconds: float = Field(5, gt=0, le=600, description="longest wait of a search, then it gets a 503")


class JobSettings(Group):
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


class LogSettings(Group):
    """What is logged, to standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="least level shown")
    format: Literal["auto", "json", "console"] = Field("auto", description="auto: console on a terminal, else JSON")


class TracingSettings(Group):
    """Where spans go, for OpenTelemetry."""

    endpoint: str | None = Field(None, description="URL of an OTLP collector over HTTP; unset is no tracing")
    service_name: str = Field("fuzi", min_length=1, description="`service.name` of the spans")
    sample_share: float = Field(
        1, ge=0, le=1, description="part of the traces that begin here; one that began elsewhere follows its caller"
    )

    @field_validator("endpoint")
    @classmethod
    def _is_a_url(cls, given: str | None) -> str | None:
        parts = urlsplit(given or "http://unset")
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
            raise ValueError("must be a URL such as http://127.0.0.1:4318, without a password")
        return given
