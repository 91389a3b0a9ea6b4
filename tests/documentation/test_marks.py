"""Every code block is run by a test, or says why it is not; the second kind is listed, and stays short."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
import typer

from service.cli.app import app
from tests.documentation.blocks import OF_OTHER_TESTS, ROOT, SHELL, Block, blocks, indented_blocks

ALL = blocks()
LANGUAGES = SHELL | {"csv", "ini", "json", "python", "sql", "text", "yaml"}


def test_there_are_blocks_and_each_has_a_language_and_a_fence() -> None:
    assert len(ALL) > 40
    assert {block.language for block in ALL} <= LANGUAGES
    assert indented_blocks() == []


def test_what_is_not_run_says_why(record_property: pytest.RecordProperty) -> None:
    not_run = [block for block in ALL if block.mark == "not run"]
    for block in not_run:
        print(f"not run: {block.place}: {block.reason}")
        assert len(block.reason) > 10, block.place
    record_property("blocks_not_run", len(not_run))
    assert len(not_run) <= len(ALL) // 5, "most of the documentation has to be run"


def test_whoever_runs_a_block_instead_is_there() -> None:
    for block in ALL:
        if block.run_elsewhere is not None:
            assert (ROOT / block.run_elsewhere).is_file(), block.place
    named = {(block.page, block.language) for block in ALL}
    assert OF_OTHER_TESTS.keys() <= named, "a page that is gone needs no exception"


def test_plain_text_is_no_way_around() -> None:
    """A block of plain text that holds commands has to be marked."""
    for block in ALL:
        if block.language == "text" and block.is_run_here:
            assert not any(line.startswith(("fuzi ", "$ ", "docker ")) for line in block.code.splitlines()), block.place


def _fuzi_lines() -> Iterator[tuple[Block, str]]:
    for block in ALL:
        if block.language in SHELL | {"text"}:
            for line in block.commands():
                if line.startswith("fuzi "):
                    yield block, line


LINES = list(_fuzi_lines())


@pytest.mark.parametrize(("block", "line"), LINES, ids=[f"{block.place} {line[:40]}" for block, line in LINES])
def test_commands_and_options_exist_also_in_blocks_that_are_not_run(block: Block, line: str) -> None:
    words = shlex.split(line.replace("$(", "").replace(")", ""), comments=True)
    command = typer.main.get_command(app)
    words.pop(0)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"{block.place}: {line}"
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        if word in {"|", "&&", ";", ">"}:
            break
        if word.startswith("--"):
            assert word.partition("=")[0] in known | {"--help"}, f"{block.place}: {line}"
