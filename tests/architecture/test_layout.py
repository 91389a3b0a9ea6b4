"""Files stay small, folders stay short, and names say what is inside."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.architecture import ROOT

FOLDERS = ("service", "migrations", "tests")
LONGEST_FILE = 300
LARGEST_FOLDER = 10
LARGEST_ROOT = 13
"""The two flows and the ground lie flat in service/, so that they are seen first; all else belongs into a room."""
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "managers", "misc"}


def python_files() -> list[Path]:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 20
    return files


def test_no_file_is_longer_than_300_lines() -> None:
    sql_files = sorted((ROOT / "sql").rglob("*.sql"))
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in [*python_files(), *sql_files]
    }
    assert not {name: length for name, length in lengths.items() if length > LONGEST_FILE}


def test_no_folder_holds_more_than_ten_modules() -> None:
    modules = [path for path in python_files() if path.name not in {"__init__.py", "conftest.py"}]
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in modules)
    limits = {"service": LARGEST_ROOT, "migrations/versions": len(modules)}
    assert not {name: count for name, count in counts.items() if count > limits.get(name, LARGEST_FOLDER)}


def test_no_module_has_a_name_that_says_nothing() -> None:
    paths = [path.relative_to(ROOT) for path in python_files()]
    assert not [str(path) for path in paths if EMPTY_NAMES & {*path.parent.parts, path.stem}]


def test_readme_stays_under_250_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 250
