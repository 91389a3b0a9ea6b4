"""The report of ``fuzi doctor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from service.cli.work.checks import Finding, State

_STYLES = {State.OK: "green", State.WARN: "yellow", State.FAIL: "bold red"}


def draw_finding(console: Console, finding: Finding) -> None:
    """Draw one row, and below it how to mend it."""
    row = Text.assemble((f"{finding.state:<5}", _STYLES[finding.state]), (f"{finding.part:<28}", "bold"))
    console.print(row.append(finding.message), soft_wrap=True)
    if finding.mend is not None:
        console.print(Text.assemble(" " * 5, ("mend: ", "bold"), finding.mend), soft_wrap=True)


def findings_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """The document that ``fuzi doctor --json`` prints; ``state`` is the worst of all."""
    worst = max((finding.state for finding in findings), key=list(State).index, default=State.OK)
    return {
        "state": worst,
        "checks": [
            {"part": finding.part, "state": finding.state, "message": finding.message, "mend": finding.mend}
            for finding in findings
        ],
    }
