"""The service behind a real socket, with a scripted chat model: it is the streams that are tested."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

from service.config import ChatSettings
from tests.api.conftest import api_settings
from tests.api.live import live_server
from tests.conftest import Databases
from tests.fakes.chat_server import ChatServer, Stream
from tests.fakes.hash_embedder import HashEmbedder

MANUAL = "# 空压机保养\n\n每三个月更换一次滤芯，型号 AX-200B。更换前先切断电源。"
TRAVEL = "# 差旅报销\n\n一线城市住宿费每晚不超过 500 元。出差须提前三天申请。"
WARRANTY = "# 售后\n\n整机保修期为两年，电池保修期为一年。"
QUESTION = "更换滤芯之前要切断电源吗？"
SECRET = "sk-very-secret-7731"


@dataclass(frozen=True)
class Said:
    """One event as a reader of the standard's format sees it."""

    name: str
    id: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Service:
    """A running service and the model behind it."""

    url: str
    chat: ChatServer
    database: str

    def ask(self, question: str = QUESTION, *, after: str | None = None, **fields: Any) -> list[Said]:
        """All events of one answer, read by a standard parser; the request must be taken."""
        with self.stream(question, after=after, **fields) as events:
            return list(events)

    @contextmanager
    def stream(self, question: str = QUESTION, *, after: str | None = None, **fields: Any) -> Iterator[Iterator[Said]]:
        """The events of one answer while they come; leaving the block goes away."""
        headers = {} if after is None else {"Last-Event-ID": after}
        body = {"question": question, **fields}
        with (
            httpx2.Client(timeout=20) as http,
            http.stream("POST", f"{self.url}/v1/answer", json=body, headers=headers) as response,
        ):
            assert response.status_code == 200, response.read()
            assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
            yield (Said(event.event, event.id, json.loads(event.data)) for event in httpx2.EventSource(response))

    def post(self, question: str = QUESTION, *, after: str | None = None, **fields: Any) -> httpx.Response:
        """The answer as it is, once it has ended."""
        headers = {} if after is None else {"Last-Event-ID": after}
        body = {"question": question, **fields}
        return httpx.post(f"{self.url}/v1/answer", json=body, headers=headers, timeout=20)


@contextmanager
def serving(databases: Databases, folder: Path, **chat: Any) -> Iterator[Service]:
    """A service with three documents, and a chat model of its own."""
    with ChatServer("更换前", "先切断", "电源 [1]。") as model, databases.fresh() as database:
        limits = {"heartbeat_seconds": 0.1, "timeout_seconds": 5, "attempts": 2, "concurrency": 64, **chat}
        settings = api_settings(database, folder).model_copy(
            update={"chat": ChatSettings(base_url=model.url, model="scripted", api_key=SECRET, **limits)}
        )
        with live_server(settings, HashEmbedder(384)) as url:
            for name, text in {"空压机.md": MANUAL, "差旅.md": TRAVEL, "售后.md": WARRANTY}.items():
                files = {"file": (name, text.encode())}
                httpx.post(f"{url}/v1/documents?wait=true", files=files, timeout=60).raise_for_status()
            yield Service(url, model, database)


@pytest.fixture(scope="session")
def running(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(databases, tmp_path_factory.mktemp("answers")) as service:
        yield service


@pytest.fixture
def service(running: Service) -> Service:
    """The service of the module, with a model that has nothing in store."""
    running.chat.usual = Stream(["更换前", "先切断", "电源 [1]。"])
    running.chat.requests.clear()
    running.chat.left = 0
    return running


def text_of(events: list[Said]) -> str:
    return "".join(event.data["text"] for event in events if event.name == "content")
