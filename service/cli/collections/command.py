"""``fuzi collections``: list, show, set, resplit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.collections.resplit import resplit
from service.cli.help_text import flowing
from service.cli.options import JsonFlag, ServerUrl, readable_or_dash
from service.cli.output import reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.cli.work.backend import Answer, Backend

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the collection.")]


def list_collections(url: ServerUrl = None, as_json: JsonFlag = False) -> None:
    """List all collections by name.

    Examples:
      fuzi collections list
      fuzi collections list --json | jq -r '.collections[].name'

    With --json: {collections}, as GET /v1/collections answers.
    """
    with reporting(as_json) as output:
        answer = _run(url, lambda backend: backend.collections())
        if as_json:
            output.result(answer)
            return
        from service.cli.collections.drawing import draw_collections

        draw_collections(output.console, answer)


def show(name: Name, url: ServerUrl = None, as_json: JsonFlag = False) -> None:
    """Show a collection with the settings it has of its own, as `set` takes them.

    Examples:
      fuzi collections show manuals
      fuzi collections show manuals --json | jq .settings > settings.json

    It counts documents that were taken in with other settings than those now; `resplit` cuts them anew.

    With --json: {name, document_count, outdated_count, outdated_queued_count, settings, created_at, updated_at}.
    """
    with reporting(as_json) as output:
        answer = _run(url, lambda backend: backend.collection(name))
        if as_json:
            output.result(answer)
            return
        from service.cli.collections.drawing import draw_collection

        draw_collection(output.console, answer)


def set_settings(
    name: Name,
    changes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="Settings in JSON; nothing after = takes one away."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", callback=readable_or_dash, help="Replace all settings by a JSON object; - is stdin."
        ),
    ] = None,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Change settings of a collection, which is made when it is new. They hold from the next search and upload on.

    Examples:
      fuzi collections set manuals top_n=8 vector_weight=50
      fuzi collections set manuals strategy=sentence child_size=150
      fuzi collections set manuals 'synonyms=[{"words": ["手机", "移动电话"]}]' 'ignore_words=["公司"]'
      fuzi collections set manuals top_n=
      fuzi collections set manuals --file settings.json

    Settings that are not named stay as they are; with --file they go. Keys for searches: top_n, candidates,
    vector_weight, fts_weight, rrf_k, fts_terms, min_vector_similarity, synonyms, ignore_words. For documents: strategy,
    unit, parent_size, child_size, sentence_hard_limit, parent_overlap, soft_tokens, hard_tokens, soft_cut, reflow,
    heading_context; `fuzi collections resplit` brings those that are there after a change. docs/api.md has the bounds.

    With --json: the collection, as `show` has it.
    """
    with reporting(as_json) as output:
        if (file is None) == (not changes):
            raise typer.BadParameter("give either KEY=VALUE or --file")
        from service.cli.collections.changes import parsed_changes, read_object

        given = read_object(file) if file is not None else parsed_changes(changes or [])
        answer = _run(url, lambda backend: _set(backend, name, given, replace=file is not None))
        if as_json:
            output.result(answer)
            return
        from service.cli.collections.drawing import draw_collection

        draw_collection(output.console, answer)


async def _set(backend: Backend, name: str, given: Answer, *, replace: bool) -> Answer:
    from service.errors import CollectionNotFound

    settings: Answer = {}
    if not replace:
        with suppress(CollectionNotFound):
            settings = (await backend.collection(name))["settings"]
    changed = {key: value for key, value in {**settings, **given}.items() if value is not None}
    return await backend.put_collection(name, changed)


def _run(url: str | None, call: Callable[[Backend], Awaitable[Answer]]) -> Answer:
    settings = load_settings()

    async def run() -> Answer:
        from service.cli.work.backend import open_backend

        async with open_backend(settings, url) as backend:
            return await call(backend)

    return asyncio.run(run())


collections = typer.Typer(no_args_is_help=True, help="Collections and their own settings: list, show, set, resplit.")
collections.command("list", help=flowing(list_collections.__doc__))(list_collections)
collections.command("show", help=flowing(show.__doc__))(show)
collections.command("set", help=flowing(set_settings.__doc__))(set_settings)
collections.command("resplit", help=flowing(resplit.__doc__))(resplit)
