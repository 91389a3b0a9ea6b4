"""A search as the address of a page has it: every field may be left out, and what is left out is not asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from service.api.search.request import SearchBody
from service.config import SearchSettings
from service.web.view.validated import validated

NUMBERS = {"vector_weight": float, "fts_weight": float, "rrf_k": int, "candidates": int, "top_n": int}
"""Fields with a slider, and what they are."""

_SHOWN_UP_TO = {"vector_weight": 100, "fts_weight": 100, "rrf_k": 200, "candidates": 500, "top_n": 50}


@dataclass(frozen=True, slots=True)
class Slider:
    """A field that is set by a slider. ``given`` says that the address has it; else ``value`` is the service's."""

    name: str
    value: float
    low: float
    high: float
    given: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address of a page asks for, as it is written there."""

    query: str
    fields: Mapping[str, str]
    collection: str
    document: str
    rerank: bool

    @classmethod
    def read(cls, parameters: Mapping[str, str], prefix: str = "") -> Asked:
        """Take what belongs to one search; ``prefix`` stands before the fields where a page has two."""
        fields = {name: parameters[prefix + name].strip() for name in NUMBERS if parameters.get(prefix + name)}
        return cls(
            query=parameters.get("q", ""),
            fields=fields,
            collection=parameters.get("collection", ""),
            document=parameters.get("document", ""),
            rerank=parameters.get(f"{prefix}rerank", "on") != "off",
        )

    def sliders(self, settings: SearchSettings) -> list[Slider]:
        """The sliders with their bounds, which follow a larger value of the address."""
        return [self._slider(name, settings) for name in NUMBERS]

    def _slider(self, name: str, settings: SearchSettings) -> Slider:
        default = float(getattr(settings, name))
        most = float(getattr(settings, f"max_{name}", 10_000 if name == "rrf_k" else 1000))
        try:
            value = float(self.fields.get(name, default))
        except ValueError:
            value = default
        low = 0.0 if name.endswith("weight") else 1.0
        high = min(max(_SHOWN_UP_TO[name], value, default), most)
        return Slider(name, min(max(value, low), high), low, high, name in self.fields)

    def body(self, body_type: type[SearchBody]) -> SearchBody:
        """The same search as the REST service knows it, explained.

        Raises:
            InvalidRequest: a field is not in its bounds.
        """
        values: dict[str, Any] = {"query": self.query, "explain": True}
        values |= {name: _number(text, NUMBERS[name]) for name, text in self.fields.items()}
        if not self.rerank:
            values["rerank"] = False
        if self.collection:
            values["collections"] = [self.collection]
        if self.document:
            values["filters"] = {"document_ids": [_uuid(self.document)]}
        return validated(body_type, values)


def _number(text: str, kind: type[int] | type[float]) -> Any:
    try:
        return kind(text)
    except ValueError:
        return text  # refused below, with its name


def _uuid(text: str) -> UUID | str:
    try:
        return UUID(text)
    except ValueError:
        return text
