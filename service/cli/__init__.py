"""The command ``fuzi``: parse, call a flow (here or on a running server), show the answer.

Standard output carries results only, progress and complaints go to standard error. Exit codes:
0 all well, 1 the work failed (or part of it), 2 the command line is wrong, 130 interrupted.
"""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line of this process."""
    from service.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character shows `?`; it never ends the command.
            stream.reconfigure(errors="replace")
    app(prog_name="fuzi")
