"""Code blocks of the documentation, and what is said of those that the tests cannot run.

A comment on the line before a block says why it is not run as it stands:

    <!-- not run: it starts containers -->
    <!-- run by: tests/flows/test_demo.py -->
    <!-- schema: SearchBody -->             of JSON in docs/api.md, checked by tests/api/search
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "sql" / "README.md"])
OF_OTHER_TESTS = {
    # every block of these pages is run, or looked at, there
    ("docs/scale.md", "bash"): "tests/cli/replica/test_commands.py",
    ("docs/scale.md", "ini"): "tests/cli/replica/test_page.py",
    ("docs/scale.md", "sql"): "tests/cli/replica/test_page.py",
    ("docs/scale.md", "text"): "tests/cli/replica/test_page.py",
    ("sql/README.md", "sql"): "tests/database/analysts/test_page.py",
}
SHELL = {"bash", "console", "sh"}
_MARK = re.compile(r"<!-- (not run|run by|schema): (.*?) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block; ``line`` is that of its fence, from 1."""

    page: str
    line: int
    language: str
    code: str
    mark: str | None = None
    reason: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def run_elsewhere(self) -> str | None:
        """The test that runs it."""
        return self.reason if self.mark == "run by" else OF_OTHER_TESTS.get((self.page, self.language))

    @property
    def is_run_here(self) -> bool:
        return self.mark in {None, "schema"} and self.run_elsewhere is None

    def commands(self) -> list[str]:
        """The lines of a shell block with their continuations; of a console only what is typed."""
        code = self.code.replace("\\\n", " ")
        lines = code.splitlines()
        if any(line.startswith("$ ") for line in lines):
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def blocks() -> list[Block]:
    """Every fenced block of every page."""
    return [block for page in PAGES for block in _blocks_of(page)]


def indented_blocks() -> list[str]:
    """Places of blocks that are only indented, which have no language and no mark."""
    return [
        f"{page.relative_to(ROOT)}:{(token.map or [0])[0] + 1}"
        for page in PAGES
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8"))
        if token.type == "code_block"
    ]


def _blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    lines, found = text.splitlines(), []
    for token in MarkdownIt().parse(text):
        if token.type != "fence":
            continue
        assert token.map is not None
        mark = _MARK.fullmatch(lines[token.map[0] - 1].strip())
        found.append(
            Block(
                str(page.relative_to(ROOT)),
                token.map[0] + 1,
                token.info.strip(),
                token.content,
                *(mark.groups() if mark else ()),
            )
        )
    return found
