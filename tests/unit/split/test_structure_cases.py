"""The published cases of the area structure."""

from __future__ import annotations

import pytest

from service.split.structure import find_outline
from tests.cases import Case, case
from tests.unit.split import check_rules, markdown, split_markdown


def parent_of(given: Case, part: str) -> tuple[str, tuple[str, ...]]:
    """Content and heading path of the one parent that holds a part of the text."""
    chunks = split_markdown(given.text)
    place = given.text.index(part)
    found = [parent for parent in chunks.parents if parent.start <= place and place + len(part) <= parent.end]
    assert len(found) == 1
    return given.text[found[0].start : found[0].end], found[0].heading_path


def child_texts(given: Case) -> list[str]:
    return [given.text[child.start : child.end] for child in split_markdown(given.text).children]


@pytest.mark.parametrize("identifier", ["BR-006", "BR-008", "BR-012"])
def test_headings_are_exactly_these(identifier: str) -> None:
    given = case(identifier)
    outline = find_outline(markdown(given.text), required=False)
    assert outline is not None
    assert [[heading.level, heading.title] for heading in outline.headings] == given.expected["headings"]


@pytest.mark.parametrize("identifier", ["BR-006", "BR-012"])
def test_every_chunk_has_its_path(identifier: str) -> None:
    given = case(identifier)
    check_rules(given.text, split_markdown(given.text), outside=fence_lines(given.text))
    for part, path in given.expected["heading_path_of"].items():
        assert list(parent_of(given, part)[1]) == path


def fence_lines(text: str) -> list[tuple[int, int]]:
    return [(place, place + 3) for place in range(len(text)) if text.startswith("```", place)]


def test_code_lines_stay_together() -> None:
    content, _ = parent_of(case("BR-006"), "# 这是注释")
    assert "```bash\n# 这是注释\npip install demo\n```" in content


def test_white_space_inside_is_verbatim() -> None:
    given = case("BR-007")
    chunks = split_markdown(given.text)
    joined = "".join(given.text[parent.start : parent.end] for parent in chunks.parents)
    for part in given.expected["contains_verbatim"]:
        assert part in joined
        assert any(part in child for child in child_texts(given))


def test_rules_and_table_lines_are_no_headings() -> None:
    given = case("BR-008")
    content, path = parent_of(given, "结尾。")
    assert path == ("总则", "细则")
    assert "| 甲 | 1 |" in content


def test_a_heading_goes_with_its_first_sentence() -> None:
    given = case("BR-009")
    heading, first_sentence = given.expected["same_parent"]
    content, _ = parent_of(given, heading)
    assert first_sentence in content
    assert "本节说明" not in content
    chunks = split_markdown(given.text)
    assert all(parent.end - parent.start <= 800 for parent in chunks.parents)
    for chunk in (*chunks.parents, *chunks.children):
        assert not given.text[chunk.start : chunk.end].splitlines()[-1].startswith("#")


def test_rows_are_whole_and_with_their_header() -> None:
    given = case("BR-010")
    rows = [line for line in given.text.splitlines() if line.startswith("| 型号A")]
    assert len(rows) == given.expected["row_count"]
    assert all(any(row in child for child in child_texts(given)) for row in rows)
    content, path = parent_of(given, rows[0])
    assert path == ("型号表",)
    assert all(part in content for part in ("## 型号表", "| 型号 | 电压 | 备注 |", *rows))


@pytest.mark.parametrize("strategy", ["auto", "structure", "sentence"])
@pytest.mark.parametrize("child_size", [200, 12])
def test_a_list_number_stays_with_its_item(strategy: str, child_size: int) -> None:
    given = case("BR-011")
    chunks = split_markdown(given.text, strategy=strategy, child_size=child_size)
    children = [given.text[child.start : child.end] for child in chunks.children]
    for item in given.expected["inside_one_child"]:
        assert any(item in child for child in children)
    assert not set(children) & set(given.expected["no_child_equals"])
