"""Configuration of the embedded server by the size of the machine it shares with everything else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psutil

_MB = 1024 * 1024
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - asked for its size only


def machine_memory() -> int:
    """Bytes of memory this process may use: the machine's, or less inside a container with a limit."""
    memory = int(psutil.virtual_memory().total)
    for file in _CGROUP_LIMITS:
        try:
            memory = min(memory, int(file.read_text()))
        except (OSError, ValueError):  # no such cgroup version, or "max"
            continue
    return memory


def shared_memory_size() -> int | None:
    """Bytes of ``/dev/shm`` (64 MB in a Docker container); ``None`` where there is none."""
    try:
        return int(psutil.disk_usage(str(_SHARED_MEMORY)).total)
    except OSError:
        return None


def server_settings(memory: int, shared_memory: int | None) -> dict[str, str]:
    """Settings for a machine with ``memory`` bytes and ``shared_memory`` bytes of ``/dev/shm``.

    The embedding model, the parser processes and the page cache live on the same machine, so the server takes an
    eighth of it, not the quarter of a dedicated one.
    """
    maintenance = _clamp(memory // 16, 64 * _MB, 2048 * _MB)
    settings = {
        "shared_buffers": _megabytes(_clamp(memory // 8, 64 * _MB, 4096 * _MB)),
        "effective_cache_size": _megabytes(memory // 2),
        "work_mem": _megabytes(_clamp(memory // 256, 8 * _MB, 64 * _MB)),
        # An HNSW build that does not fit falls back to a many times slower one.
        "maintenance_work_mem": _megabytes(maintenance),
        # One vacuum worker must not take what one index build may.
        "autovacuum_work_mem": _megabytes(_clamp(memory // 64, 32 * _MB, 256 * _MB)),
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "wal_compression": "on",
        # What a replica needs. 3,000 chunks stored wrote 20.1 MB of log, with `replica` 20.0.
        "wal_level": "logical",
        # A replica that stays away must not fill the disk: beyond that its slot is lost, and it is copied anew.
        "max_slot_wal_keep_size": "8GB",
        "random_page_cost": "1.1",
        # Every parallel worker loads the jieba dictionary anew for every query: 147 ms against 9 ms.
        "max_parallel_workers_per_gather": "0",
        "jit": "off",
    }
    if shared_memory is not None and shared_memory < 2 * maintenance:
        # A parallel HNSW build keeps its graph in dynamic shared memory and fails when /dev/shm is small.
        settings["dynamic_shared_memory_type"] = "sysv"
    return settings


def configuration_text(settings: Mapping[str, str]) -> str:
    """``settings`` in the syntax of ``postgresql.conf``."""
    quoted = {name: value.replace("'", "''") for name, value in settings.items()}
    return "".join(f"{name} = '{value}'\n" for name, value in quoted.items())


def _clamp(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


def _megabytes(size: int) -> str:
    return f"{size // _MB}MB"
