"""Every field case of the required areas is mentioned by some test."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.cases import field_cases

TESTS = Path(__file__).parents[1]

REQUIRED_AREAS = (
    "sentence",
    "structure",
    "chunk",
    "extract",
    "upload",
    "lifecycle",
    "embed",
    "vector",
    "keyword",
    "fusion_rerank",
    "search_api",
    "ops",
    "chat_mcp",
)
"""Areas whose rooms are finished; grows with them until it holds every area."""


def claims() -> dict[str, list[str]]:
    """Case id → test files (relative to ``tests``) that mention it: ``BR-014``, ``case("014")``, ``test_br_014``."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.parent != Path(__file__).parent:
            for number in sorted(
                set(re.findall(r'(?:\bBR-|\bbr_|_br_|\bcase\(")(\d{3})(?!\d)', path.read_text(encoding="utf-8")))
            ):
                found[f"BR-{number}"].append(str(path.relative_to(TESTS)))
    return found


@pytest.mark.parametrize("area", REQUIRED_AREAS)
def test_every_case_of_a_required_area_has_a_test(area: str) -> None:
    wanted = {identifier: case.title for identifier, case in field_cases().items() if case.area == area}
    assert wanted, f"no case has the area {area}"
    missing = {identifier: title for identifier, title in wanted.items() if identifier not in claims()}
    assert not missing, f"{area}: no test mentions {missing}"


def test_only_existing_cases_are_mentioned() -> None:
    unknown = {identifier: files for identifier, files in claims().items() if identifier not in field_cases()}
    assert not unknown
