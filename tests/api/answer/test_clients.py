"""The Python client and `fuzi ask` against a running service: cuts are mended, failures are raised as themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from typer.testing import CliRunner

from service.cli.app import app
from service.cli.work.direct import DirectBackend
from service.client import FuziClient
from service.errors import ChatUnavailable, InvalidRequest, Unavailable
from tests.api.answer.conftest import MANUAL, QUESTION, Service
from tests.api.conftest import Api
from tests.api.live import until
from tests.fakes.chat_server import Stream

SLOW = Stream([f"{number}，" for number in range(30)], pause_seconds=0.02)


class Cutting(httpx.HTTPTransport):
    """The real transport; each stream breaks off after so many pieces, so many times."""

    def __init__(self, after: int, times: int) -> None:
        super().__init__()
        self.after, self.times = after, times
        self.resumed: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        self.resumed.append(request.headers.get("Last-Event-ID"))
        if self.times == 0:
            return response
        self.times -= 1
        return httpx.Response(response.status_code, headers=response.headers, stream=self._cut(response))

    def _cut(self, response: httpx.Response) -> httpx.SyncByteStream:
        after = self.after

        class Cut(httpx.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                for number, piece in enumerate(response.iter_raw()):
                    if number == after:
                        break
                    yield piece
                response.close()
                raise httpx.ReadError("cut")

        return Cut()


def test_an_answer_comes_piece_by_piece(service: Service) -> None:
    with FuziClient(service.url) as client:
        names = [event.name for event in client.answer(QUESTION, search={"top_n": 1})]
    assert names == ["search_results", "content", "content", "content", "complete"]


def test_a_cut_is_mended_without_asking_the_model_again(service: Service) -> None:
    service.chat.usual = SLOW
    transport = Cutting(after=5, times=3)
    with FuziClient(service.url, transport=transport) as client:
        events = list(client.answer(QUESTION))
    assert "".join(event.data["text"] for event in events if event.name == "content") == "".join(SLOW.deltas)
    assert events[-1].name == "complete"
    assert transport.resumed[0] is None
    assert all(transport.resumed[1:])
    assert len(transport.resumed) == 4
    assert len(service.chat.requests) == 1


def test_one_that_cannot_be_mended_is_an_error(service: Service) -> None:
    service.chat.usual = SLOW
    transport = Cutting(after=0, times=99)
    with FuziClient(service.url, transport=transport) as client, pytest.raises(Unavailable):
        list(client.answer(QUESTION))
    assert transport.resumed == [None], "what was never begun is not asked for twice"
    # the model is asked all the same, and must not be by the time the next test scripts it
    until(lambda: len(service.chat.requests) == 1)


def test_what_ends_an_answer_is_raised_as_itself(service: Service) -> None:
    service.chat.script(Stream(["更换"], cut=True))
    with FuziClient(service.url) as client:
        with pytest.raises(ChatUnavailable):
            list(client.answer(QUESTION))
        with pytest.raises(InvalidRequest, match="question"):
            list(client.answer(" "))
        with pytest.raises(InvalidRequest, match="topN"):
            list(client.answer(QUESTION, search={"topN": 1}))


def test_the_command_shows_the_answer_and_its_sources(service: Service) -> None:
    service.chat.script(Stream(["\x1b[31m更换前先切断", "电源 [1]。"]))
    run = CliRunner().invoke(app, ["ask", QUESTION, "--url", service.url])
    assert run.exit_code == 0, run.output
    assert "[31m更换前先切断电源 [1]。\n" in run.stdout
    assert "\x1b" not in run.stdout
    assert "[1]  空压机保养  空压机.md · default · characters" in run.stdout

    whole = json.loads(CliRunner().invoke(app, ["ask", QUESTION, "--url", service.url, "--json"]).stdout)
    assert (whole["text"], whole["mode"]) == ("更换前先切断电源 [1]。", "generated")


def test_the_command_tells_why_there_is_no_answer(service: Service) -> None:
    service.chat.script(Stream(["更换"], cut=True))
    run = CliRunner().invoke(app, ["ask", QUESTION, "--url", service.url])
    assert run.exit_code == 1
    assert "chat_unavailable" in run.stderr
    assert "--extractive" in run.stderr
    run = CliRunner().invoke(app, ["ask", QUESTION, "--url", service.url, "--extractive"])
    assert "更换前先切断电源。 [1]" in run.stdout
    assert "no chat model wrote them" in run.stderr


async def test_the_command_answers_without_a_server_too(api: Api) -> None:
    await api.put("空压机.md", MANUAL)
    heard = list[str]()
    body = {"question": QUESTION, "search": {"top_n": 1}}
    whole = await DirectBackend(api.services).answer(body, lambda name, _data: heard.append(name))
    assert (whole["mode"], heard) == ("extractive", ["search_results", "content"])
    assert "更换前先切断电源。 [1]" in whole["text"]
    with pytest.raises(InvalidRequest, match="question"):
        await DirectBackend(api.services).answer({"question": ""}, lambda _name, _data: None)
