"""Two stored runs of an evaluation side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from service.evaluate.figures.intervals import LEVEL, Difference
from service.evaluate.kept.compare import Changed, StageComparison, compare
from service.evaluate.kept.folder import read_result
from service.types import JsonObject
from service.web.view.asked import NUMBERS

_SHOWN = 40


@dataclass(frozen=True, slots=True)
class StagePair:
    """A stage of each run over the questions that both were asked."""

    found: StageComparison

    @property
    def name(self) -> tuple[str, str]:
        """The stage of the one and of the other run, which differ where one had no reranker."""
        return self.found.stage_before, self.found.stage_after

    @property
    def equal(self) -> int:
        """Questions whose first right passage kept its rank."""
        return self.found.question_count - self.found.improved - self.found.worsened

    @property
    def better(self) -> list[Changed]:
        """Questions that won most, largest gain first."""
        return [each for each in self.found.changed if each.change > 0]

    @property
    def worse(self) -> list[Changed]:
        """Questions that lost most, largest loss first."""
        return [each for each in self.found.changed if each.change < 0]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What users got in both runs, the ``other`` stages that both have, and what else differs (``notices``).

    ``settings`` has the fields of a page that compares two searches, when the runs searched with different ones.
    """

    final: StagePair
    other: Sequence[StagePair]
    notices: Sequence[str]
    settings: Mapping[str, str]

    def searches(self, question: str) -> str:
        """Where a question can be asked again: with both settings where they differ, else once."""
        return f"/{'compare' if self.settings else 'search'}?{urlencode({'q': question, **self.settings})}"


def side_by_side(before: Path, after: Path) -> SideBySide:
    """Compare two results by their files.

    Raises:
        InvalidInput: a file cannot be read, or they have no question in common.
    """
    return _compared(*(_version(file) for file in (before, after)))


type _Version = tuple[Path, int, int]  # file, time of its last change in ns, size: another one is read anew


def _version(file: Path) -> _Version:
    facts = file.stat()
    return file, facts.st_mtime_ns, facts.st_size


@lru_cache(maxsize=20)  # the 10,000 swaps of each stage take a second for 1,700 questions
def _compared(before: _Version, after: _Version) -> SideBySide:
    one, other = read_result(before[0]), read_result(after[0])
    last = list(one["stages"])[-1], list(other["stages"])[-1]
    seed = int(other["seed"])
    final = compare(one, other, seed=seed, stages=last, shown=_SHOWN)
    has_common = one["stages"].keys() & other["stages"].keys()
    common = compare(one, other, seed=seed, shown=_SHOWN).stages if has_common else ()
    pairs = [StagePair(stage) for stage in reversed(common)]
    return SideBySide(
        StagePair(final.stages[0]),
        [pair for pair in pairs if pair.name != last],
        final.notices,
        _differing_settings(one, other),
    )


def _differing_settings(before: JsonObject, after: JsonObject) -> dict[str, str]:
    """The fields of the page that compares two searches, none when both runs searched alike."""
    sides = [_fields(result["settings"]) for result in (before, after)]
    if sides[0] == sides[1]:
        return {}
    return {f"{side}_{name}": value for side, fields in zip("ab", sides, strict=True) for name, value in fields.items()}


def _fields(settings: Mapping[str, Any]) -> dict[str, str]:
    fields = {name: f"{settings['search'][name]:g}" for name in NUMBERS if name != "top_n"}
    return fields | ({"rerank": "off"} if settings["rerank"]["provider"] == "none" else {})


def verdict(difference: Difference) -> str:
    """``better`` or ``worse`` beyond what chance makes, else ``even``."""
    if difference.p_value >= LEVEL:
        return "even"
    return "better" if difference.value > 0 else "worse"
