"""What all groups of settings have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """Settings that belong together: immutable, and unknown names are refused."""

    # a complaint about one setting must not print the keys beside it
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
