"""The code blocks of docs/scale.md."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks() -> list[tuple[str, str]]:
    """Language and code of every block."""
    return _BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def block(language: str, holding: str) -> str:
    """The one block in this language that holds these words."""
    found = [code for name, code in blocks() if name == language and holding in code]
    assert len(found) == 1, holding
    return str(found[0])
