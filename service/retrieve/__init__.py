"""Query to fused candidates: filters are resolved, then one SQL statement does both legs and the fusion."""

from service.retrieve.candidates import retrieve
from service.retrieve.query_text import fts_query_text
from service.retrieve.scope import Scope, resolve_scope

__all__ = ["Scope", "fts_query_text", "resolve_scope", "retrieve"]
