"""``fuzi backup`` and ``fuzi restore``: everything in one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.options import JsonFlag, ServerUrl
from service.cli.output import Output, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.config import Settings

_SHOWN = 5


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE once the new one is whole.")] = False,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Write the whole database and all originals, as of one moment, into one file.

    Examples:
      fuzi backup /mnt/backups/fuzi-$(date +%F).tar
      fuzi backup latest.tar --overwrite --json

    Uploads, searches and deletions go on meanwhile. The file is read back and gets its name only when it is whole. It
    is a plain tar: a dump that pg_restore reads, the originals, and a manifest with a SHA-256 of each. It holds all
    that was ever uploaded, so only its owner may read it.

    With --json: {path, size_bytes, facts, original_count, missing, damaged}, and error when originals are missing or
    damaged: the file holds all the rest, and the exit code is 1.

    Settings that matter: FUZI_DATABASE__URL, FUZI_HOME, FUZI_ORIGINALS__URL, FUZI_DATABASE__PROGRAMS (where pg_dump
    is; it comes with the embedded parts).
    """
    from service.cli.archives.incomplete import end, incomplete
    from service.cli.archives.progress import run, without_server

    without_server(url, "backup")
    with reporting(as_json) as output:
        report = run(output, _backup(load_settings(), file, overwrite, output))
        error = incomplete(report.missing, report.damaged)
        if as_json:
            end(output, report, error)
            return
        counts = report.facts["counts"]
        output.console.print(
            f"{file}: {report.size_bytes:,} bytes, {counts['documents']:,} documents, "
            f"{counts['child_chunks']:,} chunks, {report.original_count:,} originals; read back and whole",
            markup=False,
            soft_wrap=True,
        )
        for kind, keys in (("not in the store any more", report.missing), ("not what was uploaded", report.damaged)):
            if keys:
                more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
                output.note(f"warning: {len(keys)} originals are {kind}: {', '.join(keys[:_SHOWN])}{more}")
        end(output, report, error)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `fuzi backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Put the backup in the place of the data that are there.")
    ] = False,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Make database and originals what they were when the backup was made.

    Examples:
      FUZI_HOME=/srv/fuzi fuzi restore fuzi-2024-06-01.tar
      FUZI_DATABASE__URL=postgresql://fuzi:…@db/empty fuzi restore fuzi-2024-06-01.tar
      fuzi restore fuzi-2024-06-01.tar --replace

    Every byte of the file is checked before anything is written. An older schema is migrated; uploads that waited
    when the backup was made go on. A database with data in it is refused without --replace. With it the data stay in
    use until the restored ones are complete and checked, then both change places, and what was stored since the backup
    is gone. Interrupted, it leaves everything as it was: run it again.

    With --json: {facts, original_count, replaced, rights_left_out}.

    Settings that matter: FUZI_DATABASE__URL, FUZI_HOME, FUZI_ORIGINALS__URL (where the originals go), FUZI_EMBED__…
    (they must name the model of the backup), FUZI_DATABASE__PROGRAMS.
    """
    from service.cli.archives.progress import run, without_server

    without_server(url, "restore")
    with reporting(as_json) as output:
        report = run(output, _restore(load_settings(), file, replace, output))
        if as_json:
            output.result(report)
            return
        counts = report.facts["counts"]
        output.console.print(
            f"restored {counts['documents']:,} documents, {counts['child_chunks']:,} chunks and "
            f"{report.original_count:,} originals of {report.facts['created_at']}; counted and checked",
            markup=False,
            soft_wrap=True,
        )
        if report.rights_left_out:
            output.note(f"rights that could not be restored: {report.rights_left_out}")


async def _backup(settings: Settings, file: Path, overwrite: bool, output: Output) -> Any:
    from service.cli.archives.opening import archive_parts
    from service.cli.archives.progress import ArchiveProgress
    from service.flows.archives.backup import backup as back_up

    parts = await archive_parts(settings)
    with ArchiveProgress(output.notes) as progress:
        return await back_up(parts, file, overwrite=overwrite, watch=progress)


async def _restore(settings: Settings, file: Path, replace: bool, output: Output) -> Any:
    from service.cli.archives.opening import archive_parts
    from service.cli.archives.progress import ArchiveProgress
    from service.flows.archives.restore import restore as bring_back

    parts = await archive_parts(settings)
    with ArchiveProgress(output.notes) as progress:
        return await bring_back(parts, file, settings, replace=replace, watch=progress)
