"""Providers over a real HTTP server that misbehaves as the field cases say."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from service.errors import (
    EmbedderUnavailable,
    EmbeddingDimension,
    EmbeddingFailed,
    EmbeddingRefused,
    InvalidInput,
)
from tests.fakes.embedding_server import (
    Answer,
    Cut,
    EmbeddingServer,
    Hang,
    Request,
    Slow,
    Trickle,
    Vectors,
    refuse_more_than,
    refuse_text,
)
from tests.unit.embed.remote_embedder import KEY, embedder


def numbered(text: str) -> list[float]:
    """The number in a text as first component, as the field case has it."""
    return [float(text.removeprefix("第").removesuffix("段")), 1.0, 0.0]


async def test_br_039_requests_of_ten_ten_and_five(server: EmbeddingServer) -> None:
    server.vector_of = numbered
    server.rule = refuse_more_than(10)
    progress: list[int] = []
    vectors = await embedder(server).embed_passages([f"第{n}段" for n in range(25)], progress.append)
    assert sorted(len(request.texts) for request in server.requests) == [5, 10, 10]
    assert vectors[:, 0].tolist() == list(range(25))
    assert progress[-1] == 25
    assert progress == sorted(progress)


async def test_br_039_a_provider_with_a_smaller_batch_than_configured_still_works(server: EmbeddingServer) -> None:
    server.vector_of = numbered
    server.rule = refuse_more_than(4)
    vectors = await embedder(server, batch_size=20).embed_passages([f"第{n}段" for n in range(25)])
    assert vectors[:, 0].tolist() == list(range(25))


async def test_br_040_vectors_are_matched_by_index(server: EmbeddingServer) -> None:
    known = {"猫": [1.0, 0.0, 0.0], "狗": [0.0, 1.0, 0.0], "鸟": [0.0, 0.0, 1.0]}
    server.vector_of = known.__getitem__
    server.script(Vectors(order=lambda _count: [2, 0, 1]))
    assert (await embedder(server).embed_passages(["猫", "狗", "鸟"])).tolist() == list(known.values())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"index": 0, "embedding": [1, 0, 0]}], "1 vectors came back for 2 texts"),
        ([{"index": 0, "embedding": [1, 0, 0]}] * 2, "two embeddings came with index 0"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 2, "embedding": [1, 0, 0]}], "index 2"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": -1, "embedding": [1, 0, 0]}], "index -1"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"embedding": [1, 0, 0]}], "index None"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": "1", "embedding": [1, 0, 0]}], "index '1'"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": True, "embedding": [1, 0, 0]}], "index True"),
        ([{"index": 0, "embedding": [1, 0, 0]}, "vector"], "index None"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": [0, 0, 0]}], "text 2 of 2: .*zero"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": [1, None, 0]}], "text 2 of 2: .*non-finite"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": [1e39, 0, 0]}], "text 2 of 2: .*non-finite"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": None}], "text 2 of 2"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": "abc"}], "text 2 of 2"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": [[1, 0, 0]]}], "text 2 of 2"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": [1, [0], 0]}], "text 2 of 2"),
        ([{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": []}], "text 2 of 2: .*0 numbers, 3"),
        ("nothing", "no list of vectors"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused(server: EmbeddingServer, rows: Any, message: str) -> None:
    server.script(Answer(200, {"data": rows}))
    with pytest.raises(EmbeddingFailed, match=message):
        await embedder(server).embed_passages(["猫", "狗"])
    assert len(server.requests) == 1


async def test_br_041_429_is_waited_out_as_told(server: EmbeddingServer) -> None:
    server.script(Answer(429, headers={"Retry-After": "2"}), Answer(429, headers={"Retry-After": "1"}))
    vectors = await embedder(server).embed_passages(["一", "二", "三"])
    first, second, third = (request.at for request in server.requests)
    assert second - first >= 2
    assert third - second >= 1
    assert vectors.shape == (3, 3)


async def test_br_042_both_dimensions_are_named(server: EmbeddingServer) -> None:
    server.vector_of = lambda _text: [0.5] * 768
    with pytest.raises(EmbeddingDimension) as wrong:
        await embedder(server, dimension=1024).embed_passages(["维度测试。"])
    assert "768" in wrong.value.message
    assert "1024" in wrong.value.message
    assert (wrong.value.details["received"], wrong.value.details["configured"]) == (768, 1024)
    with pytest.raises(EmbeddingDimension, match=r"768.*1024"):
        await embedder(server, dimension=1024).embed_query("维度测试。")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "null"])
async def test_br_043_numbers_that_are_not_finite_are_refused(server: EmbeddingServer, number: str) -> None:
    server.script(Answer(200, f'{{"data":[{{"index":0,"embedding":[0.1,{number},0.3]}}]}}'))
    with pytest.raises(EmbeddingFailed, match=r"text 1 of 1: .*non-finite .*component 1") as refused:
        await embedder(server).embed_passages(["含有异常的段落。"])
    if number in {"NaN", "null"}:
        assert "nan" in refused.value.message
    assert not refused.value.retryable


async def test_br_045_a_document_that_hangs_the_server_fails_and_another_completes(server: EmbeddingServer) -> None:
    server.rule = lambda request: Hang() if any("慢" in text for text in request.texts) else None
    shared = embedder(server, timeout_seconds=0.3, attempts=2)
    slow = asyncio.create_task(shared.embed_passages(["慢的文档"]))
    assert (await shared.embed_passages(["另一个文档"])).shape == (1, 3)
    assert (await shared.embed_query("问题")).shape == (3,)
    with pytest.raises(EmbedderUnavailable, match=r"no answer within 0\.\d+ s"):
        await slow
    assert sum("慢" in request.texts[0] for request in server.requests) == 2


async def test_a_body_that_trickles_in_ends_at_the_limit_of_the_call(server: EmbeddingServer) -> None:
    server.rule = lambda _request: Trickle()
    with pytest.raises(EmbedderUnavailable, match="no answer within"):
        await embedder(server, timeout_seconds=0.3, attempts=1).embed_passages(["一"])


@pytest.mark.parametrize(
    "fault",
    [
        Cut(),
        Cut(half_way=True),
        Answer(500, "<html>oops</html>"),
        Answer(503, {"error": {"message": "loading"}}),
        Answer(200, {"error": {"message": "overloaded", "code": 503}}),
        Answer(200, {"error": "server busy"}),
        Answer(200, "<html>please log in</html>"),
        Answer(200, ""),
    ],
)
async def test_a_passing_fault_is_tried_again(server: EmbeddingServer, fault: Any) -> None:
    server.script(fault)
    assert (await embedder(server).embed_passages(["一", "二"])).shape == (2, 3)
    assert len(server.requests) == 2


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with EmbeddingServer() as gone:
        settings = {"attempts": 2, "base_url": gone.url}
    with pytest.raises(EmbedderUnavailable, match=r"127\.0\.0\.1") as raised:
        await embedder(gone, **settings).embed_passages(["一"])
    assert raised.value.retryable


async def test_one_bad_text_is_found_and_named(server: EmbeddingServer) -> None:
    server.rule = refuse_text("坏")
    texts = [f"第{n}段" for n in range(25)]
    texts[13] = "坏的一段"
    with pytest.raises(EmbeddingRefused, match=r"text 14 of 25: .*cannot be embedded") as refused:
        await embedder(server).embed_passages(texts)
    assert refused.value.details["position"] == 13
    assert refused.value.details["status"] == 400


async def test_a_wrong_key_is_not_searched_for_in_the_texts(server: EmbeddingServer) -> None:
    server.rule = lambda _request: Answer(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with pytest.raises(EmbeddingRefused, match="Incorrect API key") as refused:
        await embedder(server).embed_passages(["一"] * 10)
    assert len(server.requests) == 1
    assert KEY not in str(refused.value) + repr(refused.value.details)


async def test_the_key_travels_in_the_header_only(server: EmbeddingServer) -> None:
    await embedder(server).embed_query("问题")
    [request] = server.requests
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(request.body) + request.path


async def test_blank_texts_are_never_sent(server: EmbeddingServer) -> None:
    remote = embedder(server)
    with pytest.raises(InvalidInput, match="text 2 of 2"):
        await remote.embed_passages(["一", " \n\u3000"])
    with pytest.raises(InvalidInput, match="blank"):
        await remote.embed_query("\x00")
    assert server.requests == []


async def test_nul_and_surrogates_do_not_reach_the_provider(server: EmbeddingServer) -> None:
    await embedder(server).embed_passages(["保修\x00三年\ud800。"])
    assert server.requests[0].texts == ["保修三年\ufffd。"]


async def test_no_more_calls_than_configured_are_in_flight(server: EmbeddingServer) -> None:
    now = most = 0

    class Counted(Vectors):
        def act(self, handler: Any, request: Request) -> None:
            nonlocal now
            Slow(0.02).act(handler, request)
            now -= 1

    def rule(_request: Request) -> Counted:
        nonlocal now, most
        now += 1
        most = max(most, now)
        return Counted()

    server.rule = rule
    remote = embedder(server, concurrency=3, batch_size=1)
    await asyncio.gather(remote.embed_passages(["一"] * 10), remote.embed_passages(["二"] * 10))
    assert 2 <= most <= 3


async def test_a_repeated_query_is_not_sent_again(server: EmbeddingServer) -> None:
    remote = embedder(server)
    first = await remote.embed_query("同一个问题")
    assert await remote.embed_query("同一个问题") is first
    assert len(server.requests) == 1
    assert first.dtype == np.float32


async def test_no_texts_are_no_calls(server: EmbeddingServer) -> None:
    assert (await embedder(server).embed_passages([])).shape == (0, 3)
    assert server.requests == []


async def test_prepared_queries_are_one_call_and_then_at_hand(server: EmbeddingServer) -> None:
    server.vector_of = numbered
    asked = embedder(server)
    await asked.embed_query("第1段")
    await asked.prepare_queries([f"第{n}段" for n in (1, 2, 3, 3)])
    assert [len(request.texts) for request in server.requests] == [1, 2]
    assert [(await asked.embed_query(f"第{n}段"))[0] for n in (1, 2, 3)] == [1, 2, 3]
    assert len(server.requests) == 2
    assert asked.knows_query("第3段")
    assert not asked.knows_query("第4段")
    await asked.prepare_queries([])
    assert len(server.requests) == 2
