"""Extract: bytes of a file → clean text with structure and pages."""

from service.extract.extractor import Extractor, create_extractor

__all__ = ["Extractor", "create_extractor"]
