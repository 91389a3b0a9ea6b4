"""Figures of docs/scale.md are those of the rows that they name, in the run that docs/bench.json keeps."""

from __future__ import annotations

import json
import re

import pytest

from tests.benchmarks.bench.parts.searching import search
from tests.cli.replica.page import PAGE

_FIGURES = re.compile(r"^\| .* \| `(memory|search)`: (.*?) \| ([\d.]+)(?: kB)?(?: \(.*\))? \|$", re.MULTILINE)
_OF_THAT = f"{search.FLOOR}, the reference of that row"


def test_figures_are_those_of_the_rows_they_name() -> None:
    rows = json.loads((PAGE.parent / "bench.json").read_text(encoding="utf-8"))["rows"]
    found = _FIGURES.findall(PAGE.read_text(encoding="utf-8"))
    assert len(found) == 8
    before = ""
    for part, name, figure in found:
        wanted = (before if name == _OF_THAT else name).replace("N chunks", "1,000,000 chunks")
        [row] = [row for row in rows if row["part"] == part and row["name"].partition(" (")[0] == wanted]
        value = row["reference_value"] if name == _OF_THAT else row["value"]
        digits = len(figure.partition(".")[2])
        assert float(figure) == pytest.approx(round(value / 1000 if part == "memory" else value, digits)), name
        before = name
