"""What the bench compares with: brute force over blocks, shortened libraries, clients that are counted rightly."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tests.benchmarks.bench.data.library import DIMENSION, Document, mixed, shortened
from tests.benchmarks.bench.load.drive import WARM_UP, drive
from tests.benchmarks.bench.parts.searching.recall import nearest_similarities


@pytest.mark.parametrize("block", [7, 100, 1000])
def test_nearest_similarities_are_those_of_a_full_sort_whatever_the_blocks(block: int) -> None:
    dice = np.random.default_rng(1)
    stored, asked = (dice.normal(size=(count, 8)).astype(np.float32) for count in (100, 5))
    found = nearest_similarities(stored, asked, 10, block=block)
    assert np.allclose(found, -np.sort(-(asked @ stored.T), axis=1)[:, :10])


@pytest.mark.parametrize(("chunks", "parents"), [(1, (1,)), (2, (2,)), (3, (2, 1)), (6, (2, 3, 1)), (7, (2, 3, 2))])
def test_a_document_is_shortened_from_its_end(chunks: int, parents: tuple[int, ...]) -> None:
    texts = (("a", "b"), ("c", "d", "e"), ("f", "g"))
    document = Document(3, "source", texts, np.arange(14, dtype=np.float32).reshape(7, 2))
    short = shortened(document, chunks)
    assert tuple(map(len, short.parents)) == parents
    assert short.texts == list("abcdefg")[:chunks]
    assert np.array_equal(short.vectors, document.vectors[:chunks])
    assert (short.number, short.source) == (3, "source")


async def test_clients_ask_one_question_after_the_other_and_every_answer_is_counted_once() -> None:
    asked, at_work, most = list[int](), 0, 0

    async def ask(_client: int, number: int) -> str:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        asked.append(number)
        await asyncio.sleep(0.001)
        at_work -= 1
        return "ok" if number % 2 else "503"

    answer = await drive(ask, clients=3, seconds=0.05)
    counted = sum(map(len, answer["milliseconds"].values()))
    assert asked == list(range(len(asked)))
    assert counted == len(asked) - 3 * WARM_UP
    assert most == 3
    assert set(answer["milliseconds"]) == {"ok", "503"}


def test_mixed_vectors_have_length_1_and_lie_no_closer_to_the_mean_than_real_ones() -> None:
    dice = np.random.default_rng(2)
    real = dice.normal(size=(200, DIMENSION)).astype(np.float32) + 2
    real /= np.linalg.norm(real, axis=1, keepdims=True)
    first, second = dice.integers(len(real), size=(2, 500))
    made, mean = mixed(real, first, second, dice), real.mean(axis=0)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    assert np.mean(made @ mean) == pytest.approx(np.mean(real @ mean), abs=0.01)
