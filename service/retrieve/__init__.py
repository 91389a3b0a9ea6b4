"""Query to fused candidates: settings and filters are resolved, one SQL statement does both legs and the fusion."""

from service.retrieve.candidates import Retrieved, retrieve
from service.retrieve.own_settings import Resolved, resolve_settings
from service.retrieve.query_text import fts_query_text
from service.retrieve.scope import Scope, resolve_scope
from service.retrieve.surroundings import Surroundings, look_around

__all__ = [
    "Resolved",
    "Retrieved",
    "Scope",
    "Surroundings",
    "fts_query_text",
    "look_around",
    "resolve_scope",
    "resolve_settings",
    "retrieve",
]
