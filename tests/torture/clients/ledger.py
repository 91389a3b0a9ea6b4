"""What was acknowledged, and so what may be true: the memory of a run that no plug can be pulled from.

Every request is an operation with an effect. Acknowledged (``done``) it has happened. Without an answer it may have
happened (``maybe``). Refused with nothing written (``refused``) it has not. Operations of one source that overlap in
time may have happened in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from tests.torture.clients.contents import Content

type Verdict = Literal["done", "maybe", "refused"]


@dataclass(frozen=True)
class State:
    """Where a source may stand: the served version, and the code of an upload that failed after it.

    Neither means that there is no such document.
    """

    served: int | None = None
    error_code: str | None = None


ABSENT = State()


@dataclass
class Operation:
    """One request about a source: an upload of ``content``, or without one a deletion."""

    source: Source
    content: Content | None
    verdict: Verdict = "maybe"
    unchanged: bool = False

    def describe(self) -> str:
        what = "delete" if self.content is None else f"upload v{self.content.key}"
        if self.content is not None and self.content.error_code:
            what += f" ({self.content.error_code})"
        return f"{self.source.name}: {what}: {self.verdict}"


@dataclass
class Source:
    """A source, where it may stand once everything is quiet, and which versions a search may show until then."""

    name: str
    possible: set[State] = field(default_factory=lambda: {ABSENT})
    served: set[int | None] = field(default_factory=lambda: {None})
    visible: set[int] = field(default_factory=set)
    touched: bool = False
    in_flight: int = 0
    _group: list[Operation] = field(default_factory=list)

    @contextmanager
    def operation(self, content: Content | None) -> Iterator[Operation]:
        """An operation on its way; its verdict is set inside the block."""
        operation = Operation(self, content)
        self.touched = True
        if content is not None and content.error_code is None:
            self.visible.add(content.key)
        self.in_flight += 1
        self._group.append(operation)
        try:
            yield operation
        finally:
            self.in_flight -= 1
            if not self.in_flight:
                self._settle()

    def _settle(self) -> None:
        """All operations that overlapped have ended: any of them may have been the last one."""
        happened = [one for one in self._group if one.verdict != "refused"]
        sure = any(one.verdict == "done" for one in happened)
        before = self.possible
        served = {None if one.content is None else one.content.key for one in happened if not _fails(one)}
        deleted_alone = len(happened) == 1 and sure and happened[0].content is None
        self.served = served if deleted_alone else self.served | served
        states = set() if sure else set(before)
        for one in happened:
            states |= self._effects(one, before)
        self.possible = states
        self._group.clear()

    def _effects(self, operation: Operation, before: set[State]) -> set[State]:
        content = operation.content
        if content is None:
            return {ABSENT}
        if content.error_code is not None:
            return {State(key, content.error_code) for key in self.served}
        # The same file as the served one changes nothing, so the code of a failed replacement stays.
        kept = {state for state in before if state.served == content.key} if operation.unchanged else set()
        return {State(content.key)} | kept

    def observed(self, state: State) -> None:
        """Everything is quiet and this is what was found: from here on nothing else may be."""
        self.possible, self.touched = {state}, False
        self.served = {state.served}
        self.visible = set() if state.served is None else {state.served}


def _fails(operation: Operation) -> bool:
    return operation.content is not None and operation.content.error_code is not None


@dataclass
class Ledger:
    """All sources of a run, the documents that were deleted, and a line for everything that happened."""

    sources: dict[str, Source] = field(default_factory=dict)
    deleted: set[UUID] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def note(self, line: str) -> None:
        self.lines.append(line)

    def count(self, what: str, by: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + by

    def fault(self, line: str) -> None:
        """Something that must never happen has happened."""
        self.note(f"FAULT {line}")
        self.faults.append(line)
