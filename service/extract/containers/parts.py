"""Files that hold files: what is shared by archives and mails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from service.errors import EmptyFile, Encrypted, ExtractionFailed, ExtractionLimit, ExtractionTimeout, FuziError, NoText
from service.extract.read.reading import Reading
from service.extract.structure.draft import Draft, DraftBlock
from service.types import BlockType, ExtractRequest, Notice

_MOST_PARTS = 5000
_MOST_UNPACKED = 1 << 30
_MOST_NOTICES = 50
_DEEPEST_HEADING = 6


@dataclass(slots=True)
class Budget:
    """What one uploaded file may still unpack, shared by everything nested in it."""

    max_depth: int
    parts: int = _MOST_PARTS
    unpacked: int = _MOST_UNPACKED

    def take(self, size: int) -> None:
        """Count unpacked bytes.

        Raises:
            ExtractionLimit: it is more than one file may hold.
        """
        self.unpacked -= size
        if self.unpacked < 0:
            raise ExtractionLimit(f"the file unpacks to more than {_MOST_UNPACKED >> 20} MB (a decompression bomb)")

    def take_part(self) -> None:
        """Count one file.

        Raises:
            ExtractionLimit: there are more than one file may hold.
        """
        self.parts -= 1
        if self.parts < 0:
            raise ExtractionLimit(f"the file holds more than {_MOST_PARTS} files")


type ReadPart = Callable[[ExtractRequest, int], Reading]
"""Reads one part: its file and its depth (the uploaded file has 0)."""


@dataclass(slots=True)
class Collector:
    """Gathers the blocks of the parts under headings with their names."""

    read: ReadPart
    budget: Budget
    depth: int
    folder: Path
    draft: Draft = field(default_factory=Draft)
    notices: list[Notice] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    errors: list[FuziError] = field(default_factory=list)

    def add(self, name: str, data: bytes, *, level: int, declared_type: str | None = None) -> None:
        """Read one part; one that cannot be read leaves a notice. ``level`` is that of its heading."""
        self.names.append(name)
        if self.depth >= self.budget.max_depth:
            self.note("nesting_limit", f"{name}: nested deeper than {self.budget.max_depth} levels, left out")
            self.errors.append(ExtractionLimit("the archives in this file are nested too deep"))
            return
        self.budget.take_part()
        path = self.folder / f"part{len(self.names)}"
        path.write_bytes(data)
        try:
            reading = self.read(ExtractRequest(path, name, declared_type), self.depth + 1)
        except ExtractionTimeout:
            raise
        except (ExtractionFailed, EmptyFile) as error:
            if data:
                self.errors.append(error)
                self.note("part_not_read", f"{name}: {error.message}")
            return
        finally:
            path.unlink()
        blocks = reading.as_blocks()
        if blocks:
            self.draft.blocks.append(DraftBlock(BlockType.HEADING, name, min(level, _DEEPEST_HEADING)))
            self.draft.blocks.extend(lowered(blocks, level))
        for notice in reading.notices:
            self.note(notice.code, f"{name}: {notice.message}")

    def note(self, code: str, message: str) -> None:
        """Keep a notice, up to a sensible number."""
        if len(self.notices) < _MOST_NOTICES:
            self.notices.append(Notice(code, message))

    def refuse_if_empty(self) -> None:
        """Raise what the parts had in common, when none of them gave text.

        Raises:
            ExtractionFailed: that leaf, or ``NoText``.
        """
        if any(not block.is_empty for block in self.draft.blocks):
            return
        codes = {error.code for error in self.errors}
        for leaf in (ExtractionLimit, Encrypted):
            if leaf.code in codes:
                raise next(error for error in self.errors if error.code == leaf.code)
        if len(codes) == 1 and isinstance(self.errors[0], ExtractionFailed):
            raise self.errors[0]
        raise NoText("no file in it could be read", files=self.names[:20])


def lowered(blocks: list[DraftBlock], levels: int) -> list[DraftBlock]:
    """The blocks with their headings that many levels deeper, so that they stand below the name of their part."""
    for block in blocks:
        block.page = None
        block.page_starts = ()
        if block.type is BlockType.HEADING:
            block.level = min(block.level + levels, _DEEPEST_HEADING)
    return blocks
