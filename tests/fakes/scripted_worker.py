"""A process that speaks the frames of the local model's worker and obeys its texts, to test what becomes of it.

Run by path with a log file as argument; it appends one line a start and one a text.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from pathlib import Path


def main(log: Path) -> None:
    def note(line: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    note("start")
    if log.with_suffix(".broken").exists():
        raise SystemExit(3)
    out = sys.stdout.buffer
    out.write(struct.pack("<II", 0, 0))
    out.flush()
    while header := sys.stdin.buffer.read(9):
        request, is_query, length = struct.unpack("<IBI", header)
        text = sys.stdin.buffer.read(length).decode()
        note(text)
        if text == "die":
            os._exit(9)
        if text == "die once" and log.read_text(encoding="utf-8").count(text) == 1:
            os._exit(9)
        if text == "hang":
            time.sleep(3600)
        if text == "slow":
            time.sleep(0.4)
        payload = struct.pack("<2f", len(text), is_query)
        out.write(struct.pack("<II", request, len(payload)) + payload)
        out.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
