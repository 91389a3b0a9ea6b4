from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from service.api.access import check_exposure
from service.cli.work.serving import listen
from service.config import ServerSettings
from service.errors import Misconfigured
from tests.cli.running import Program, answer, clean_environment, command


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_needs_no_keys(host: str) -> None:
    check_exposure(ServerSettings(host=host), any_keys=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "fuzi.example"])
def test_other_addresses_are_refused_unless_allowed(host: str) -> None:
    for require in (None, False):
        with pytest.raises(Misconfigured, match="ALLOW_REMOTE_WITHOUT_KEYS"):
            check_exposure(ServerSettings(host=host, require_keys=require), any_keys=False)
    with pytest.raises(Misconfigured, match="ALLOW_REMOTE_WITHOUT_KEYS"):
        check_exposure(ServerSettings(host=host, require_keys=False), any_keys=True)
    check_exposure(ServerSettings(host=host, allow_remote_without_keys=True), any_keys=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "fuzi.example"])
def test_other_addresses_ask_for_keys_whatever_becomes_of_those_that_exist(host: str) -> None:
    check_exposure(ServerSettings(host=host), any_keys=True)
    check_exposure(ServerSettings(host=host, require_keys=True), any_keys=False)
    assert ServerSettings(host=host).keys_required is True
    assert ServerSettings(host=host, allow_remote_without_keys=True).keys_required is None
    assert ServerSettings(host="127.0.0.1").keys_required is None


def test_a_taken_port_and_a_foreign_address_are_told_clearly() -> None:
    with listen(ServerSettings(port=0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(Misconfigured, match=rf"cannot listen on 127\.0\.0\.1, port {port} .*--port"):
            listen(ServerSettings(port=port))
    with pytest.raises(Misconfigured, match=r"192\.0\.2\.1"):
        listen(ServerSettings(host="192.0.2.1", port=0))


def test_a_service_that_cannot_start_says_why_in_one_line(program: Program) -> None:
    dead = "postgresql://nobody:secret@127.0.0.1:1/none"
    run = program("serve", "--port", "0", "--json", FUZI_DATABASE__URL=dead, FUZI_LOG__FORMAT="json")
    assert run.returncode == 1
    error = answer(run)["error"]
    assert error["code"] == "database_unavailable"
    assert "Connection refused" in error["message"]
    assert "Traceback" not in run.stderr
    assert "secret" not in run.stdout + run.stderr


def test_commands_tell_why_a_database_does_not_answer(program: Program) -> None:
    run = program("documents", FUZI_DATABASE__URL="postgresql://nobody:secret@127.0.0.1:1/none")
    assert (run.returncode, run.stdout) == (1, "")
    first, second = run.stderr.splitlines()
    assert first.startswith("error database_unavailable: ")
    assert "Connection refused" in first
    assert second.startswith("next: ")


def test_a_remote_bind_without_keys_is_refused(program: Program) -> None:
    run = program("serve", "--host", "0.0.0.0", "--port", "0", "--json")
    assert (run.returncode, answer(run)["error"]["code"]) == (1, "misconfigured")


def test_a_worker_answers_scrapes_and_still_stops_by_a_signal(home: Path, database: str) -> None:
    process = subprocess.Popen(
        command("worker", "--metrics-port", "0", "--json"),
        env=clean_environment(home, FUZI_DATABASE__URL=database),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "/metrics" in line)
        answered = httpx.get(line.strip().rpartition(" ")[2], timeout=60)
        assert answered.status_code == 200
        assert "\nfuzi_database_up 1.0\n" in answered.text
    finally:
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(printed)) == (0, {"stopped": True})
