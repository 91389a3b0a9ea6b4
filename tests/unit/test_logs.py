"""Logs: on standard error, one JSON object a line, and no local variables in a trace."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from service.config import LogSettings
from service.logs import configure_logs


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def fail(password: str) -> None:
    raise ValueError(len(password))


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_trace_shows_no_local_variables(form: Literal["json", "console"], capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(LogSettings(format=form))
    try:
        fail("ge" + "heim")
    except ValueError:
        structlog.get_logger().exception("failed")
    out, err = capsys.readouterr()
    assert out == ""
    assert "ValueError" in err
    assert "geheim" not in err


def test_json_logs_have_one_object_a_line_in_plain_characters(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(LogSettings(format="json"))
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        structlog.get_logger().info("ingested", source="制度\n考勤.md")
        logging.getLogger("some.library").warning("odd %s", "thing")
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["event"], first["source"], first["request_id"]) == ("ingested", "制度\n考勤.md", "r1")
    assert (second["event"], second["level"]) == ("odd thing", "warning")


def test_messages_of_libraries_are_said_once_and_without_colours(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(LogSettings(format="json"))
    logging.getLogger("uvicorn.error").info("Started %d", 7, extra={"color_message": "Started \u001b[36m%d\u001b[0m"})
    logging.getLogger("alembic.runtime.plugins").info("setup plugin")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line).keys() == {"event", "level", "timestamp"}
