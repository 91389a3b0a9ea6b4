"""``fuzi doctor``: is every part well?"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.options import JsonFlag
from service.cli.output import Output, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.cli.work.checks import Finding
    from service.config import Settings


def doctor(
    mend: Annotated[bool, typer.Option("--repair", help="Build indexes that lack chunks.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Check every part, and say how to mend what is not well.

    Examples:
      fuzi doctor
      fuzi doctor --repair
      fuzi doctor --json | jq '.checks[] | select(.state != "ok")'

    Looks at: the data folder and its disk, room for uploads, the embedded parts, PostgreSQL, its extensions and
    connections, the schema's revision, the embedding model and dimension in the database against the settings, the
    BM25 and vector indexes, failed and waiting uploads, documents without their file and files without a document,
    the replica and how far it is behind, the store of originals, text extraction, OCR, the embedding model, the
    reranker and the collector of traces. Starts the embedded PostgreSQL when it is stopped; changes nothing else,
    except with --repair: searches and uploads go on while an index is rebuilt.

    Each row is ok, warn or fail, with what mends it. Exit code 1 when a row says fail.
    """
    with reporting(as_json) as output:
        findings = asyncio.run(_examine(load_settings(), output, mend=mend))
        from service.cli.show.findings import findings_json

        report = findings_json(findings)
        if as_json:
            output.result(report)
        if report["state"] == "fail":
            raise typer.Exit(1)


async def _examine(settings: Settings, output: Output, *, mend: bool) -> list[Finding]:
    from service.cli.examine.process import check_tracing, check_uploads
    from service.cli.examine.stored import check_stored
    from service.cli.replica.check import check_replica
    from service.cli.show.findings import draw_finding
    from service.cli.work import checks
    from service.cli.work.database_checks import check_database

    parts: list[tuple[str, checks.Check]] = [
        ("home", checks.check_home),
        ("uploads", check_uploads),
        ("parts", checks.check_parts),
        ("database", partial(check_database, mend=mend)),
        ("stored", check_stored),
        ("replica", check_replica),
        ("originals", checks.check_originals),
        ("extraction", checks.check_extraction),
        ("ocr", checks.check_ocr),
        ("embedding", checks.check_embedding),
        ("reranking", checks.check_reranker),
        ("tracing", check_tracing),
    ]
    findings = []
    async for finding in checks.examine(settings, parts):
        findings.append(finding)
        if not output.as_json:
            draw_finding(output.console, finding)
    return findings
