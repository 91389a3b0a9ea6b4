"""Text beside a gutter."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

_NARROWEST = 16


def draw_indented(console: Console, text: Text, gutter: Text) -> None:
    """Draw text with ``gutter`` in front of every line; wrapped on a terminal, its own lines elsewhere."""
    width = max(_NARROWEST, console.width - gutter.cell_len)
    lines = text.wrap(console, width) if console.is_terminal else text.split("\n", allow_blank=True)
    for line in lines:
        line.rstrip()
        console.print(Text.assemble(gutter, line), soft_wrap=True)
