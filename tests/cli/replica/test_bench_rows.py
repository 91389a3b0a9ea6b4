"""Figures that docs/scale.md leaves open are to be filled from rows that `make bench` really prints."""

from __future__ import annotations

import re

from tests.benchmarks.bench.parts import memory, search
from tests.cli.replica.page import PAGE

_OPEN = re.compile(r"^\| .* \| `(memory|search)`: (.*?) \| \*bench\* \|$", re.MULTILINE)


def test_open_figures_name_rows_of_the_benchmark() -> None:
    rows = _OPEN.findall(PAGE.read_text(encoding="utf-8"))
    assert len(rows) == 8
    for part, row in rows:
        names = list(memory._RELATIONS) if part == "memory" else [search.WITHOUT, search.FLOOR]
        assert any(row.startswith(name) for name in names), row
