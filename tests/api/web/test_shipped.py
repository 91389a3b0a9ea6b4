"""The wheel has all that the console shows."""

from __future__ import annotations

from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

import service

ROOT = Path(service.__file__).resolve().parents[1]


def test_templates_and_static_files_are_in_the_wheel() -> None:
    shipped = {Path(file.path).resolve() for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    wanted = [path for name in ("templates", "static") for path in (ROOT / "service/web" / name).rglob("*.*")]
    assert len(wanted) > 25
    assert not {path for path in wanted if path.is_file()} - shipped


def test_the_licence_of_what_others_wrote_is_beside_it() -> None:
    vendor = ROOT / "service/web/static/vendor"
    scripts = list(vendor.glob("*.js"))
    assert scripts
    for script in scripts:
        assert (vendor / f"{script.name.split('-')[0]}-LICENSE.txt").is_file()
