"""How many cores this process may really use."""

from __future__ import annotations

import math
import os
from pathlib import Path

_CGROUP_LIMIT = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(cgroup_limit: Path = _CGROUP_LIMIT) -> int:
    """Cores by affinity, lowered to a container's CPU limit: threads beyond it only throttle one another.

    Args:
        cgroup_limit: file with quota and period in microseconds, or ``max`` for no quota; need not exist.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = cgroup_limit.read_text(encoding="ascii").split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):
        return cores
