"""The import rules in pyproject.toml hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.architecture import ROOT


def test_import_rules_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 broken" in run.stdout
