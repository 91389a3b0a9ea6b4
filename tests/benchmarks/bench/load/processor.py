"""Processor time of a process and of all below it."""

from __future__ import annotations

import psutil


def processor_seconds(pid: int) -> float:
    """User and system time of the process and of its descendants that still run."""
    root, seconds = psutil.Process(pid), 0.0
    for process in (root, *root.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        seconds += times.user + times.system
    return seconds
