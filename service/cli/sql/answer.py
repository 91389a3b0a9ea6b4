"""The rows of a query, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.cli.output import Output
from service.db.analysts import Rows
from service.errors import InvalidInput

_NUMBERS = {"int2", "int4", "int8", "float4", "float8", "numeric", "oid"}


def write(output: Output, answer: Rows, *, as_csv: bool) -> None:
    """Write an answer as it is wanted: one JSON document, CSV, or a table for people.

    Raises:
        InvalidInput: two columns have one name, of which a JSON object has room for one.
    """
    if output.as_json:
        _write_json(output, answer)
    elif as_csv:
        _write_csv(answer)
    else:
        _draw(output.console, answer)


def _draw(console: Console, answer: Rows) -> None:
    """A table, with the number of its rows below it."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in answer.columns:
        table.add_column(Text(column.name), justify="right" if column.type in _NUMBERS else "left", overflow="fold")
    for row in answer.rows:
        table.add_row(*map(_cell, row))
    console.print(table)
    count = len(answer.rows)
    console.print(Text(f"{count} row{'' if count == 1 else 's'}{', and more' if answer.has_more else ''}", "dim"))


def _write_csv(answer: Rows) -> None:
    """CSV in UTF-8: null is empty, lists and objects are JSON."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([column.name for column in answer.columns])
    writer.writerows([["" if value is None else _plain(value) for value in row] for row in answer.rows])
    typer.echo(text.getvalue().encode(), nl=False)


def _write_json(output: Output, answer: Rows) -> None:
    """One JSON document, rows as objects."""
    names = [column.name for column in answer.columns]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise InvalidInput(f"more than one column is called {', '.join(twice)}: name them apart by `as`")
    output.result(
        {
            "columns": [{"name": column.name, "type": column.type} for column in answer.columns],
            "rows": [dict(zip(names, map(_jsonable, row), strict=True)) for row in answer.rows],
            "has_more": answer.has_more,
        }
    )


def _cell(value: Any) -> Text:
    return Text("null", "dim") if value is None else Text(_plain(value))


def _plain(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds")
        case list() | dict():
            return json.dumps(_jsonable(value), ensure_ascii=False)
        case bytes():
            return f"\\x{value.hex()}"
        case _:
            return str(value)


def _jsonable(value: Any) -> Any:
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case float() if not math.isfinite(value):
            return str(value)
        case list() | tuple():
            return [_jsonable(item) for item in value]
        case dict():
            return {str(key): _jsonable(item) for key, item in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case _:
            return _text(value)


def _text(value: Any) -> str:
    match value:
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)
