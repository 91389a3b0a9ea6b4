"""Settings from the environment, and from a file ``.env`` that other programs use too."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from service.config import Settings


def test_names_of_other_programs_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("POSTGRES_PASSWORD=x\nDEBUG=1\nFUZI_SPLIT__CHILD_SIZE=150\n")
    assert Settings(_env_file=file).split.child_size == 150


@pytest.mark.parametrize(
    "line", ["FUZI_SPLIT__CHILDSIZE=150", "FUZI_SPLITS__CHILD_SIZE=150", "FUZI_SPLIT__CHILD_SIZE=0"]
)
def test_misspelt_names_and_bad_values_are_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / ".env"
    file.write_text(line)
    with pytest.raises(ValidationError):
        Settings(_env_file=file)


@pytest.mark.parametrize("name", ["FUZI_ENBED__MODEL", "FUZI_HOEM", "FUZI_EMBED__MODLE"])
def test_a_misspelt_variable_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("FUZI_URL", "http://127.0.0.1:8000")
    Settings(_env_file=None)
    monkeypatch.setenv(name, "x")
    with pytest.raises(ValidationError):
        Settings(_env_file=None)
