"""Options of the plug-pulling test, and its summary at the end of the run, whichever worker of pytest-xdist had it."""

from __future__ import annotations

import random

import pytest

SUMMARY = "torture"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Rounds and seed."""
    group = parser.getgroup("torture")
    group.addoption("--torture-rounds", type=int, default=30, help="rounds of plug pulling (30)")
    group.addoption("--torture-seed", type=int, default=None, help="repeat a run's random choices; default: new ones")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the runs say of themselves, also when they passed."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, text in getattr(report, "user_properties", ()):
                if name == SUMMARY and report.when == "call":
                    terminalreporter.write_line(text)


def seed_of(config: pytest.Config) -> int:
    """The seed asked for, or a new one."""
    given: int | None = config.getoption("--torture-seed")
    return random.randrange(2**31) if given is None else given
