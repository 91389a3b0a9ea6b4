"""Collections for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text


def draw_collections(console: Console, answer: Mapping[str, Any]) -> None:
    """Draw `CollectionList`, two lines a collection."""
    if not answer["collections"]:
        console.print("no collections")
    for collection in answer["collections"]:
        _draw_head(console, collection)


def draw_collection(console: Console, collection: Mapping[str, Any]) -> None:
    """Draw one `CollectionAnswer`; each setting in a line, as ``fuzi collections set`` takes it."""
    _draw_head(console, collection)
    for key, value in collection["settings"].items():
        console.print(Text(f"  {key}={json.dumps(value, ensure_ascii=False)}"), soft_wrap=True)


def _draw_head(console: Console, collection: Mapping[str, Any]) -> None:
    console.print(Text(collection["name"], style="bold"), soft_wrap=True)
    count, own = collection["document_count"], ", ".join(collection["settings"])
    documents = "1 document" if count == 1 else f"{count:,} documents"
    console.print(Text(f"  {documents} · {f'its own: {own}' if own else 'settings of the service'}", style="dim"))
