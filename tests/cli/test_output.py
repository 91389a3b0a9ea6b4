from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import typer
from typer.testing import CliRunner, Result

from service import errors
from service.cli.next_steps import next_step
from service.cli.output import reporting
from service.types import Notice
from tests.architecture import error_tree
from tests.cli.running import answer


def run(value: Any, *, as_json: bool) -> Result:
    """Run a command whose body raises ``value``, or answers with it."""
    program = typer.Typer(pretty_exceptions_enable=False)

    @program.command()
    def body() -> None:
        with reporting(as_json) as output:
            if isinstance(value, BaseException):
                raise value
            output.result(value)

    return CliRunner().invoke(program)


def test_an_error_is_one_line_with_its_code_and_what_to_do_next() -> None:
    result = run(errors.Encrypted("the file needs a password"), as_json=False)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        "error encrypted: the file needs a password",
        "next: save a copy without the password and take that",
    ]


def test_as_json_an_error_has_the_shape_of_the_rest_service() -> None:
    result = run(errors.TooLarge("太大", limit_mb=200), as_json=True)
    assert (result.exit_code, result.stderr) == (1, "")
    assert answer(result) == {
        "error": {
            "code": "too_large",
            "message": "太大",
            "retryable": False,
            "request_id": None,
            "details": {"limit_mb": 200},
        }
    }


def test_a_bug_keeps_its_trace_and_still_answers_in_json() -> None:
    result = run(ZeroDivisionError("oops"), as_json=True)
    assert result.exit_code == 1
    assert answer(result)["error"]["code"] == "internal_error"
    assert "Traceback" in result.stderr


def test_an_interruption_ends_with_130_and_a_usage_error_with_2() -> None:
    assert run(KeyboardInterrupt(), as_json=False).exit_code == 130
    assert run(typer.BadParameter("no"), as_json=True).exit_code == 2


def test_values_of_ours_become_json_and_chinese_stays_readable() -> None:
    value = {
        "id": UUID(int=5),
        "at": datetime(2025, 1, 31, tzinfo=UTC),
        "path": Path("/文件"),
        "digest": b"\x01\xff",
        "notice": Notice("blank_page", "空白", 3),
    }
    result = run(value, as_json=True)
    assert "空白" in result.stdout
    assert answer(result) == {
        "id": "00000000-0000-0000-0000-000000000005",
        "at": "2025-01-31T00:00:00+00:00",
        "path": "/文件",
        "digest": "01ff",
        "notice": {"code": "blank_page", "message": "空白", "page": 3},
    }


def test_a_lone_surrogate_is_still_valid_json() -> None:
    assert answer(run({"name": "a\udc80b"}, as_json=True)) == {"name": "a\udc80b"}


@pytest.mark.parametrize("error", error_tree(), ids=lambda error: error.__name__)
def test_every_error_has_advice(error: type[errors.FuziError]) -> None:
    step = next_step(error("…"))
    assert step


def test_a_message_that_names_a_command_needs_no_advice() -> None:
    assert next_step(errors.NotMigrated("run `fuzi migrate`")) is None
