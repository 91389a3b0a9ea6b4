"""What all groups of settings have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """Settings that belong together: immutable, and unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
