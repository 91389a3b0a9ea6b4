"""Memory settings grow with the machine, within bounds; a small /dev/shm is not relied upon."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.db.embedded.tuning import configuration_text, machine_memory, server_settings, shared_memory_size

MB = 1024 * 1024
GB = 1024 * MB


def megabytes(settings: dict[str, str], name: str) -> int:
    return int(settings[name].removesuffix("MB"))


@given(st.integers(min_value=256 * MB, max_value=4096 * GB))
def test_server_leaves_most_of_the_memory_to_others(memory: int) -> None:
    settings = server_settings(memory, None)
    buffers = megabytes(settings, "shared_buffers")
    maintenance = megabytes(settings, "maintenance_work_mem")
    assert 64 <= buffers <= 4096
    assert 64 <= maintenance <= 2048
    assert (buffers + maintenance) * MB <= memory // 2


@given(st.integers(min_value=256 * MB, max_value=1024 * GB), st.integers(min_value=0, max_value=1024 * GB))
def test_more_memory_never_gives_less(memory: int, more: int) -> None:
    small, large = server_settings(memory, None), server_settings(memory + more, None)
    for name in ("shared_buffers", "effective_cache_size", "work_mem", "maintenance_work_mem", "autovacuum_work_mem"):
        assert megabytes(small, name) <= megabytes(large, name)


def test_shared_memory_of_a_container_is_too_small_for_an_index_build() -> None:
    assert server_settings(8 * GB, 64 * MB)["dynamic_shared_memory_type"] == "sysv"
    assert "dynamic_shared_memory_type" not in server_settings(8 * GB, 4 * GB)
    assert "dynamic_shared_memory_type" not in server_settings(8 * GB, None)


def test_configuration_quotes_values() -> None:
    assert configuration_text({"a": "it's", "b": "1"}) == "a = 'it''s'\nb = '1'\n"


def test_this_machine_can_be_measured() -> None:
    assert machine_memory() > 256 * MB
    size = shared_memory_size()
    assert size is None or size > 0


def test_a_replica_can_be_fed_and_cannot_fill_the_disk() -> None:
    settings = server_settings(8 * GB, None)
    assert settings["wal_level"] == "logical"
    assert settings["max_slot_wal_keep_size"] == "8GB"
