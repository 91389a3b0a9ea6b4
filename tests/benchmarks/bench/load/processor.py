"""Processor time of a process and of all below it."""

from __future__ import annotations

import psutil


def processor_seconds(*pids: int) -> float:
    """User and system time of these processes and of their descendants, also of those that have ended.

    Those that ended count where the system says so (Linux): PostgreSQL's server knows it of its closed connections.
    """
    seconds = 0.0
    for pid in pids:
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            seconds += times.user + times.system + times.children_user + times.children_system
    return seconds
