"""`fuzi mcp` as an agent starts it: a real process that speaks on its standard output, and nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.api.answer.conftest import Service
from tests.cases import case
from tests.cli.running import clean_environment, command


def message(number: int | None, method: str, **parameters: Any) -> str:
    given = {"jsonrpc": "2.0", "method": method, "params": parameters}
    return json.dumps(given if number is None else {**given, "id": number}, ensure_ascii=False) + "\n"


@pytest.mark.case("BR-076")
def test_an_agent_gets_nothing_but_the_protocol(service: Service, tmp_path: Path) -> None:
    query = "保修期"
    assert query in case("BR-076").input["steps"][-1]
    # no vectors: what is tested needs no embedding model
    logging = {"FUZI_LOG__LEVEL": "debug", "FUZI_LOG__FORMAT": "json", "FUZI_SEARCH__VECTOR_WEIGHT": "0"}
    client = {"name": "test", "version": "1"}
    process = subprocess.Popen(
        command("mcp"),
        env=clean_environment(tmp_path, FUZI_DATABASE__URL=service.database, **logging),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    lines = []
    for request in (
        message(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client),
        message(None, "notifications/initialized") + message(2, "tools/list"),
        message(3, "tools/call", name="search_documents", arguments={"query": query}),
    ):
        process.stdin.write(request)
        process.stdin.flush()
        lines.append(process.stdout.readline())
    rest, logs = process.communicate(timeout=60)
    assert rest == ""
    assert process.returncode == 0, logs
    assert logs
    said = [json.loads(line) for line in lines]
    assert [(each["jsonrpc"], each["id"]) for each in said] == [("2.0", number) for number in (1, 2, 3)]
    assert len(said[1]["result"]["tools"]) == 3
    assert not said[2]["result"].get("isError")
    assert "保修期" in lines[2]
    assert "整机保修期为两年" in said[2]["result"]["content"][0]["text"]
