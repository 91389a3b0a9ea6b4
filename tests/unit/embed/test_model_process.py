"""The parent's side of the model's process, against processes that die, hang and do not start."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from service.embed.local.process import ModelProcess
from service.errors import EmbedderUnavailable

WORKER = Path(__file__).parents[2] / "fakes" / "scripted_worker.py"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
async def model(log: Path) -> AsyncIterator[ModelProcess]:
    process = ModelProcess([sys.executable, str(WORKER), str(log)], at_once=64, omp_threads=1)
    yield process
    await process.close()


def starts(log: Path) -> int:
    return log.read_text(encoding="utf-8").splitlines().count("start")


async def ask(model: ModelProcess, text: str, seconds: float = 30) -> list[float]:
    vector = await model.embed(text, is_query=True, seconds=seconds)
    return [float(number) for number in vector]


async def test_nothing_runs_before_the_first_text(model: ModelProcess, log: Path) -> None:
    assert not log.exists()
    assert await ask(model, "猫") == [1, 1]
    assert starts(log) == 1


async def test_texts_at_once_share_one_process_and_get_their_own_answers(model: ModelProcess, log: Path) -> None:
    answers = await asyncio.gather(*(ask(model, "字" * length) for length in range(1, 60)))
    assert [answer[0] for answer in answers] == list(range(1, 60))
    assert starts(log) == 1


async def test_a_process_that_died_is_replaced_and_the_text_tried_again(model: ModelProcess, log: Path) -> None:
    assert await ask(model, "die once") == [8, 1]
    assert starts(log) == 2


async def test_a_text_that_kills_twice_is_given_up_and_the_next_one_works(model: ModelProcess, log: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="twice"):
        await ask(model, "die")
    assert starts(log) == 2
    assert await ask(model, "猫") == [1, 1]


async def test_others_in_the_process_survive_the_one_that_kills_it(model: ModelProcess) -> None:
    texts = ["甲", "乙乙", "die", "丙丙丙", "丁丁丁丁"]
    answers = await asyncio.gather(*(ask(model, text) for text in texts), return_exceptions=True)
    assert isinstance(answers.pop(2), EmbedderUnavailable)
    assert answers == [[1, 1], [2, 1], [3, 1], [4, 1]]


async def test_a_process_that_hangs_is_ended(model: ModelProcess, log: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="no answer within"):
        await ask(model, "hang", seconds=0.2)
    assert log.read_text(encoding="utf-8").splitlines().count("hang") == 2
    assert await ask(model, "猫") == [1, 1]


async def test_waiting_for_a_place_is_not_waiting_for_an_answer(log: Path) -> None:
    model = ModelProcess([sys.executable, str(WORKER), str(log)], at_once=1, omp_threads=1)
    try:
        answers = await asyncio.gather(*(ask(model, "slow", seconds=1.5) for _ in range(5)))
    finally:
        await model.close()
    assert answers == [[4, 1]] * 5
    assert starts(log) == 1


async def test_a_cancelled_text_leaves_the_frames_in_order(model: ModelProcess) -> None:
    await ask(model, "先开始")
    tasks = [asyncio.create_task(ask(model, "字" * length)) for length in range(1, 20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    for length, answer in enumerate(answers, start=1):
        assert isinstance(answer, asyncio.CancelledError) or answer == [length, 1]
    assert await ask(model, "猫") == [1, 1]


async def test_a_process_that_does_not_start_is_unavailable_until_it_does(model: ModelProcess, log: Path) -> None:
    broken = log.with_suffix(".broken")
    broken.touch()
    with pytest.raises(EmbedderUnavailable, match="exit status 3"):
        await ask(model, "猫")
    broken.unlink()
    assert await ask(model, "猫") == [1, 1]


async def test_closing_ends_the_process_and_what_is_in_work(model: ModelProcess, log: Path) -> None:
    await ask(model, "猫")
    [child] = [one for one in psutil.Process().children() if str(log) in one.cmdline()]
    stuck = asyncio.create_task(ask(model, "hang"))
    await asyncio.sleep(0)
    await model.close()
    with pytest.raises(EmbedderUnavailable):
        await stuck
    assert not child.is_running()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await ask(model, "狗")
