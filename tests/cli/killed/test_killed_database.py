"""`fuzi serve` when its embedded PostgreSQL is killed, and when it is gone while the service stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from service.db.embedded import EmbeddedServer
from service.db.embedded.process import wait_for_end
from tests.cli.running import clean_environment, command

_GRACEFUL_SECONDS = 1
_STOP_SECONDS = _GRACEFUL_SECONDS + 5


@contextmanager
def _serving(home: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    environment = clean_environment(home, FUZI_JOBS__GRACEFUL_SECONDS=str(_GRACEFUL_SECONDS))
    process = subprocess.Popen(
        command("serve", "--port", "0", "--json"), stdout=subprocess.PIPE, text=True, env=environment, cwd=home
    )
    try:
        assert process.stdout is not None
        with httpx.Client(base_url=json.loads(process.stdout.readline())["url"], timeout=60) as http:
            yield process, http
    finally:
        process.kill()
        process.wait()


def _kill(home: Path) -> None:
    status = EmbeddedServer(home).status()
    assert status.pid is not None
    os.kill(status.pid, signal.SIGKILL)
    assert wait_for_end(status.pid, status.data, 60)


def _upload(http: httpx.Client, name: str, text: str) -> str:
    response = http.post("/v1/documents", files={"file": (name, text)})
    assert response.status_code == 202, response.text
    return str(response.json()["job_id"])


def test_a_killed_database_comes_back_by_itself_and_jobs_go_on(home: Path) -> None:
    with _serving(home) as (process, http):
        jobs = [_upload(http, f"{n}.md", f"第{n}号水泵每半年更换一次轴承。") for n in range(3)]
        _kill(home)
        told = set()
        while (ready := http.get("/readyz")).status_code != 200:
            told |= {reason["message"] for reason in ready.json()["reasons"]}
            assert process.poll() is None
            time.sleep(0.02)
        assert not any("fuzi db start" in message for message in told), told
        for job in jobs:
            while not (state := http.get(f"/v1/jobs/{job}").json())["finished_at"]:
                time.sleep(0.1)
            assert state["status"] == "ready", state
        search = {"query": "水泵", "vector_weight": 0}
        while http.get("/readyz").json()["status"] != "ready":
            time.sleep(0.1)  # the BM25 index is rebuilt
        assert len(http.post("/v1/search", json=search).json()["passages"]) == 3


def test_a_stopped_database_stays_stopped_and_holds_up_no_stop(home: Path) -> None:
    with _serving(home) as (process, http):
        assert http.get("/readyz").status_code == 200
        EmbeddedServer(home).stop()
        for _ in range(3):
            ready = http.get("/readyz")
            assert ready.status_code == 503
            assert "`fuzi db start`" in ready.json()["reasons"][0]["message"]
            time.sleep(1)
        assert EmbeddedServer(home).status().state == "stopped"
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=_STOP_SECONDS + 5)  # starting Python's own end takes a moment on a busy machine
        assert process.returncode in {0, -signal.SIGTERM}
