"""ExtractedText → parent chunks → child chunks. Pure functions over the text, no I/O."""

from service.config.ingestion import settings_hash
from service.split.soft_cuts import SentenceEmbedder
from service.split.splitter import SPLITTER_VERSION, split, split_sentences
from service.split.tokens import estimate_tokens

__all__ = ["SPLITTER_VERSION", "SentenceEmbedder", "estimate_tokens", "settings_hash", "split", "split_sentences"]
