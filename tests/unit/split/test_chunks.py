"""Parents, children and their dynamic overlap by the sentence strategy."""

from __future__ import annotations

import itertools

import pytest

from service.config import SplitSettings
from service.errors import InvalidSettings
from service.split import SPLITTER_VERSION, settings_hash, split
from service.types import Page
from tests.unit.split import check_rules, child_spans, parent_spans, plain, split_plain


def text_of(*lengths: int) -> str:
    """Sentences of these lengths, each ending with a full stop."""
    return "".join("字" * (length - 1) + "。" for length in lengths)


def test_a_short_last_sentence_is_repeated() -> None:
    chunks = split_plain(text_of(90, 90, 20, 100, 30), strategy="sentence")
    assert child_spans(chunks) == [(0, 200), (180, 330)]
    assert parent_spans(chunks) == [(0, 330)]


def test_a_last_sentence_of_mean_length_is_repeated_and_a_longer_one_not() -> None:
    assert child_spans(split_plain(text_of(50, 50, 50, 50), child_size=100)) == [(0, 100), (50, 150), (100, 200)]
    assert child_spans(split_plain(text_of(49, 51, 50, 49), child_size=100)) == [(0, 100), (100, 199)]


@pytest.mark.parametrize("lengths", [(10, 195), (10, 195, 10, 195), (50, 10, 195), (195, 10), (1, 200, 1, 200)])
def test_the_start_always_advances(lengths: tuple[int, ...]) -> None:
    text = text_of(*lengths)
    chunks = split_plain(text, child_size=200)
    check_rules(text, chunks)
    spans = child_spans(chunks)
    assert all(before < after for before, after in itertools.pairwise(spans))
    assert all(before[1] < after[1] for before, after in itertools.pairwise(spans)), "a child adds nothing"


def test_ten_and_195_characters_end() -> None:
    assert child_spans(split_plain(text_of(10, 195), child_size=200)) == [(0, 10), (10, 205)]


def test_no_overlap_between_parents() -> None:
    chunks = split_plain(text_of(*[50] * 40))
    assert parent_spans(chunks) == [(0, 800), (800, 1600), (1600, 2000)]
    assert next(child.start for child in chunks.children if child.parent == 1) == 800


def test_a_sentence_is_kept_whole_up_to_the_hard_limit() -> None:
    chunks = split_plain(text_of(390, 50))
    assert child_spans(chunks) == [(0, 390), (390, 440)]
    assert max(end - start for start, end in child_spans(split_plain(text_of(410, 50)))) <= 200
    whole = split_plain("字" * 2000, sentence_hard_limit=None)
    assert child_spans(whole) == parent_spans(whole) == [(0, 2000)]


def test_pieces_of_a_long_sentence_are_packed_like_sentences() -> None:
    clause = "字" * 59 + "，"
    chunks = split_plain(clause * 10)
    assert child_spans(chunks)[:2] == [(0, 180), (120, 300)]


def test_every_parent_counts_its_tokens() -> None:
    chunks = split_plain("汉字，abcd efgh 汉。")
    assert chunks.parents[0].token_estimate == 2 + 1 + 1 + 1 + 1 + 1


def test_pages_are_those_of_the_first_and_last_character() -> None:
    text = text_of(100) + "\n" + text_of(100) + "\n" + text_of(100)
    pages = (Page(1, 0, 101), Page(2, 101, 202), Page(3, 202, 302))
    chunks = split(plain(text, pages), SplitSettings(child_size=210))
    assert [(child.first_page, child.last_page) for child in chunks.children] == [(1, 2), (2, 3)]
    assert [(parent.first_page, parent.last_page) for parent in chunks.parents] == [(1, 3)]
    without = split_plain(text)
    assert {child.first_page for child in without.children} == {None}


def test_chunks_name_what_made_them() -> None:
    chunks = split_plain("字。")
    assert chunks.strategy == "sentence"
    assert chunks.splitter_version == SPLITTER_VERSION
    assert chunks.settings_hash == settings_hash(SplitSettings()) != settings_hash(SplitSettings(child_size=100))


@pytest.mark.parametrize(
    "sizes",
    [
        {"child_size": 0},
        {"child_size": -1},
        {"parent_size": 0},
        {"parent_size": 100, "child_size": 200, "parent_overlap": 0},
        {"sentence_hard_limit": 0},
        {"parent_overlap": 800},
        {"parent_overlap": -1},
        {"soft_tokens": 700, "hard_tokens": 600},
        {"hard_tokens": 0, "soft_tokens": 0},
    ],
)
def test_impossible_sizes_are_refused_even_without_validation(sizes: dict[str, int]) -> None:
    settings = SplitSettings().model_copy(update=sizes)
    with pytest.raises(InvalidSettings):
        split(plain("字。"), settings)
