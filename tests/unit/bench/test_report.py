"""The result of the bench as JSON and as a Markdown table."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.benchmarks.bench.report import Circumstances, number, to_json, to_markdown, write
from tests.benchmarks.bench.rows import against, at_most, judged, shown

AROUND = Circumstances("2026-11-30 23:10", 41.0, "make bench", "2 cores", "1.0, 1.0, 1.0", "abc", {"Python": "3.12"})
ROWS = [
    against("search", "p50, 1 client", 6.0, "ms", "floor", 5.0, at_most(1.5)),
    against("search", "rate", 60, "queries/s", "floor", 200, at_most(0.1), note="p99 3.0"),
    judged("recall", "recall@50", math.nan, "", at_most(1)),
    shown("memory", "fuzi serve", 312.5, "MB"),
]


def test_every_row_is_a_line_of_the_table_of_its_part() -> None:
    lines = to_markdown(ROWS, AROUND).splitlines()
    assert "| p50, 1 client | 6.00 ms | floor: 5.00 | 1.20× | ≤ 1.5× | met |" in lines
    assert "| rate (p99 3.0) | 60.0 queries/s | floor: 200 | 0.300× | ≤ 0.1× | **missed** |" in lines
    assert "| fuzi serve | 312 MB |  |  |  |  |" in lines
    assert [line for line in lines if line.startswith("## ")] == ["## search", "## recall", "## memory"]
    assert "1 of 3 goals are met." in lines


def test_a_name_cannot_break_the_table() -> None:
    line = to_markdown([shown("search", "a|b", 1, "ms")], AROUND).splitlines()[-1]
    assert line.replace("\\|", "").count("|") == 7


def test_json_holds_rows_and_circumstances_and_no_number_that_is_none() -> None:
    read = json.loads(to_json(ROWS, AROUND), parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))
    assert read["command"] == "make bench"
    assert [row["verdict"] for row in read["rows"]] == ["met", "missed", "missed", "shown"]
    assert read["rows"][2]["value"] is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1234567, "1,234,567"), (99.96, "100.0"), (3.14159, "3.14"), (0.000123, "0.000123"), (math.inf, "–")],
)
def test_numbers_have_three_significant_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_both_files_are_written(tmp_path: Path) -> None:
    files = write(tmp_path, ROWS, AROUND)
    assert [file.name for file in files] == ["bench.json", "bench.md"]
    assert sorted(tmp_path.iterdir()) == sorted(files)
