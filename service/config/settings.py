"""All settings of a process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from service.config.ingest import EmbedSettings, ExtractSettings, SplitSettings
from service.config.process import JobSettings, LimitSettings, LogSettings, ServerSettings, TracingSettings
from service.config.search import ChatSettings, RerankSettings, SearchSettings
from service.config.storage import DatabaseSettings, OriginalsSettings

_NO_SETTINGS = {"FUZI_URL", "FUZI_API_KEY", "FUZI_SHARED"}
"""The server of ``--url`` and the key for it, and where the tests find their inputs."""


def default_home() -> Path:
    """``~/.fuzi``; for root ``/var/lib/fuzi``, since the unprivileged user that PostgreSQL needs cannot enter /root."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/fuzi")
    return Path.home() / ".fuzi"


class Settings(BaseSettings):
    """All settings of one process; immutable."""

    model_config = SettingsConfigDict(
        env_prefix="FUZI_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
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
    chat: ChatSettings = ChatSettings()
    originals: OriginalsSettings = OriginalsSettings()
    jobs: JobSettings = JobSettings()
    limits: LimitSettings = LimitSettings()
    log: LogSettings = LogSettings()
    tracing: TracingSettings = TracingSettings()

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        """Refuse a misspelt variable; the settings library sees only the names that it looks for."""
        known = {f"FUZI_{name.upper()}" for name in type(self).model_fields} | _NO_SETTINGS
        for name in os.environ:
            if name.startswith("FUZI_") and name.split("__")[0] not in known:
                raise ValueError(f"there is no setting {name}; `docs/settings.md` lists them")
        return self
