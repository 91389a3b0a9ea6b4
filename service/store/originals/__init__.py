"""Originals: the uploaded files, in a folder or in a bucket of any server that speaks S3."""

from service.store.originals.object_store import Originals
from service.store.originals.opening import open_originals

__all__ = ["Originals", "open_originals"]
