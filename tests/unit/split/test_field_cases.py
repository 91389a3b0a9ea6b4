"""The published cases of the areas sentence and chunk."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from service.config import SplitSettings
from service.split import split_sentences
from tests.cases import case
from tests.unit.split import check_rules, child_spans, parent_spans, sentences, split_plain


@pytest.mark.parametrize("identifier", ["BR-001", "BR-002", "BR-003", "BR-005"])
def test_sentences_are_exactly_these(identifier: str) -> None:
    given = case(identifier)
    assert sentences(given.text) == given.expected["sentences"]
    assert "".join(sentences(given.text)) == given.text
    check_rules(given.text, split_plain(given.text))


def test_closing_quote_stays_with_its_sentence() -> None:
    spans = [list(span) for span in split_sentences(case("BR-001").text)]
    assert spans == case("BR-001").expected["spans"]


def test_text_after_the_last_terminator_is_kept() -> None:
    given = case("BR-004")
    assert [sentences(text) for text in given.input["texts"]] == given.expected["sentences_per_text"]


def test_a_title_with_an_exclamation_mark_is_in_one_child() -> None:
    text = case("BR-005").text
    assert child_spans(split_plain(text)) == [(0, len(text))]


def test_equal_paragraphs_have_their_own_offsets() -> None:
    given = case("BR-013")
    spans = child_spans(split_plain(given.text))
    assert [start for start, _ in spans] == given.expected["child_starts_stripped"]
    assert [end - start for start, end in spans] == given.expected["child_lengths_stripped"]


@pytest.mark.parametrize("hard_limit", [200, 400])
def test_one_long_line_without_punctuation(hard_limit: int) -> None:
    text = case("BR-014").text
    chunks = split_plain(text, sentence_hard_limit=hard_limit)
    check_rules(text, chunks)
    assert child_spans(chunks) == [(start, start + 200) for start in range(0, 1000, 200)]
    assert parent_spans(chunks) == [(0, 800), (800, 1000)]


@pytest.mark.parametrize("hard_limit", [200, 400])
def test_emoji_count_one_each(hard_limit: int) -> None:
    given = case("BR-015")
    chunks = split_plain(given.text, sentence_hard_limit=hard_limit)
    check_rules(given.text, chunks)
    assert len(given.text) == given.expected["length_code_points"]
    assert all(end - start <= given.expected["max_child"] for start, end in child_spans(chunks))
    assert {given.text[start] for start, _ in child_spans(chunks)} == {"😀"}


def test_sizes_count_characters() -> None:
    assert [list(span) for span in child_spans(split_plain(case("BR-016").text))] == case("BR-016").expected["children"]


def test_a_short_document_has_one_child() -> None:
    chunks = split_plain(case("BR-017").text)
    assert child_spans(chunks) == parent_spans(chunks) == [tuple(case("BR-017").expected["child_span"])]
    assert chunks.children[0].parent == chunks.parents[0].ordinal


def test_blank_runs_make_no_chunks() -> None:
    given = case("BR-018")
    for child_size in (200, 4):
        chunks = split_plain(given.text, child_size=child_size)
        check_rules(given.text, chunks)
        contents = [given.text[start:end] for start, end in child_spans(chunks)]
        assert all(any(part in content for content in contents) for part in given.expected["contains"])


@pytest.mark.parametrize("row", range(3))
def test_impossible_sizes_are_refused(row: int) -> None:
    names = {"child_max": "child_size", "parent_max": "parent_size"}
    sizes = {names[name]: size for name, size in case("BR-019").input["settings"][row].items()}
    with pytest.raises(ValidationError):
        SplitSettings(**sizes)
