"""What holds for every text and every setting."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.config import SplitSettings
from service.split import split, split_sentences
from tests.unit.split import check_rules, plain
from tests.unit.split.strategies import plain_texts, sizes

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
    whole = set(split_sentences(text))
    limit = sizes.sentence_hard_limit
    for chunk, size in [(parent, sizes.parent_size) for parent in chunks.parents] + [
        (child, sizes.child_size) for child in chunks.children
    ]:
        if chunk.end - chunk.start > size:
            is_whole = (chunk.start, chunk.end) in whole and (limit is None or chunk.end - chunk.start <= limit)
            assert is_whole or chunk.end - chunk.start <= LONGEST_CLUSTER
    for before, after in pairwise(chunks.parents):
        assert before.end <= after.start
    for child, next_child in pairwise(chunks.children):
        assert child.start < next_child.start
        assert child.end < next_child.end
