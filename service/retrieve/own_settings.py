"""The settings of the collections that are searched, and what they make of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import structlog
from pydantic import ValidationError

from service.config.collection import CollectionSettings
from service.retrieve.own_words import with_own_words
from service.retrieve.query_text import fts_query_text
from service.retrieve.surroundings import Surroundings
from service.types import SearchRequest

log = structlog.get_logger()

_OWN = ("top_n", "candidates", "vector_weight", "fts_weight", "rrf_k", "fts_terms", "min_vector_similarity")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A request with the settings of its collections in force; ``fts_query_text`` has their words applied."""

    request: SearchRequest
    fts_query_text: str


def resolve_settings(request: SearchRequest, around: Surroundings) -> Resolved:
    """Apply the settings of the collections that are searched: those that are named, else all.

    Values that the request does not give are those of the collection, when it is the only one. The synonyms of all of
    them hold; a word is ignored when all of them ignore it.
    """
    own = [_read(collection.name, collection.settings) for collection in around.collections]
    if len(own) == 1:
        request = _with_own(request, own[0])
    synonyms = [group for settings in own for group in settings.synonyms]
    ignored = set(own[0].ignore_words).intersection(*(settings.ignore_words for settings in own)) if own else set()
    text = with_own_words(request.query, synonyms, sorted(ignored)) if synonyms or ignored else request.query
    return Resolved(request, fts_query_text(text))


def _with_own(request: SearchRequest, own: CollectionSettings) -> SearchRequest:
    values = {name: value for name in _OWN if name not in request.given and (value := getattr(own, name)) is not None}
    changed = replace(request, **values)
    if request.vector_weight == 0:
        changed = replace(changed, vector_weight=0.0)  # the query was not embedded
    if changed.vector_weight == 0 and changed.fts_weight == 0:
        # one weight of the request and one of the collection: what was asked for runs
        changed = replace(changed, vector_weight=request.vector_weight, fts_weight=request.fts_weight)
    if "candidates" not in request.given and changed.candidates < changed.top_n:
        changed = replace(changed, candidates=changed.top_n)
    return changed


def _read(name: str, stored: Mapping[str, object]) -> CollectionSettings:
    """Settings that this version cannot read must not stop searches."""
    try:
        return CollectionSettings.model_validate(stored)
    except ValidationError as error:
        log.warning("collection_settings_unreadable", collection=name, error=str(error))
        return CollectionSettings()
