"""``fuzi split``: see how a file is cut."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from service.cli.options import InputFile, JsonFlag
from service.cli.output import reporting
from service.cli.settings import load_settings, with_options
from service.cli.work.read_file import StdinFormat, read_file


class Strategy(StrEnum):
    """How to cut."""

    AUTO = "auto"
    SENTENCE = "sentence"
    STRUCTURE = "structure"


class Unit(StrEnum):
    """What sizes count."""

    CHARACTERS = "characters"
    TOKENS = "tokens"


_CHARACTERS, _TOKENS = "Sizes in characters", "Sizes in tokens (--unit tokens)"


def split(
    file: InputFile,
    stdin_format: Annotated[
        StdinFormat, typer.Option("--format", help="What standard input holds, when FILE is -.")
    ] = StdinFormat.TXT,
    strategy: Annotated[
        Strategy | None, typer.Option(help="auto takes structure when the text has headings, else sentence.")
    ] = None,
    unit: Annotated[Unit | None, typer.Option(help="What the sizes of the structure strategy count.")] = None,
    parent_size: Annotated[
        int | None, typer.Option(min=1, help="Largest parent chunk.", rich_help_panel=_CHARACTERS)
    ] = None,
    child_size: Annotated[
        int | None,
        typer.Option(min=1, help="Largest child chunk, except one longer whole sentence.", rich_help_panel=_CHARACTERS),
    ] = None,
    sentence_hard_limit: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|none",
            help="Longest sentence that stays whole; none never cuts a sentence.",
            rich_help_panel=_CHARACTERS,
        ),
    ] = None,
    parent_overlap: Annotated[
        int | None,
        typer.Option(
            min=0, help="Tail repeated in the next parent of a cut section; 0 is off.", rich_help_panel=_CHARACTERS
        ),
    ] = None,
    soft_tokens: Annotated[int | None, typer.Option(min=1, help="Aim of a parent.", rich_help_panel=_TOKENS)] = None,
    hard_tokens: Annotated[int | None, typer.Option(min=1, help="Limit of a parent.", rich_help_panel=_TOKENS)] = None,
    tokenizer_file: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="tokenizer.json for exact counts.", rich_help_panel=_TOKENS),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show the parent and child chunks a file is cut into; needs no database and writes nothing.

    Examples:
      fuzi split 设备手册.md
      fuzi split law.txt --strategy sentence --child-size 150 --json
      echo '第一句。第二句！' | fuzi split - --format txt

    With --json: {text, sentences, parents, children, status, code, …}; text[start:end] == content for every chunk,
    offsets in code points. A file that cannot be read prints the same keys with status "failed" and its code, exit 1.

    Options left out come from FUZI_SPLIT__STRATEGY, __PARENT_SIZE (800), __CHILD_SIZE (200),
    __SENTENCE_HARD_LIMIT (400), __PARENT_OVERLAP (100), __UNIT, __SOFT_TOKENS (500), __HARD_TOKENS (600)
    and __TOKENIZER_FILE.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        split_settings = with_options(
            settings.split,
            {
                "strategy": strategy,
                "unit": unit,
                "parent_size": parent_size,
                "child_size": child_size,
                "sentence_hard_limit": sentence_hard_limit,
                "parent_overlap": parent_overlap,
                "soft_tokens": soft_tokens,
                "hard_tokens": hard_tokens,
                "tokenizer_file": tokenizer_file,
            },
        )
        from service.cli.show.chunks import chunks_json, draw_chunks, empty_json
        from service.split import split as cut

        extracted = read_file(output, settings, file, stdin_format, empty_json())
        chunks = cut(extracted, split_settings)
        if as_json:
            output.result(chunks_json(extracted, chunks))
        else:
            draw_chunks(output.console, extracted.text, chunks)
