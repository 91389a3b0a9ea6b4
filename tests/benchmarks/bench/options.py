"""What a run of the bench is asked for, and what its parts share."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.benchmarks.bench.data.library import Generator
from tests.benchmarks.bench.load.subject import ROOT

FULL_SIZES = (10_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000,)
_THINNED_SECONDS = 5


@dataclass(frozen=True)
class Bench:
    """Options in force. ``seconds`` is the time of one measurement of one contestant."""

    folder: Path
    sizes: tuple[int, ...] = FULL_SIZES
    seconds: float = 9.0
    quick: bool = False
    fresh: bool = False
    peers_python: Path = ROOT / ".bench-venv" / "bin" / "python"
    begun: float = field(default_factory=time.monotonic)
    _told: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    """What the parts found out about the versions of what they measured."""

    @property
    def middle(self) -> int:
        """The size at which peers, filters and writing are measured: 100,000 if it is asked for."""
        return 100_000 if 100_000 in self.sizes else self.sizes[-1]

    @property
    def rounds(self) -> int:
        """Turns in which contestants are measured."""
        return 1 if self.quick else 3

    @property
    def log(self) -> Path:
        """File of all that the measured programs say."""
        return self.folder / "bench.log"

    @property
    def build_memory(self) -> str:
        """`maintenance_work_mem` while the indexes of a new library are built."""
        gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
        return f"{max(1, min(4, gigabytes // 4))}GB"

    @cached_property
    def generator(self) -> Generator:
        """Makes the libraries."""
        return Generator(self.folder, self.tell, small=self.quick)

    def tell(self, text: str) -> None:
        """Progress for people: on a terminal the line replaces the last one, in a file counts are thinned out."""
        seconds = int(time.monotonic() - self.begun)
        line = f"{seconds // 60:3}:{seconds % 60:02}  {text}"
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif self._told.get(text[:8], -_THINNED_SECONDS) + _THINNED_SECONDS <= seconds:
            self._told[text[:8]] = seconds
            print(line, file=sys.stderr, flush=True)


def default_folder() -> Path:
    """Where libraries and results are kept: as root outside of its home, which the server's account cannot enter."""
    chosen = os.environ.get("FUZI_BENCH_HOME")
    if chosen:
        return Path(chosen)
    return Path("/var/tmp/fuzi-bench") if os.geteuid() == 0 else Path.home() / ".cache" / "fuzi-bench"
