"""What Tika says of a file, whichever Tika was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

type TikaMetadata = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class TikaAnswer:
    """Parsed XHTML of the file with its embedded documents inside, and Tika's metadata of the file itself."""

    root: Any
    metadata: TikaMetadata = field(default_factory=dict)

    def first(self, key: str) -> str | None:
        """First value of a metadata key that is not blank."""
        return next((value.strip() for value in self.metadata.get(key, ()) if value.strip()), None)

    @property
    def media_type(self) -> str:
        """Tika's media type without its parameters."""
        return (self.first("Content-Type") or "application/octet-stream").partition(";")[0].strip()

    @property
    def complaints(self) -> str:
        """Everything Tika noted as a warning or exception, in one string."""
        return " ".join(
            value
            for key, values in self.metadata.items()
            if key.lower().startswith(("x-tika:warning", "x-tika:exception"))
            for value in values
        )


@dataclass(frozen=True, slots=True)
class Ask:
    """How a file is to be read; ``ocr`` reads its pages as images, which only makes sense for scans."""

    file_name: str
    limit_seconds: float
    ocr: bool = False


class Tika(Protocol):
    """Asks a Tika. Raises the leaves of ``ExtractionFailed`` and ``ExtractorUnavailable``."""

    @property
    def name(self) -> str:
        """Name of the extractor, stored with the document."""

    @property
    def version(self) -> str:
        """Version of the extractor, stored with the document."""

    @property
    def can_read_images(self) -> bool:
        """True when asking for OCR can help."""

    def parse(self, path: Path, ask: Ask) -> TikaAnswer:
        """XHTML and metadata; the ending of the path counts where the content does not tell the type."""
