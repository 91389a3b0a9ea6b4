"""ExtractedText → parent chunks → child chunks. Pure functions over the text, no I/O."""

from service.config.ingestion import settings_hash
from service.split.soft_cuts import SentenceEmbedder
from service.split.splitter import SPLITTER_VERSION, split, split_sentences

__all__ = ["SPLITTER_VERSION", "SentenceEmbedder", "settings_hash", "split", "split_sentences"]
