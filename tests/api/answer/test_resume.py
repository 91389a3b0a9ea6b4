"""A stream that was cut goes on; one that nobody reads stops the model; and nothing leaks."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import psycopg
import pytest

from tests.api.answer.conftest import QUESTION, Service, serving, text_of
from tests.api.live import until
from tests.cases import case
from tests.conftest import Databases
from tests.fakes.chat_server import Stream

SLOW = Stream([f"{number}，" for number in range(30)], pause_seconds=0.02)


def test_a_reader_that_comes_back_goes_on_where_it_was(service: Service) -> None:
    service.chat.usual = SLOW
    with service.stream() as events:
        first = [next(events) for _ in range(4)]
    second = service.ask(after=first[-1].id)
    assert text_of([*first, *second]) == "".join(SLOW.deltas)
    assert [event.name for event in second] == [*["content"] * 27, "complete"]
    numbers = [int(event.id.partition("-")[2]) for event in [*first, *second]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(service.chat.requests) == 1
    assert text_of(service.ask(after=second[-5].id)) == "".join(SLOW.deltas[-3:])

    ended = service.post(after=second[-1].id)
    assert (ended.status_code, ended.content) == (204, b"")


@pytest.mark.parametrize(
    ("question", "after", "status", "code"),
    [
        (QUESTION, "0123456789abcdef0123456789abcdef-3", 404, "answer_not_held"),
        (QUESTION, "{id}-99", 404, "answer_not_held"),
        ("别的问题", "{id}-1", 422, "invalid_request"),
        (QUESTION, "{id}", 422, "invalid_request"),
        (QUESTION, "{id}-x", 422, "invalid_request"),
        (QUESTION, "-1", 422, "invalid_request"),
    ],
)
def test_what_cannot_be_gone_on_with_is_said_so(
    service: Service, question: str, after: str, status: int, code: str
) -> None:
    held = service.ask()[0].data["answer_id"]
    answer = service.post(question, after=after.replace("{id}", held))
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.fixture(scope="module")
def small(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Forgets an answer with its reader, and writes one at once."""
    with serving(databases, tmp_path_factory.mktemp("small"), resume_seconds=0, concurrency=1) as service:
        yield service


def test_leaving_stops_the_model_where_nothing_is_held(small: Service) -> None:
    small.chat.usual = Stream(["词"] * 10_000, pause_seconds=0.005)
    with small.stream() as events:
        last = [next(events) for _ in range(3)][-1]
    until(lambda: small.chat.left)
    assert small.post(after=last.id).json()["error"]["code"] == "answer_not_held"


def test_more_answers_than_places_are_refused_at_once(small: Service) -> None:
    small.chat.usual = Stream(["词"] * 10_000, pause_seconds=0.005)
    with small.stream() as events:
        next(events)
        refused = small.post()
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
        assert int(refused.headers["Retry-After"]) >= 1
        assert httpx.post(f"{small.url}/v1/search", json={"query": QUESTION}).status_code == 200
    small.chat.usual = Stream(["好[1]"])
    until(lambda: small.post(stream=False).status_code == 200)


@pytest.mark.case("BR-075")
def test_readers_that_leave_take_nothing_with_them(service: Service) -> None:
    service.chat.usual = Stream(["词"] * 1000, pause_seconds=0.01)
    for _ in range(case("BR-075").input["aborted_streams"]):
        with service.stream() as events:
            assert [next(events).name for _ in range(2)] == ["search_results", "content"]
    found = httpx.post(f"{service.url}/v1/search", json={"query": QUESTION}, timeout=2)
    assert found.status_code == 200
    until(lambda: not _in_transactions(service.database), seconds=10)


def _in_transactions(database: str) -> int:
    with psycopg.connect(database) as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'"
        ).fetchone()
    return int(row[0]) if row else 0
