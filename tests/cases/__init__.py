"""The field cases of ``shared/cases``: failures seen elsewhere, with the right answers.

A test takes a case by its id::

    from tests.cases import case

    @pytest.mark.case("BR-014")
    def test_a_long_line_without_punctuation_is_cut() -> None:
        chunks = split(plain(case("BR-014").text), SplitSettings())

``test_coverage.py`` beside this file says which cases no test mentions yet.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.inputs import SHARED


@dataclass(frozen=True, slots=True)
class Case:
    """One case as published; ``input`` and ``expected`` are its JSON objects."""

    id: str
    area: str
    level: str
    title: str
    input: Mapping[str, Any]
    expected: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The input text: given whole, as Markdown, as extracted, or as ``text_parts`` (string and repetitions).

        Raises:
            KeyError: the case has no single input text.
        """
        for name in ("text", "markdown", "extracted_text"):
            if name in self.input:
                return str(self.input[name])
        return "".join(part * count for part, count in self.input["text_parts"])

    @property
    def files(self) -> dict[str, bytes]:
        """File name → bytes of the files the case brings along, decoded from base64 or encoded in UTF-8."""
        found = {file["name"]: _content(file) for file in self.input.get("files", ())}
        if "file_base64" in self.input:
            found[self.input["file_name"]] = base64.b64decode(self.input["file_base64"])
        return found


def _content(file: Mapping[str, str]) -> bytes:
    if "base64" in file:
        return base64.b64decode(file["base64"])
    return file["text"].encode()


@cache
def field_cases() -> Mapping[str, Case]:
    """All cases by id, in published order."""
    lines = (SHARED / "cases" / "field_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [Case(**json.loads(line)) for line in lines]
    return {case.id: case for case in cases}


def case(identifier: str) -> Case:
    """The case with this id, such as ``BR-014``."""
    return field_cases()[identifier]
