"""The rules of the house, as tests."""

from __future__ import annotations

from pathlib import Path

from service.errors import FuziError

ROOT = Path(__file__).parents[2]


def error_tree() -> list[type[FuziError]]:
    """The root and every subclass that service.errors defines."""
    found = [FuziError]
    for parent in found:
        found.extend(child for child in parent.__subclasses__() if child.__module__.startswith("service.errors."))
    return found
