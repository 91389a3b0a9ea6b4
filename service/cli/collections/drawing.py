"""Collections for people."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from service.cli.collections.resplit import documents


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
    own = ", ".join(collection["settings"])
    count = documents(collection["document_count"])
    console.print(Text(f"  {count} · {f'its own: {own}' if own else 'settings of the service'}", style="dim"))
    outdated, waiting = collection["outdated_count"], collection["outdated_queued_count"]
    if outdated is None:
        console.print(Text("  its settings cannot hold with those of the service: uploads are refused", style="yellow"))
    elif outdated:
        verb = "was" if outdated == 1 else "were"
        text = f"  {documents(outdated)} of them {verb} taken in with other settings"
        text += f", {waiting:,} being cut anew" if waiting else ""
        if waiting < outdated:
            text += f": fuzi collections resplit {shlex.quote(collection['name'])}"
        console.print(Text(text, style="yellow"), soft_wrap=True)
