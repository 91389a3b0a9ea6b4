"""The style sheets: nothing in them is for nothing, and what is written can be read in the light and in the dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import service.web

WEB = Path(service.web.__file__).parent
STYLES = re.sub(
    r"/\*.*?\*/",
    "",
    "".join(path.read_text(encoding="utf-8") for path in (WEB / "static").glob("*.css")),
    flags=re.DOTALL,
)
COLOURS = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", STYLES)}


def test_no_style_is_for_a_class_that_nothing_has() -> None:
    classes = set(re.findall(r"\.([a-zA-Z][\w-]*)", "".join(re.findall(r"([^{}]+)\{", STYLES))))
    assert len(classes) > 80
    sources = [path for kind in ("*.html", "*.js", "*.py") for path in WEB.rglob(kind)]
    used = set(re.findall(r"[a-zA-Z][\w-]*", " ".join(path.read_text(encoding="utf-8") for path in sources)))
    assert not classes - used


def test_every_variable_is_used_and_defined() -> None:
    assert set(re.findall(r"(--[\w-]+):", STYLES)) == set(re.findall(r"var\((--[\w-]+)\)", STYLES))


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2, 0 to 1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("ground", ["paper", "card", "sunk"])
@pytest.mark.parametrize("written", ["ink", "soft", "accent", "vector", "fts", "good", "warn", "bad"])
def test_what_is_written_stands_out_enough(written: str, ground: str) -> None:
    for ink, paper in zip(COLOURS[written], COLOURS[ground], strict=True):
        darker, lighter = sorted((luminance(ink), luminance(paper)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, f"{ink} on {paper}: WCAG 2, level AA"
