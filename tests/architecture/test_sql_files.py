"""House rules of the SQL room: one object a file, with a header and a comment, named by a revision."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_OBJECTS = sorted(
    file
    for folder in (
        "expressions",
        "functions",
        "views",
        "indexes",
        "grants",
        "analytics",
        "definers",
        "procedures",
        "policies",
    )
    for file in (_ROOT / "sql" / folder).iterdir()
)
_ALL = [*_OBJECTS, *sorted((_ROOT / "sql" / "examples").iterdir())]
_REVISIONS = "\n".join(file.read_text(encoding="utf-8") for file in (_ROOT / "migrations" / "versions").glob("*.py"))
_KEYWORDS = r"SELECT|FROM|WHERE|CREATE|FUNCTION|VIEW|INDEX|ORDER|LIMIT|JOIN|WITH|GRANT|COMMENT|RETURNS|BEGIN|END|NULL"


def _name(file: Path) -> str:
    return str(file.relative_to(_ROOT / "sql"))


@pytest.mark.parametrize("file", _OBJECTS, ids=_name)
def test_an_object_is_versioned_described_and_migrated(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    name = re.fullmatch(r"([a-z][a-z0-9_]*)\.v(\d+)\.sql", file.name)
    assert name, "files are called <name>.v<n>.sql"
    assert re.match(rf"-- ((rag|analytics)\.)?{name[1]}: .+\n", text), (
        "the header begins with the object's name and purpose"
    )
    assert re.search(r"^\s*comment on ", text, flags=re.MULTILINE)
    assert f'"{_name(file)}"' in _REVISIONS, "no revision names this file"
    created = re.findall(
        r"^\s*(?:create (?:unique )?(?:function|view|index|role)|create policy visible on)"
        r" (?:(?:rag|analytics)\.)?(\w+)",
        text,
        flags=re.MULTILINE,
    )
    assert created == [name[1]], "one object a file"


@pytest.mark.parametrize("file", _ALL, ids=_name)
def test_sql_is_lower_case_and_says_what_it_is(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("-- ")
    assert max(map(len, text.splitlines())) <= 120
    code = re.sub(r"--[^\n]*|'[^']*'", "", text)
    assert re.findall(rf"\b(?:{_KEYWORDS})\b", code) == []


@pytest.mark.parametrize("file", sorted((_ROOT / "sql" / "functions").iterdir()), ids=_name)
def test_functions_let_the_planner_see_through(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    head = text[text.index("create function") : text.index("begin atomic")]
    assert re.search(r"^language sql$", head, flags=re.MULTILINE)
    assert re.search(r"^stable$", head, flags=re.MULTILINE)
    assert re.search(r"^parallel safe$", head, flags=re.MULTILINE)
    assert not re.search(r"^(set|security definer|strict|rows|cost)\b", head, flags=re.MULTILINE)
    for word in ("Inputs", "Output", "Ties", "Index"):
        assert re.search(rf"^-- {word}\b", text, flags=re.MULTILINE), f"the header does not say: {word}"


@pytest.mark.parametrize("file", sorted((_ROOT / "sql" / "definers").iterdir()), ids=_name)
def test_functions_with_the_owners_rights_bind_their_names_and_are_not_for_everybody(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    head = text[text.index("create function") : text.index("begin atomic")]
    for line in ("language sql", "stable", "parallel safe", "security definer"):
        assert re.search(rf"^{line}$", head, flags=re.MULTILINE)
    assert not re.search(r"^set\b", head, flags=re.MULTILINE)
    assert re.search(r"^revoke execute on function .* from public;$", text, flags=re.MULTILINE)
    for word in ("Inputs", "Output", "Ties", "Index"):
        assert re.search(rf"^-- {word}\b", text, flags=re.MULTILINE), f"the header does not say: {word}"


@pytest.mark.parametrize("file", sorted((_ROOT / "sql" / "analytics").iterdir()), ids=_name)
def test_views_of_analysts_show_what_their_reader_may_see(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    by_owner = "with (security_barrier = true)" in text and "rag.visible_collections(current_user)" in text
    assert by_owner != ("with (security_invoker = true)" in text)
    for word in ("Answers", "Notes"):
        assert re.search(rf"^-- {word}\b", text, flags=re.MULTILINE), f"the header does not say: {word}"


@pytest.mark.parametrize("file", _ALL, ids=_name)
def test_every_limit_has_an_order_with_a_tie_break(file: Path) -> None:
    code = re.sub(r"--[^\n]*", "", file.read_text(encoding="utf-8"))
    for found in re.finditer(r"\n(\s*)limit ", code):
        before = code[: found.start()].rsplit("\n", 1)[1].strip()
        if re.match(r"[12]0001\b", code[found.end() :]):
            continue  # counts rows, in whatever order
        assert before.startswith("order by "), f"limit without order: {before}"
        last = before.removeprefix("order by ").rpartition(",")[2].strip()
        assert re.search(r"\b(id|(child|parent|document|job)_id|ordinal|sha256|key)\b", last), f"no tie-break: {before}"


def test_revisions_hold_no_functions_or_views() -> None:
    assert not re.search(r"create (or replace )?(function|view|procedure)\b", _REVISIONS, flags=re.IGNORECASE)
