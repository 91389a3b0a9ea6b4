"""The documentation names every setting with its default, every error with its status, and every object of `rag`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from service.config import Settings
from tests.architecture import ROOT, error_tree

UNSET = "—"


def rows(file: Path) -> list[list[str]]:
    """Cells of every table row in a Markdown file, without the backticks around them."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [
        [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines
        if line.startswith("|") and not re.fullmatch(r"[|:\- ]+", line)
    ]


def settings(model: type[BaseModel] = Settings, prefix: str = "FUZI_") -> Iterator[tuple[str, FieldInfo]]:
    """Every variable with the field it sets."""
    for name, field in model.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, BaseModel):
            yield from settings(group, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", field


def written_default(field: FieldInfo) -> str:
    """The default as a person sets it in the environment; an optional setting without one is a dash."""
    if field.default_factory is not None:
        return "~/.fuzi"
    if field.default is None:
        return UNSET
    if isinstance(field.default, bool):
        return str(field.default).lower()
    if isinstance(field.default, float) and field.default.is_integer():
        return str(int(field.default))
    return str(field.default)


def test_every_setting_is_documented_with_its_default() -> None:
    documented = {row[0]: row[1] for row in rows(ROOT / "docs" / "settings.md") if row[0].startswith("FUZI_")}
    assert documented == {name: written_default(field) for name, field in settings()}


def test_every_setting_says_what_it_is_and_every_number_has_bounds() -> None:
    for name, field in settings():
        assert field.description, name
        if isinstance(field.default, int | float) and not isinstance(field.default, bool):
            limits = {limit for rule in field.metadata for limit in ("ge", "gt", "le", "lt") if hasattr(rule, limit)}
            assert limits & {"ge", "gt"}, f"{name} has no lower bound"
            assert limits & {"le", "lt"}, f"{name} has no upper bound"


def test_every_error_code_is_documented_with_its_status() -> None:
    found = rows(ROOT / "docs" / "errors.md")
    documented = {
        row[0]: int(row[1]) for row in found if re.fullmatch(r"[a-z_]+", row[0]) and re.fullmatch(r"\d{3}", row[1])
    }
    assert documented == {error.code: error.http_status for error in error_tree()}


@pytest.mark.parametrize("kind", ["table", "view", "function"])
def test_every_object_of_the_schema_is_described(database: str, kind: str) -> None:
    pages = (ROOT / "README.md", ROOT / "sql" / "README.md")
    described = set(re.findall(r"\brag\.\w+", "".join(page.read_text(encoding="utf-8") for page in pages)))
    query = {
        "table": "select tablename from pg_tables where schemaname = 'rag'",
        "view": "select viewname from pg_views where schemaname = 'rag'",
        "function": "select proname from pg_proc where pronamespace = 'rag'::regnamespace",
    }[kind]
    with psycopg.connect(database) as connection:
        names = {f"rag.{name}" for (name,) in connection.execute(query)}
    assert names, f"the schema has no {kind}"
    assert not names - described
