"""Sources have one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput
from service.store.sources import LONGEST_SOURCE, normalise_source


@pytest.mark.parametrize(
    ("source", "normal"),
    [
        ("制度/考勤.md", "制度/考勤.md"),
        ("制度\\考勤.md", "制度/考勤.md"),
        ("../outside.txt", "outside.txt"),
        ("../../secret/settings.ini", "secret/settings.ini"),
        ("/abs/outside.txt", "abs/outside.txt"),
        ("a/./b//c/../d.txt", "a/b/d.txt"),
        ("e\u0301.txt", "é.txt"),
    ],
)
def test_spellings_of_one_source_become_one(source: str, normal: str) -> None:
    assert normalise_source(source) == normal


@pytest.mark.parametrize("source", ["", "  ", "..", "./.", "a\0b", "a\nb", "\ud800", "x" * (LONGEST_SOURCE + 1)])
def test_sources_that_name_nothing_are_refused(source: str) -> None:
    with pytest.raises(InvalidInput):
        normalise_source(source)


@given(st.text(alphabet=st.sampled_from("ab./\\ 制e\u0301"), max_size=30))
def test_normalising_twice_changes_nothing(source: str) -> None:
    try:
        once = normalise_source(source)
    except InvalidInput:
        return
    assert normalise_source(once) == once
    assert not {"", ".", ".."} & set(once.split("/"))


@pytest.mark.parametrize(("character", "longest"), [("x", 1024), ("文", 666), ("𠀀", 500)])
def test_a_source_is_limited_in_characters_and_in_bytes(character: str, longest: int) -> None:
    assert normalise_source(character * longest)
    with pytest.raises(InvalidInput, match="the limit is"):
        normalise_source(character * (longest + 1))
