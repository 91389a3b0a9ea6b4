"""``fuzi documents``, ``fuzi original`` and ``fuzi delete``: what is stored, getting a copy, and taking it out."""

from __future__ import annotations

import asyncio
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from service.cli.options import JsonFlag, ServerUrl
from service.cli.output import reporting
from service.cli.settings import load_settings
from service.errors import DocumentNotFound

if TYPE_CHECKING:
    from service.config import Settings


class Status(StrEnum):
    """Where a document stands."""

    RECEIVED = "received"
    EXTRACTING = "extracting"
    SPLITTING = "splitting"
    EMBEDDING = "embedding"
    STORING = "storing"
    READY = "ready"
    READY_WITH_WARNINGS = "ready_with_warnings"
    FAILED = "failed"


def documents(
    collection: Annotated[str | None, typer.Option(help="Only this collection.")] = None,
    status: Annotated[Status | None, typer.Option(help="Only documents in this state.")] = None,
    source: Annotated[str | None, typer.Option(metavar="PART", help="Only sources that contain this text.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Documents on a page.")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="Documents to pass over.")] = 0,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """List the stored documents, newest first.

    Examples:
      fuzi documents
      fuzi documents --status failed
      fuzi documents --source 手册 --json | jq -r '.documents[].document_id'

    With --json: {documents, total, limit, offset}, as GET /v1/documents answers.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        query = {"collection": collection, "status": status, "source": source, "limit": limit, "offset": offset}
        answer = asyncio.run(_list(settings, url, {key: value for key, value in query.items() if value is not None}))
        if as_json:
            output.result(answer)
            return
        from service.cli.show.documents import draw_documents

        draw_documents(output.console, answer)


def original(
    document_id: Annotated[UUID, typer.Argument(metavar="ID", help="Id of the document.")],
    target: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to; by default the file's own name, here.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace a file that is there.")] = False,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Get the file of a document as it was uploaded.

    Examples:
      fuzi original 0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11
      fuzi original 0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11 pump.pdf --url http://127.0.0.1:8000

    The file appears when all of it is there. From a server a download that broke off goes on where it was, also when
    the command is run again.

    With --json: {document_id, path, size_bytes}.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        saved = asyncio.run(_save(settings, url, document_id, target, force))
        if as_json:
            size_bytes = saved.stat().st_size
            output.result({"document_id": str(document_id), "path": str(saved), "size_bytes": size_bytes})
            return
        output.console.print(str(saved), markup=False, soft_wrap=True)


def delete(
    document_ids: Annotated[list[UUID] | None, typer.Argument(metavar="[ID]...", help="Ids of documents.")] = None,
    source: Annotated[str | None, typer.Option(metavar="SOURCE", help="The document with exactly this source.")] = None,
    collection: Annotated[str | None, typer.Option(help="Collection of --source, when several have it.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Delete documents with their chunks, vectors and originals; there is no way back.

    Examples:
      fuzi delete 0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11
      fuzi delete --source manuals/pump.pdf --yes

    With --json: {deleted: [{document_id, collection, source}]}. Without a terminal --yes is needed.
    """
    if bool(document_ids) == (source is not None):
        raise typer.BadParameter("give one or more ids, or --source")
    if not yes and (as_json or not sys.stdin.isatty()):
        raise typer.BadParameter("nobody can be asked here: add --yes")
    with reporting(as_json) as output:
        settings = load_settings()
        found = asyncio.run(_find(settings, url, document_ids or [], source, collection))
        names = [f"{document['source']} ({document['document_id']})" for document in found]
        if not yes:
            typer.confirm(f"Delete {', '.join(names)}?", abort=True, err=True)
        asyncio.run(_delete(settings, url, [UUID(document["document_id"]) for document in found]))
        if as_json:
            keys = ("document_id", "collection", "source")
            output.result({"deleted": [{key: document[key] for key in keys} for document in found]})
            return
        for name in names:
            output.console.print(f"deleted {name}", markup=False, soft_wrap=True)


async def _list(settings: Settings, url: str | None, query: dict[str, Any]) -> dict[str, Any]:
    from service.cli.work.backend import open_backend

    async with open_backend(settings, url) as backend:
        return await backend.documents(query)


async def _find(
    settings: Settings, url: str | None, ids: list[UUID], source: str | None, collection: str | None
) -> list[dict[str, Any]]:
    from service.cli.work.backend import find_by_source, open_backend
    from service.store.sources import normalise_source

    async with open_backend(settings, url) as backend:
        if source is None:
            return [await backend.document(id_) for id_ in ids]
        found = await find_by_source(backend, normalise_source(source), collection)
    if not found:
        raise DocumentNotFound(f"there is no document with the source '{source}'")
    if len(found) > 1:
        names = ", ".join(str(document["collection"]) for document in found)
        raise typer.BadParameter(f"several collections have this source: {names}; add --collection")
    return found


async def _delete(settings: Settings, url: str | None, ids: list[UUID]) -> None:
    from service.cli.work.backend import open_backend

    async with open_backend(settings, url) as backend:
        for id_ in ids:
            await backend.delete(id_)


async def _save(settings: Settings, url: str | None, document_id: UUID, target: Path | None, force: bool) -> Path:
    from service.cli.work.backend import open_backend

    async with open_backend(settings, url) as backend:
        if target is None:
            file_name = (await backend.document(document_id))["file_name"]
            target = Path(Path(file_name.replace("\\", "/")).name)
        if target.exists() and not force:
            raise typer.BadParameter(f"{target} is there already: name another file, or add --force")
        await backend.save_original(document_id, target)
        return target
