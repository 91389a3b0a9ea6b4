"""What holds for every text and every setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from service.config import SplitSettings
from service.split import split, split_sentences
from service.split.structure import find_outline
from service.split.structure.markdown import MarkdownBlocks
from service.types import ChildSpan, Chunks, ExtractedText, ParentSpan
from tests.unit.split import check_rules, markdown, plain
from tests.unit.split.strategies import markdown_texts, plain_texts, sizes

thorough = settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LONGEST_CLUSTER = 64


@thorough
@given(plain_texts, st.none() | st.integers(1, 80))
def test_sentences_are_ordered_disjoint_and_complete(text: str, hard_limit: int | None) -> None:
    spans = split_sentences(text, hard_limit)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    for start, end in spans:
        sentence = text[start:end]
        assert sentence == sentence.strip()
        assert len(sentence.splitlines()) == 1
        if hard_limit is not None and end - start > hard_limit:
            assert end - start <= LONGEST_CLUSTER
    assert split_sentences(text, hard_limit) == spans


@thorough
@given(plain_texts, sizes())
def test_chunks_by_sentences(text: str, sizes: SplitSettings) -> None:
    sizes = sizes.model_copy(update={"strategy": "sentence"})
    chunks = split(plain(text), sizes)
    check_rules(text, chunks)
    assert chunks == split(plain(text), sizes)
    check_sizes(chunks.parents, sizes.parent_size, sizes, text)
    check_sizes(chunks.children, sizes.child_size, sizes, text)
    assert all(before.end <= after.start for before, after in pairwise(chunks.parents))
    for child, next_child in pairwise(chunks.children):
        assert child.start < next_child.start
        assert child.end < next_child.end


@thorough
@given(markdown_texts.map(markdown) | plain_texts.map(plain), sizes(), st.sampled_from(("auto", "structure")))
def test_chunks_by_structure(document: ExtractedText, sizes: SplitSettings, strategy: str) -> None:
    sizes = sizes.model_copy(update={"strategy": strategy})
    text = document.text
    chunks = split(document, sizes)
    check_rules(text, chunks, outside_of_children(document, chunks))
    assert chunks == split(document, sizes)
    check_sizes(chunks.children, sizes.child_size, sizes, text)
    if chunks.strategy == "structure" and sizes.unit == "tokens":
        limit = max(sizes.sentence_hard_limit or len(text), sizes.child_size, LONGEST_CLUSTER)
        assert all(
            parent.token_estimate <= sizes.hard_tokens or parent.end - parent.start <= limit
            for parent in chunks.parents
        )
    else:
        check_sizes(chunks.parents, sizes.parent_size, sizes, text)
    for before, after in pairwise(chunks.parents):
        assert before.start < after.start
        assert before.end < after.end
        assert before.end - after.start <= sizes.parent_overlap
    for child, next_child in pairwise(chunks.children):
        assert child.start < next_child.start
        assert child.end < next_child.end


def check_sizes(chunks: Sequence[ParentSpan | ChildSpan], size: int, sizes: SplitSettings, text: str) -> None:
    """A chunk is larger than its limit only when it is a single sentence or line up to the hard limit, or when it is
    one grapheme cluster."""
    hard_limit = sizes.sentence_hard_limit
    for chunk in chunks:
        content = text[chunk.start : chunk.end]
        if len(content) > size and not regex.fullmatch(r"\X", content):
            assert len(content.splitlines()) == 1
            assert hard_limit is None or len(content) <= hard_limit


def outside_of_children(document: ExtractedText, chunks: Chunks) -> list[tuple[int, int]]:
    """Lines of fences, which children may do without."""
    if chunks.strategy == "sentence":
        return []
    outline = find_outline(document, required=True)
    assert outline is not None
    all_fences = outline.blocks.fences if outline.blocks else ()
    fences = [span for start, end in all_fences for span in line_spans(document.text, start, end)]
    return [span for span in fences if document.text[slice(*span)].strip().startswith(("```", "~~~"))]


def line_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for line in text[start:end].splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


@thorough
@given(markdown_texts)
def test_our_markdown_rules_find_the_same_blocks(text: str) -> None:
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    ours = MarkdownBlocks(text)
    theirs = parser.parse(text[ours.body_start :])
    wanted = [token for token in theirs if token.map and token.type != "inline" and token.type not in TABLE_PARTS]
    assert [shape(token) for token in ours.tokens] == [shape(token) for token in wanted]


TABLE_PARTS = {"thead_open", "tbody_open", "tr_open"}


def shape(token: Token) -> tuple[str, int, list[int] | None]:
    return token.type, token.level, token.map
