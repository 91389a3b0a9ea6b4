"""``fuzi collections``, on the database and through a server: the same answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.conftest import api_settings
from tests.api.live import live_server
from tests.cli.running import Fuzi, answer
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder


@pytest.fixture(scope="module", params=["direct", "server"])
def where(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """Environment in which the commands find a database of their own, by themselves or behind a server."""
    with databases.fresh() as database:
        if request.param == "direct":
            yield {"FUZI_DATABASE__URL": database}
            return
        with live_server(api_settings(database, tmp_path_factory.mktemp("server")), HashEmbedder(384)) as url:
            yield {"FUZI_URL": url}


def test_settings_are_set_shown_taken_away_and_replaced(fuzi: Fuzi, where: dict[str, str], tmp_path: Path) -> None:
    words = '[{"words": ["手机", "移动电话"]}]'
    made = answer(fuzi("collections", "set", "手册", "top_n=8", f"synonyms={words}", "--json", env=where))
    assert made["settings"]["top_n"] == 8
    assert made["settings"]["synonyms"][0]["words"] == ["手机", "移动电话"]
    shown = fuzi("collections", "show", "手册", env=where)
    assert "top_n=8" in shown.stdout
    assert "移动电话" in shown.stdout
    assert answer(fuzi("collections", "show", "手册", "--json", env=where)) == made
    assert answer(fuzi("collections", "list", "--json", env=where)) == {"collections": [made]}
    assert "手册" in fuzi("collections", "list", env=where).stdout

    kept = answer(fuzi("collections", "set", "手册", "top_n=", "rrf_k=7", "--json", env=where))["settings"]
    assert kept == {"synonyms": made["settings"]["synonyms"], "rrf_k": 7}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"fts_weight": 10}), encoding="utf-8")
    replaced = answer(fuzi("collections", "set", "手册", "--file", str(file), "--json", env=where))
    assert replaced["settings"] == {"fts_weight": 10}
    refused = fuzi("collections", "set", "手册", "top_k=8", "--json", env=where)
    assert refused.exit_code == 1
    assert answer(refused)["error"]["code"] == "invalid_request"
    assert "top_k" in json.dumps(answer(refused))
    assert answer(fuzi("collections", "show", "手册", "--json", env=where)) == replaced
    missing = fuzi("collections", "show", "没有", "--json", env=where)
    assert answer(missing)["error"]["code"] == "collection_not_found"


def test_documents_cut_with_other_settings_are_shown_and_cut_anew(
    fuzi: Fuzi, where: dict[str, str], tmp_path: Path
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.md").write_text(f"先切断电源，编号{number}。" * 40, encoding="utf-8")
    answer(fuzi("ingest", str(tmp_path), "--collection", "旧的", "--json", env=where))
    made = answer(fuzi("collections", "set", "旧的", "child_size=50", "strategy=sentence", "--json", env=where))
    assert made["settings"] == {"child_size": 50, "strategy": "sentence"}
    assert (made["outdated_count"], made["outdated_queued_count"]) == (3, 0)
    shown = fuzi("collections", "show", "旧的", env=where).stdout
    assert "3 documents of them were taken in with other settings" in shown
    assert "fuzi collections resplit" in shown

    done = answer(fuzi("collections", "resplit", "旧的", "--json", env=where))
    assert done == {"name": "旧的", "queued_count": 3, "outdated_count": 0, "outdated_queued_count": 0}
    assert "other settings" not in fuzi("collections", "show", "旧的", env=where).stdout
    again = fuzi("collections", "resplit", "旧的", env=where)
    assert (again.exit_code, again.stdout.strip()) == (0, "nothing to cut anew")
    missing = fuzi("collections", "resplit", "没有", "--json", env=where)
    assert answer(missing)["error"]["code"] == "collection_not_found"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "either"),
        (["top_n"], "KEY=VALUE"),
        (["=1"], "KEY=VALUE"),
        (["top_n=1", "top_n=2"], "twice"),
        (["ignore_words=公司"], "JSON"),
        (["top_n=1", "--file", "-"], "either"),
        (["--file", "missing.json"], "missing.json"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_opened(
    fuzi: Fuzi, words: list[str], complaint: str
) -> None:
    result = fuzi("collections", "set", "c", *words)
    assert result.exit_code == 2
    assert complaint in result.stderr


@pytest.mark.parametrize("content", [b"[1]", b"{", b"\xff", b""])
def test_a_file_that_is_no_object_is_refused(fuzi: Fuzi, content: bytes) -> None:
    result = fuzi("collections", "set", "c", "--file", "-", "--json", stdin=content)
    assert result.exit_code == 1
    assert answer(result)["error"]["code"] == "invalid_input"
