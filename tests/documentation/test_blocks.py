"""The code blocks of the documentation do what the pages say, as somebody would run them beside a running server.

Shell blocks of a page run one after the other in one folder; ``fuzi`` asks the server by FUZI_URL where it can. Lines
that start what runs already (``fuzi serve``, ``fuzi worker``) are taken as done.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from service.cli.app import app
from service.config import Settings
from tests.api.conftest import api_settings
from tests.api.live import live_server
from tests.conftest import Databases
from tests.documentation.blocks import ROOT, SHELL, Block, blocks
from tests.fakes.hash_embedder import HashEmbedder

HERE = [block for block in blocks() if block.is_run_here]
RUNNING_ALREADY = ("fuzi serve", "fuzi worker")
DEFAULT_URL = "http://127.0.0.1:8000"


def of(*languages: str) -> list[pytest.param]:  # type: ignore[valid-type]
    """Parameters: the blocks in these languages that are run here."""
    return [pytest.param(block, id=block.place) for block in HERE if block.language in languages]


@dataclass(frozen=True)
class Desk:
    """Where somebody sits who follows the pages: a folder, a server, the commands on the path."""

    folder: Path
    url: str
    environment: Mapping[str, str]

    def here(self, text: str) -> str:
        """With the address of the server and a folder of our own in place of those in the text."""
        return text.replace(DEFAULT_URL, self.url).replace("/tmp/", f"{self.folder}/")

    def run(self, line: str) -> str:
        """What a line prints; it must go well."""
        if line.startswith(RUNNING_ALREADY):
            return ""
        plain = line.split("#", maxsplit=1)[0] if " # " in line or "  #" in line else line
        if plain.startswith("fuzi ") and not re.search(r"[|<>;&$]", plain):
            return self._in_this_process(plain)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.here(line)],
            cwd=self.folder,
            env=dict(self.environment),
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def _in_this_process(self, line: str) -> str:
        words = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {line}"], env=dict(self.environment), capture_output=True, check=True
        ).stdout.decode()
        arguments = words.rstrip("\0").split("\0")[1:]
        result = CliRunner().invoke(app, arguments, env=self.environment, prog_name="fuzi")
        assert result.exit_code == 0, f"{line}\n{result.output}"
        return result.stdout


@pytest.fixture(scope="module")
def desk(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    program = Path(sys.executable)
    shutil.copytree(ROOT / "service" / "demo" / "documents", folder / "Documents" / "manuals")
    (folder / ".venv").symlink_to(program.parents[1])
    (folder / "sql").symlink_to(ROOT / "sql")
    here = Path.cwd()
    with databases.fresh() as database:
        settings = api_settings(database, folder)
        with live_server(settings, HashEmbedder(384)) as url:
            inherited = {name: value for name, value in os.environ.items() if not name.startswith("FUZI_")}
            environment = {
                **inherited,
                "HOME": str(folder),
                "PATH": f"{program.parent}:{os.environ['PATH']}",
                "FUZI_HOME": str(folder / "home"),
                "FUZI_DATABASE__URL": database,
                "FUZI_URL": url,
            }
            os.chdir(folder)
            try:
                yield Desk(folder, url, environment)
            finally:
                os.chdir(here)


@pytest.mark.parametrize("block", of(*SHELL))
def test_what_is_typed_goes_well(desk: Desk, block: Block) -> None:
    if "jq " in block.code and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    prepare(desk, block)
    for line in block.commands():
        printed = desk.run(line)
        if line.startswith("curl"):
            assert "error" not in json.loads(printed), line


def prepare(desk: Desk, block: Block) -> None:
    """What the text around the block takes as given."""
    if "fuzi evaluate --questions my.csv" in block.code:
        (questions,) = [other.code for other in HERE if other.page == block.page and other.language == "csv"]
        (desk.folder / "my.csv").write_text(questions, encoding="utf-8")
        desk.run("fuzi ingest Documents/manuals --collection manuals")
    if "fuzi collections resplit" in block.code:
        desk.run("fuzi ingest Documents/manuals --collection manuals")


@pytest.mark.parametrize("block", of("python"))
def test_python_runs(desk: Desk, block: Block) -> None:
    exec(compile(desk.here(block.code), block.place, "exec"), {})


@pytest.mark.parametrize("block", of("json"))
def test_json_can_be_read(block: Block) -> None:
    assert json.loads(block.code)


@pytest.mark.parametrize("block", of("yaml"))
def test_yaml_can_be_read(block: Block) -> None:
    assert yaml.safe_load(block.code)


@pytest.mark.parametrize("block", of("ini"))
def test_settings_are_accepted(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = configparser.ConfigParser(inline_comment_prefixes=("#",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string("[settings]\n" + block.code)
    for name, value in parser["settings"].items():
        monkeypatch.setenv(name, value)
    assert Settings(_env_file=None).model_fields_set, block.place
