"""The settings of the collections that are searched, and what they make of a request."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache

import structlog
from pydantic import ValidationError

from service.config.collection import CollectionSettings
from service.retrieve.own_words import OwnWords, own_words, with_own_words
from service.retrieve.query_text import fts_query_text
from service.retrieve.surroundings import Surroundings
from service.types import SearchRequest

log = structlog.get_logger()

_MOST_KEPT = 256

_OWN = ("top_n", "candidates", "vector_weight", "fts_weight", "rrf_k", "fts_terms", "min_vector_similarity")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A request with the settings of its collections in force; ``fts_query_text`` has their words applied."""

    request: SearchRequest
    fts_query_text: str


def resolve_settings(request: SearchRequest, around: Surroundings) -> Resolved:
    """Apply the settings of the collections that are searched: those that are named, else all.

    Values that the request does not give are those of the collection, when it is the only one; the words of all hold.
    """
    own = [_read(collection.name, collection.settings) for collection in around.collections]
    if len(own) == 1:
        request = _with_own(request, own[0][0])
    return Resolved(request, fts_query_text(with_own_words(request.query, [words for _, words in own])))


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


@lru_cache(maxsize=_MOST_KEPT)
def _read(name: str, stored: str) -> tuple[CollectionSettings, OwnWords]:
    """Settings, and their words made ready; those that this version cannot read must not stop searches.

    Kept with the JSON text they are stored as, since thousands of synonyms take a second to read.
    """
    try:
        settings = CollectionSettings.model_validate(json.loads(stored))
    except ValidationError as error:
        log.warning("collection_settings_unreadable", collection=name, error=str(error))
        settings = CollectionSettings()
    return settings, own_words(settings.synonyms, settings.ignore_words)
