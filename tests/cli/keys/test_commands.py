"""``fuzi keys``: the key alone on standard output, everything else about it on demand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import psycopg
import pytest
from typer.testing import Result

from tests.architecture import ROOT
from tests.cli.running import Fuzi, answer

PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")


@pytest.fixture
def keys(fuzi: Fuzi, database: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("FUZI_DATABASE__URL", database)
    return lambda *arguments: fuzi("keys", *arguments)


def test_a_key_is_made_listed_rotated_and_revoked(keys: Callable[..., Result], database: str) -> None:
    assert "fuzi keys create" in keys("list").stdout
    made = keys("create", "爬虫", "--scope", "write", "--collection", "手册", "--collection", "default")
    assert re.fullmatch(r"fuzi_[\w-]{43}\n", made.stdout)
    assert "shown once" in made.stderr
    key = made.stdout.strip()
    listed = answer(keys("list", "--json"))["keys"]
    assert [(one["name"], one["scopes"], one["collections"]) for one in listed] == [
        ("爬虫", ["write"], ["default", "手册"])
    ]
    rotated = keys("rotate", "爬虫", "--grace-hours", "2")
    assert rotated.stdout.strip() not in {"", key}
    assert listed[0]["prefix"] in rotated.stderr
    text = keys("list").stdout
    assert text.count("爬虫") == 2
    assert "rotated" in text
    assert key not in text
    newest = answer(keys("list", "--json"))["keys"][0]
    assert answer(keys("revoke", newest["id"], "--json"))["revoked_at"] is not None
    assert answer(keys("revoke", listed[0]["prefix"], "--json"))["id"] == listed[0]["id"]
    with psycopg.connect(database) as connection:
        noted = connection.execute("select key_name, action, target from rag.audit_log order by id").fetchall()
    assert [action for _, action, _ in noted] == [
        "fuzi keys create",
        "fuzi keys rotate",
        "fuzi keys revoke",
        "fuzi keys revoke",
    ]
    assert {who for who, _, _ in noted} == {"command line"}
    assert key not in str(noted)


def test_the_commands_and_the_query_of_the_page_run_as_they_stand(keys: Callable[..., Result], database: str) -> None:
    section = PAGE.split("## API keys", 1)[1].split("\n## ", 1)[0]
    commands = [line for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) for line in block.splitlines()]
    assert len(commands) >= 4
    for line in commands:
        program, group, *arguments = shlex.split(line)
        assert (program, group) == ("fuzi", "keys")
        result = keys(*arguments)
        assert result.exit_code == 0, (line, result.stderr)
    (query,) = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
    with psycopg.connect(database) as connection:
        assert connection.execute(query.replace("outcome <> 'done'", "outcome = 'done'")).fetchall()
        assert connection.execute(query).fetchall() == []


def test_json_has_what_the_rest_service_answers(keys: Callable[..., Result]) -> None:
    made = answer(keys("create", "ci", "--json", "--expires-days", "30"))
    assert made.keys() == {
        *("id", "name", "prefix", "scopes", "collections", "created_at"),
        *("expires_at", "revoked_at", "last_used_at", "replaced_by", "key"),
    }
    assert made["scopes"] == ["read"]
    assert made["collections"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("create", "ci"), "key_name_taken", "rotate or revoke"),
        (("create", " "), "invalid_input", "1 to 100"),
        (("revoke", "nobody"), "key_not_found", "nobody"),
        (("rotate", "old"), "wrong_key_state", "create another"),
    ],
)
def test_what_cannot_be_done_says_why(
    keys: Callable[..., Result], arguments: tuple[str, ...], code: str, told: str
) -> None:
    keys("create", "ci")
    keys("create", "old")
    keys("revoke", "old")
    result = keys(*arguments, "--json")
    assert result.exit_code == 1
    error = answer(result)["error"]
    assert error["code"] == code
    assert told in error["message"]


def test_an_unknown_scope_is_a_wrong_command_line(keys: Callable[..., Result]) -> None:
    assert keys("create", "ci", "--scope", "root").exit_code == 2
