"""What the archive flows share: their parts, and how they tell what they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from service.store.originals import Originals
from service.types import JsonObject

type Watch = Callable[[str, int, int | None], None]
"""Called with the step, and with bytes done and bytes in all of that step (None while nobody knows)."""

BACKUP, BACKUP_VERSION = "fuzi-backup", 1
COLLECTION, COLLECTION_VERSION = "fuzi-collection", 1
ORIGINALS = "originals"


@dataclass(frozen=True, slots=True)
class ArchiveParts:
    """Where the data are. ``programs`` is a folder with pg_dump and pg_restore, None looks for them."""

    dsn: str
    originals: Originals
    programs: Path | None = None


def provenance() -> JsonObject:
    """Facts about the making of an archive, for its manifest."""
    return {"fuzi_version": version("fuzi"), "created_at": datetime.now(UTC).isoformat()}


def silent(_step: str, _done: int, _total: int | None) -> None:
    """A `Watch` for those who do not want to know."""
