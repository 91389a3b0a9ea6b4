"""``fuzi extract``: see what is read from a file."""

from __future__ import annotations

from typing import Annotated

import typer

from service.cli.options import InputFile, JsonFlag
from service.cli.output import reporting
from service.cli.settings import load_settings
from service.cli.work.read_file import StdinFormat, read_file


def extract(
    file: InputFile,
    stdin_format: Annotated[
        StdinFormat, typer.Option("--format", help="What standard input holds, when FILE is -.")
    ] = StdinFormat.TXT,
    as_json: JsonFlag = False,
) -> None:
    """Show the text, pages and warnings that are read from a file; needs no database.

    Examples:
      fuzi extract report.pdf
      fuzi extract report.pdf --json | jq -r .text
      pandoc letter.docx -t markdown | fuzi extract - --format md

    With --json: {text, blocks, pages, metadata, warnings, status, code, …}. Offsets are [start, end) in code
    points of `text`. A file that cannot be read prints the same keys with status "failed" and its code, exit 1.

    Settings that matter: FUZI_EXTRACT__ADAPTER and __TIKA_URL (Tika in process, or a server), __TIMEOUT_SECONDS,
    __MEMORY_MB, __REFLOW (join PDF line wraps), __OCR and __OCR_LANGUAGES (scans).
    """
    with reporting(as_json) as output:
        settings = load_settings()
        from service.cli.show.extracted import draw_extracted, empty_json, extracted_json

        extracted = read_file(output, settings, file, stdin_format, empty_json())
        if as_json:
            output.result(extracted_json(extracted))
        else:
            draw_extracted(output.console, extracted)
