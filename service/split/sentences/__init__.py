"""Where sentences begin and end, and how the longest of them are cut."""

from service.split.sentences.long import cut_long_sentences, next_plain_boundary
from service.split.sentences.spans import sentence_spans

__all__ = ["cut_long_sentences", "next_plain_boundary", "sentence_spans"]
