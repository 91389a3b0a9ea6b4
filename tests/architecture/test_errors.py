"""The error tree drawn at the top of service.errors is the tree of its classes."""

from __future__ import annotations

import re

from service import errors
from service.errors import FuziError
from tests.architecture import error_tree


def drawn() -> dict[str, tuple[str | None, int | None]]:
    """Class name → (name of the class it is drawn below, status written on its line)."""
    lines = (errors.__doc__ or "").splitlines()
    found: dict[str, tuple[str | None, int | None]] = {}
    above: list[tuple[int, str]] = []
    for line in lines[lines.index("FuziError") :]:
        branch = re.match(r"([│├└─ ]*)([A-Z]\w+(?: [·/] [A-Z]\w+)*)(?: +(\d{3}))?", line)
        if branch is None:
            continue
        depth, names, status = len(branch[1]), re.split(r" [·/] ", branch[2]), branch[3]
        above = [entry for entry in above if entry[0] < depth]
        for name in names:
            assert name not in found, f"{name} is drawn twice"
            found[name] = (above[-1][1] if above else None, int(status) if status else None)
        above.append((depth, names[0]))
    return found


def test_every_error_is_drawn_below_its_parent() -> None:
    classes = {error.__name__: None if error is FuziError else error.__bases__[0].__name__ for error in error_tree()}
    assert {name: parent for name, (parent, _status) in drawn().items()} == classes


def test_statuses_in_the_drawing_are_those_of_the_classes() -> None:
    statuses = {error.__name__: error.http_status for error in error_tree()}
    written = {name: status for name, (_parent, status) in drawn().items() if status is not None}
    assert len(written) > 5
    assert not {name: status for name, status in written.items() if statuses[name] != status}


def test_every_error_has_a_code_of_its_own_and_a_description() -> None:
    codes = [error.code for error in error_tree()]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)
    assert not [error.__name__ for error in error_tree() if not (error.__doc__ or "").strip()]
