"""``fuzi demo``: see it work."""

from __future__ import annotations

from service.cli.options import JsonFlag
from service.cli.output import reporting
from service.cli.settings import load_settings


def demo(as_json: JsonFlag = False) -> None:
    """Take in eight Chinese documents and answer three questions, all on this machine.

    Examples:
      fuzi demo
    """
    with reporting(as_json):
        load_settings()
