"""Every route of the application, those of the console included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant

from service.api.access import Requirement
from service.types import AccessScope


@dataclass(frozen=True)
class FoundRoute:
    """A route as requests reach it, with what the routers above it add."""

    path: str
    methods: frozenset[str]
    dependant: Dependant
    include_in_schema: bool

    @property
    def scopes(self) -> list[AccessScope]:
        return [call.scope for call in _calls(self.dependant) if isinstance(call, Requirement)]


def _calls(dependant: Dependant) -> Iterator[object]:
    for dependency in dependant.dependencies:
        yield dependency.call
        yield from _calls(dependency)


def api_routes(app: FastAPI) -> list[FoundRoute]:
    """All routes that were made by decorators, whatever router they came by."""
    return [
        FoundRoute(route.path, frozenset(route.methods), route.dependant, route.include_in_schema)
        for route in _flat(app.routes)
    ]


def _flat(routes: Iterable[Any]) -> Iterator[Any]:
    for route in routes:
        if hasattr(
            route, "effective_candidates"
        ):  # an included router of newer versions of FastAPI, which keeps its routes
            yield from _flat(route.effective_candidates())
        elif getattr(route, "dependant", None) is not None:
            yield route
