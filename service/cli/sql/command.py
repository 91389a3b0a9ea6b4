"""``fuzi sql``: ask the database as an analyst."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.options import JsonFlag, readable_or_dash
from service.cli.output import Output, reporting
from service.cli.settings import load_settings
from service.errors import InvalidInput

if TYPE_CHECKING:
    from service.config import Settings

_SHOWN = 100
_START = 'fuzi sql "select * from analytics.documents"'


def sql(
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="One SELECT; - reads it from standard input.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", metavar="FILE", callback=readable_or_dash, help="Read the query from a file."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, max=1_000_000, help=f"Rows to show ({_SHOWN}; all with --csv and --json)."),
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, max=3600, help="Seconds that it may take.")] = 60,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header line.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Ask the database as the analysts' role, which reads and changes nothing. Without a query: list the views.

    Examples:
      fuzi sql
      fuzi sql "select extension, count(*) from analytics.documents group by 1 order by 2 desc"
      fuzi sql "select rank, source, content from rag.search('保修期')"
      fuzi sql --csv --file report.sql > report.csv
      fuzi sql --json "select * from analytics.jobs where is_dead_letter" | jq -r '.rows[].source'

    sql/README.md has every view and function with an example. What is asked runs in a transaction that only reads, for
    a minute at most, by a login that is a member of rag_analyst and nothing else: made for this query, or that of
    FUZI_DATABASE__ANALYST_URL. FUZI_DATABASE__URL names the database; without it, the embedded one.

    With --json: {columns: [{name, type}], rows: [{…}], has_more}.
    """
    if as_csv and as_json:
        raise typer.BadParameter("give one of --csv and --json")
    if query is not None and file is not None:
        raise typer.BadParameter("give QUERY or --file FILE, not both")
    with reporting(as_json) as output:
        settings = load_settings()
        text = _text(query, file)
        if text is not None and not text.strip():
            raise InvalidInput(f"the query is empty; try {_START}")
        with _login(settings, timeout) as url:
            if text is None:
                _list(output, url, as_csv)
            else:
                _ask(output, url, text, limit, timeout, as_csv)


@contextmanager
def _login(settings: Settings, seconds: float) -> Iterator[str]:
    """URL of the analyst's login that asks: that of the settings, or one made for this query."""
    from service.db.analysts import analyst_login
    from service.wiring import migrated_dsn

    if settings.database.analyst_url is not None:
        yield settings.database.analyst_url.get_secret_value()
        return
    dsn = asyncio.run(migrated_dsn(settings, migrate=settings.database.url is None))
    with analyst_login(dsn, seconds) as url:
        yield url


def _text(query: str | None, file: Path | None) -> str | None:
    if query == "-" or str(file) == "-":
        return sys.stdin.read()
    if file is None:
        return query
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read as UTF-8: {error}") from error


def _ask(output: Output, url: str, text: str, limit: int | None, timeout: float, as_csv: bool) -> None:
    from service.cli.sql.answer import write
    from service.db.analysts import ask_as_analyst

    most = limit if limit is not None or as_csv or output.as_json else _SHOWN
    answer = ask_as_analyst(url, text, most=most, seconds=timeout)
    write(output, answer, as_csv=as_csv)
    if answer.has_more:
        output.note(f"there are more than {most} rows; --limit {10 * (most or 0)} shows more of them")


def _list(output: Output, url: str, as_csv: bool) -> None:
    from service.cli.sql.answer import write
    from service.db.analysts import Column, Rows, list_views

    views = Rows([Column("view", "text"), Column("shows", "text")], list_views(url), has_more=False)
    write(output, views, as_csv=as_csv)
    if not (output.as_json or as_csv):
        output.note(f"try: {_START}")
