"""Collections: their rows and settings, and which of their documents were taken in with other ones."""

from service.store.collections.outdated import Kind, claim, kinds_of_documents
from service.store.collections.rows import (
    CollectionRecord,
    adopt_settings,
    check_visible,
    ensure_collection,
    get_collection,
    ingestion_settings,
    list_collections,
    own_heading_context,
    put_settings,
    with_own_settings,
)

__all__ = [
    "CollectionRecord",
    "Kind",
    "adopt_settings",
    "check_visible",
    "claim",
    "ensure_collection",
    "get_collection",
    "ingestion_settings",
    "kinds_of_documents",
    "list_collections",
    "own_heading_context",
    "put_settings",
    "with_own_settings",
]
