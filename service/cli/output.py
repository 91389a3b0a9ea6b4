"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import dataclasses
import json
import sys
import traceback
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import typer
from rich.console import Console
from rich.text import Text

from service.cli.next_steps import next_step
from service.errors import DatabaseUnavailable, FuziError

_PIPED_WIDTH = 200
"""Columns when standard output is no terminal: wide enough that no table cuts what a script looks for."""


class Output:
    """The two consoles of one command; ``result`` is for machines, ``console`` for people."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.console = Console(width=None if sys.stdout.isatty() else _columns(), highlight=False, emoji=False)
        self.notes = Console(stderr=True, highlight=False, emoji=False)

    def result(self, value: Any) -> None:
        """Write one JSON document in UTF-8, whatever the locale; indented on a terminal, else on one line."""
        indent = 2 if sys.stdout.isatty() else None
        text = json.dumps(value, ensure_ascii=False, indent=indent, default=_json_ready)
        # A lone surrogate has no UTF-8; its backslash form is a valid JSON escape.
        typer.echo(text.encode("utf-8", "backslashreplace"))

    def note(self, text: str) -> None:
        """Say something to the person that is no result."""
        self.notes.print(Text(text), soft_wrap=True)

    def failure(self, error: FuziError) -> None:
        """Say what failed and what to do next; as JSON the error shape that the REST service uses."""
        if self.as_json:
            self.result({"error": error_json(error)})
            return
        line = Text.assemble(("error ", "bold red"), (error.code, "bold"), f": {told(error)}")
        self.notes.print(line, soft_wrap=True)
        step = next_step(error)
        if step is not None:
            self.notes.print(Text.assemble(("next: ", "bold"), step), soft_wrap=True)


def interruptible[Result](output: Output, work: Coroutine[Any, Any, Result], stopped: str) -> Result:
    """Run work to its end; Ctrl-C says what ``stopped`` means for the person, and ends the command with exit code 130.

    Raises:
        typer.Exit: it was interrupted.
    """
    import asyncio

    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        output.note(f"stopped; {stopped}")
        raise typer.Exit(130) from None


@contextmanager
def reporting(as_json: bool) -> Iterator[Output]:
    """Run a command's body; whatever fails in it is reported once and ends the command with exit code 1."""
    output = Output(as_json)
    try:
        yield output
    except FuziError as error:
        output.failure(error)
        raise typer.Exit(1) from error
    except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError):
        raise
    except Exception as error:
        # Nobody raised this on purpose: keep the whole trace for the report that will be written about it.
        traceback.print_exc()
        output.failure(FuziError(f"{type(error).__name__}: {error}"))
        raise typer.Exit(1) from error


def told(error: FuziError) -> str:
    """The message, and for a database that does not answer what it or the network said."""
    cause = getattr(error.__cause__, "orig", None) or error.__cause__
    if not isinstance(error, DatabaseUnavailable) or cause is None:
        return error.message
    return f"{error.message} ({str(cause).strip().partition('\n')[0]})"


def error_json(error: FuziError) -> dict[str, Any]:
    """The inner part of the one JSON error shape; no request, so no ``request_id``."""
    return {
        "code": error.code,
        "message": told(error),
        "retryable": error.retryable,
        "request_id": None,
        "details": dict(error.details),
    }


def _columns() -> int:
    import os

    return int(os.environ["COLUMNS"]) if os.environ.get("COLUMNS", "").isdigit() else _PIPED_WIDTH


def _json_ready(value: object) -> object:
    match value:
        case UUID() | Path():
            return str(value)
        case datetime():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return dataclasses.asdict(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form here")
