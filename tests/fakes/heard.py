"""A `Watch` of a long change that remembers what it heard."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Heard:
    """Stages, and counts of done and total in their order, whichever name they come under."""

    stages: list[str] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)

    def stage(self, words: str) -> None:
        self.stages.append(words)

    def filled(self, done: int, total: int) -> None:
        """Of a change of the embedding model."""
        self.counts.append((done, total))

    def copied(self, done: int, total: int) -> None:
        """Of a replica."""
        self.counts.append((done, total))
