from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from service.cli.show.indented import wrapped


def parts(line: str, width: int) -> list[str]:
    return [part.plain for part in wrapped(Text(line), width)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("JC-480 是一台卧式间歇运动装盒机", ["JC-480 是一台卧", "式间歇运动装盒机"]),
        ("每半年更换一次。好的", ["每半年更换一次。", "好的"]),
        ("一二三四五六七八。九", ["一二三四五六七", "八。九"]),
        ("hello wide world again", ["hello wide world ", "again"]),
        ("antidisestablishmentarianism", ["antidisestablish", "mentarianism"]),
        ("", [""]),
    ],
)
def test_lines_break_as_a_reader_expects(line: str, expected: list[str]) -> None:
    assert parts(line, 16) == expected


@given(st.text(st.sampled_from("ab1- 中文，。（）\u3000é😀"), max_size=80), st.integers(2, 30))
def test_nothing_is_lost_and_no_line_is_too_wide(line: str, width: int) -> None:
    found = parts(line, width)
    assert "".join(found) == line
    assert all(cell_len(part.rstrip()) <= width for part in found)
