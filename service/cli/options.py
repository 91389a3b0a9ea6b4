"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")]
ServerUrl = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="FUZI_URL",
        metavar="URL",
        help="Use a running server (such as http://127.0.0.1:8000) instead of opening the database here; its API key "
        "is that of FUZI_API_KEY.",
    ),
]


def readable_or_dash(file: Path | None) -> Path | None:
    """A file that can be read, or ``-`` for standard input; for callbacks of options and arguments."""
    if file is None or str(file) == "-":
        return file
    if not file.is_file():
        raise typer.BadParameter(f"{file} is a folder" if file.is_dir() else f"there is no file {file}")
    if not os.access(file, os.R_OK):
        raise typer.BadParameter(f"{file} is not readable for you")
    return file


InputFile = Annotated[
    Path, typer.Argument(metavar="FILE", callback=readable_or_dash, help="The file; - reads standard input.")
]
