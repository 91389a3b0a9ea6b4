"""Measure Fuzi beside the floor that PostgreSQL sets, and beside what people would use instead.

    make bench                          everything, within an hour on two cores
    make bench ARGS=--quick             all parts with 1,000 chunks, in two minutes: does it run?
    make bench ARGS="--parts search --sizes 10000"

Libraries are made once and kept (FUZI_BENCH_HOME; about 8 GB with a million chunks); the first run takes longer. Every
row has its floor or its peer from the same run, measured in turns: ratios count, absolute times do not. Results are
bench.json and bench.md in that folder; --publish writes docs/bench.md and docs/bench.json. Exit status 0 however the
goals stand, since machines differ; 1 when a part broke.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import datetime
from importlib import import_module
from pathlib import Path

from tests.benchmarks.bench.load.subject import ROOT
from tests.benchmarks.bench.options import FULL_SIZES, QUICK_SIZES, Bench, default_folder
from tests.benchmarks.bench.report import circumstances, to_markdown, write
from tests.benchmarks.bench.rows import Row

PARTS = {
    "search": ("searching", "REST beside its statement, 1, 8 and 32 clients, every size"),
    "filter": ("searching", "filters from 50 % down to 0.05 %: time, recall, completeness"),
    "recall": ("searching", "HNSW beside comparing all vectors, every size"),
    "peers": ("searching", "LangChain, LlamaIndex, pg_search with default options"),
    "fresh": ("searching", "searches right after many small writes, beside pg_search"),
    "ingest": ("writing", "documents by REST beside COPY BINARY and the peers; searches meanwhile"),
    "bulk": ("writing", "an archive into an empty library beside REST, COPY BINARY and the peers"),
    "split": ("writing", "splitting beside LangChain and LlamaIndex"),
    "startup": ("running", "`fuzi serve` to its first answer"),
    "memory": ("running", "memory of every process, bytes on disk"),
    "overload": ("searching", "more searches than the machine carries"),
}
"""Folder of the part's module, and what it measures."""


def part(name: str) -> Callable[[Bench], Iterator[Row]]:
    """The function of a part; what it needs is loaded now."""
    folder, _ = PARTS[name]
    function: Callable[[Bench], Iterator[Row]] = import_module(f"tests.benchmarks.bench.parts.{folder}.{name}").run
    return function


def run(bench: Bench, names: list[str]) -> bool:
    """Run the parts and write what they found after each; a part that breaks leaves the others alone."""
    rows, good, begun = list[Row](), True, datetime.now().astimezone()
    command = " ".join(["python -m tests.benchmarks.bench", *sys.argv[1:]])
    for name in names:
        try:
            for row in part(name)(bench):
                rows.append(row)
        except Exception:
            good = False
            traceback.print_exc()
        finally:  # Ctrl-C too: what was measured is kept
            minutes = (time.monotonic() - bench.begun) / 60
            around = circumstances(begun, minutes, command, bench.versions)
            files = write(bench.folder, rows, around)
    bench.tell("done\n")
    print(to_markdown(rows, around))
    print(f"written to {files[0]} and {files[1]}", file=sys.stderr)
    return good


def numbers(text: str) -> tuple[int, ...]:
    """Ascending sizes of an option."""
    return tuple(sorted({int(each) for each in text.split(",")}))


def main() -> int:
    """Read the command line, run, and say how it went by the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="parts:\n" + "\n".join(f"  {name:12} {about}" for name, (_, about) in PARTS.items()),
    )
    parser.add_argument("--parts", default=",".join(PARTS), help="parts to run, with commas between (all)")
    parser.add_argument("--sizes", type=numbers, help="child chunks, with commas between (10000,100000,1000000)")
    parser.add_argument("--seconds", type=float, help="time of one measurement of one contestant (9)")
    parser.add_argument("--quick", action="store_true", help="1,000 chunks, short measurements, unless said otherwise")
    parser.add_argument("--fresh", action="store_true", help="make the libraries anew")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="for libraries and results (%(default)s)")
    parser.add_argument("--publish", action="store_true", help="write the results to docs/ as well")
    parser.add_argument("--nice", type=int, default=0, help="niceness of the run and of all it starts (0)")
    arguments = parser.parse_args()
    names = arguments.parts.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    os.nice(arguments.nice)
    # as Ctrl-C, and also where a shell has switched that off: servers and programs are ended
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    arguments.folder.chmod(0o711)  # as root the server runs as another account, which must be able to pass
    bench = Bench(
        folder=arguments.folder,
        sizes=arguments.sizes or (QUICK_SIZES if arguments.quick else FULL_SIZES),
        seconds=arguments.seconds or (0.6 if arguments.quick else 9.0),
        quick=arguments.quick,
        fresh=arguments.fresh,
    )
    good = run(bench, names)
    if arguments.publish:
        for suffix in ("json", "md"):
            shutil.copy(bench.folder / f"bench.{suffix}", ROOT / "docs" / f"bench.{suffix}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
