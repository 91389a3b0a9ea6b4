"""``fuzi export`` and ``fuzi import``: one collection from here to there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.options import JsonFlag, ServerUrl
from service.cli.output import Output, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.config import Settings


def export(
    collection: Annotated[str, typer.Argument(metavar="COLLECTION", help="Name of the collection.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE once the new one is whole.")] = False,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Write one collection into a file: originals, texts, chunks and vectors.

    Examples:
      fuzi export default knowledge.tar
      fuzi export legal legal.tar --overwrite --json

    `fuzi import` takes it in elsewhere without embedding anything. The file is a plain tar of JSON lines, raw vectors
    and originals; docs/operating.md describes it. Documents that failed or are still on their way are left out.

    With --json: {path, size_bytes, collection, document_count, child_count, left_out, missing}, and error when
    originals are missing: the file holds all the rest, and the exit code is 1.

    Settings that matter: FUZI_DATABASE__URL, FUZI_HOME, FUZI_ORIGINALS__URL.
    """
    from service.cli.archives.incomplete import end, incomplete
    from service.cli.archives.progress import run, without_server

    without_server(url, "export")
    with reporting(as_json) as output:
        report = run(output, _export(load_settings(), collection, file, overwrite, output))
        error = incomplete(report.missing)
        if as_json:
            end(output, report, error)
            return
        output.console.print(
            f"{file}: {report.size_bytes:,} bytes, {report.document_count:,} documents, {report.child_count:,} chunks",
            markup=False,
            soft_wrap=True,
        )
        if report.left_out:
            output.note(f"left out: {report.left_out} documents that failed or are on their way")
        if report.missing:
            output.note(f"warning: {len(report.missing)} documents without their original: {report.missing[0]} …")
        end(output, report, error)


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `fuzi export` wrote.")],
    collection: Annotated[
        str | None, typer.Option(metavar="NAME", help="Collection that takes the documents; default its own name.")
    ] = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Embed all chunks anew, by the model of this database.")
    ] = False,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Take an exported collection in, with its vectors: nothing is embedded.

    Examples:
      fuzi import knowledge.tar
      fuzi import knowledge.tar --collection copy
      fuzi import knowledge.tar --embed

    The whole file is checked before anything is written. A document whose source exists is replaced, one that is the
    same is unchanged, so an interrupted import goes on when it is started again. Ids of documents and chunks are kept
    where they are free. The vectors must come from the model of this database, or be made anew with --embed.

    With --json: {collection, outcomes: {created, replaced, unchanged}, child_count, embedded_count, reused_count}.

    Settings that matter: FUZI_DATABASE__URL, FUZI_HOME, FUZI_ORIGINALS__URL, FUZI_EMBED__….
    """
    from service.cli.archives.progress import run, without_server

    without_server(url, "import")
    with reporting(as_json) as output:
        report = run(output, _import(load_settings(), file, collection, embed, output))
        if as_json:
            output.result(report)
            return
        outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(report.outcomes.items()))
        output.console.print(
            f"{report.collection}: {outcomes or 'no documents'}; {report.child_count:,} chunks stored, "
            f"{report.embedded_count:,} embedded",
            markup=False,
            soft_wrap=True,
        )


async def _export(settings: Settings, collection: str, file: Path, overwrite: bool, output: Output) -> Any:
    from service.cli.archives.opening import archive_parts
    from service.cli.archives.progress import ArchiveProgress
    from service.flows.archives.export import export as write

    parts = await archive_parts(settings, migrate=True)
    with ArchiveProgress(output.notes) as progress:
        return await write(parts, collection, file, overwrite=overwrite, watch=progress)


async def _import(settings: Settings, file: Path, collection: str | None, embed: bool, output: Output) -> Any:
    from service.cli.archives.opening import import_parts
    from service.cli.archives.progress import ArchiveProgress
    from service.flows.archives.take_in import take_in

    async with import_parts(settings, embed=embed) as parts:
        with ArchiveProgress(output.notes) as progress:
            return await take_in(parts, file, collection=collection, watch=progress)
