"""Text → parent chunks → child chunks, by sentences or by structure. Pure: same text and settings, same chunks."""

from __future__ import annotations

from service.config import SplitSettings
from service.config.ingestion import settings_hash
from service.errors import InvalidSettings
from service.split.characters import Kinds, kinds_of
from service.split.cuts import ChildCuts, Cuts, ParentCuts
from service.split.packing import ChildRule, pack_children, pack_parents
from service.split.sentences import cut_long_sentences, sentence_spans
from service.split.soft_cuts import SentenceEmbedder, SoftCuts
from service.split.structure import cut_by_structure, find_outline
from service.split.tokens import token_counter
from service.types import Chunks, ExtractedText

SPLITTER_VERSION = "2"
"""Changes whenever the same text and settings may be cut in another way than before."""


def split(document: ExtractedText, settings: SplitSettings, embed: SentenceEmbedder | None = None) -> Chunks:
    """Cut a document into parent chunks and, inside them, child chunks.

    Every span is exact: ``document.text[start:end]`` is the content, in code points. A text without any non-blank
    character has no chunks.

    Args:
        document: text with its format and pages.
        settings: strategy, sizes and limits.
        embed: embeddings of sentences, for ``soft_cut``; called once, with all sentences of the document.

    Raises:
        InvalidSettings: sizes that contradict one another, an unreadable tokenizer file, or ``soft_cut`` without
            ``embed``.
        EmbeddingFailed: ``embed`` gave something else than one vector a sentence.
    """
    _check(settings)
    if settings.soft_cut and embed is None:
        raise InvalidSettings("soft_cut needs an embedding model for sentences")
    text = document.text
    kinds = kinds_of(text)
    tokens = token_counter(text, kinds, settings.tokenizer_file)
    outline = None
    if settings.strategy != "sentence":
        outline = find_outline(document, required=settings.strategy == "structure")
    if outline:
        cuts = cut_by_structure(text, kinds, outline, tokens, settings)
    else:
        cuts = _cut_by_sentences(text, kinds, settings, embed if settings.soft_cut else None)
    parents = cuts.parents
    return Chunks(
        strategy="structure" if outline else "sentence",
        parents=cuts.parent_spans(document.pages, tokens.sizes(parents.starts, parents.ends)),
        children=cuts.child_spans(document.pages),
        settings_hash=settings_hash(settings),
        splitter_version=SPLITTER_VERSION,
    )


def split_sentences(text: str, hard_limit: int | None = None) -> list[tuple[int, int]]:
    """Spans of the sentences of a text, in order, without overlap, white space around them left out.

    Args:
        text: any text.
        hard_limit: longest sentence in code points; a longer one is cut into pieces no longer than this.

    Raises:
        InvalidSettings: ``hard_limit`` is below 1.
    """
    if hard_limit is not None and hard_limit < 1:
        raise InvalidSettings(f"the hard limit must be at least 1, not {hard_limit}")
    starts, ends = sentence_spans(text, kinds_of(text))
    if hard_limit is not None:
        starts, ends = cut_long_sentences(text, starts, ends, limit=hard_limit, piece_limit=hard_limit)
    return list(zip(starts, ends, strict=True))


def _cut_by_sentences(text: str, kinds: Kinds, settings: SplitSettings, embed: SentenceEmbedder | None) -> Cuts:
    starts, ends = sentence_spans(text, kinds)
    limit = settings.sentence_hard_limit
    if limit is not None:
        piece_limit = min(limit, settings.child_size)
        starts, ends = cut_long_sentences(text, starts, ends, limit=limit, piece_limit=piece_limit)
    soft = SoftCuts(text, starts, ends, embed) if embed else None
    parents = pack_parents(starts, ends, settings.parent_size, soft)
    rule = ChildRule(settings.child_size, len(text) / max(1, len(starts)), soft)
    children, owners = pack_children(starts, ends, parents, rule)
    return Cuts(ParentCuts(*parents.spans(starts, ends)), ChildCuts(*children.spans(starts, ends), owners))


def _check(settings: SplitSettings) -> None:
    """Refuse sizes that would cut nothing or never end, also when validation was bypassed."""
    limit = settings.sentence_hard_limit
    smallest = min(settings.parent_size, settings.child_size, settings.soft_tokens, settings.hard_tokens)
    if smallest < 1 or (limit is not None and limit < 1):
        raise InvalidSettings("sizes must be at least 1")
    if settings.child_size > settings.parent_size:
        raise InvalidSettings(f"child_size ({settings.child_size}) exceeds parent_size ({settings.parent_size})")
    if settings.soft_tokens > settings.hard_tokens:
        raise InvalidSettings(f"soft_tokens ({settings.soft_tokens}) exceeds hard_tokens ({settings.hard_tokens})")
    if not 0 <= settings.parent_overlap < settings.parent_size:
        raise InvalidSettings(
            f"parent_overlap ({settings.parent_overlap}) must be 0 or more and below parent_size "
            f"({settings.parent_size})"
        )
