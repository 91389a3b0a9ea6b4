"""How a command ends that wrote its file, but found originals lost or damaged."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from service.cli.output import Output, error_json
from service.errors import OriginalsIncomplete

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def incomplete(missing: Sequence[str], damaged: Sequence[str] = ()) -> OriginalsIncomplete | None:
    """The error of a file in which these originals are not, or not as they were uploaded; None when there are none."""
    if not missing and not damaged:
        return None
    return OriginalsIncomplete(
        f"the file is written, but {len(missing)} originals are missing in it and {len(damaged)} are damaged",
        missing_count=len(missing),
        damaged_count=len(damaged),
    )


def end(output: Output, report: DataclassInstance, error: OriginalsIncomplete | None) -> None:
    """Print the report for a program, then the error; a script that looks at the exit code alone has to notice.

    Raises:
        typer.Exit: with code 1, when there is an error.
    """
    if output.as_json:
        values = dataclasses.asdict(report)
        output.result(values if error is None else {**values, "error": error_json(error)})
    elif error is not None:
        output.failure(error)
    if error is not None:
        raise typer.Exit(1)
