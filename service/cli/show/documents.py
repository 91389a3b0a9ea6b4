"""The list of stored documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_NARROW = 110
"""Below so many columns a table would break its ids; each document gets lines of its own."""

_STYLES = {"ready": "green", "ready_with_warnings": "yellow", "failed": "red"}


def draw_documents(console: Console, answer: Mapping[str, Any]) -> None:
    """Draw one page of `DocumentList`."""
    documents = answer["documents"]
    if not documents:
        console.print("no documents" + (f" on this page ({answer['total']} in all)" if answer["total"] else ""))
        return
    if console.width < _NARROW:
        for document in documents:
            _draw_lines(console, document)
    else:
        _draw_table(console, documents)
    first, last = answer["offset"] + 1, answer["offset"] + len(documents)
    more = f"; more: --offset {last}" if last < answer["total"] else ""
    console.print(Text(f"{first}–{last} of {answer['total']}{more}", style="dim"))


def _draw_table(console: Console, documents: list[Mapping[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("document_id", no_wrap=True, min_width=36)
    table.add_column("collection", overflow="fold")
    table.add_column("source", overflow="fold")
    table.add_column("status", overflow="fold")
    table.add_column("chunks", justify="right", no_wrap=True)
    table.add_column("updated (UTC)", no_wrap=True)
    for document in documents:
        table.add_row(
            str(document["document_id"]),
            Text(document["collection"]),
            Text(document["source"]),
            _status(document),
            f"{document['child_count']:,}",
            _moment(document["updated_at"]),
        )
    console.print(table)


def _draw_lines(console: Console, document: Mapping[str, Any]) -> None:
    console.print(Text(document["source"], style="bold"), soft_wrap=True)
    console.print(Text(f"  {document['document_id']}"), soft_wrap=True)
    facts = f" · {document['collection']} · {document['child_count']:,} chunks · {_moment(document['updated_at'])} UTC"
    console.print(Text.assemble("  ", _status(document), (facts, "dim")), soft_wrap=True)


def _status(document: Mapping[str, Any]) -> Text:
    status = str(document["status"])
    text = Text(status, style=_STYLES.get(status, ""))
    return text.append(f" ({document['error_code']})") if document["error_code"] else text


def _moment(iso: str) -> str:
    """``2025-01-31 08:15`` of an ISO time."""
    return iso[:16].replace("T", " ")
