"""Every reason to leave a replica alone is found, and has words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.db.models import BM25_INDEXES
from service.db.replica.copied import ReplicaFacts
from service.db.replica.primary import PrimaryFacts
from service.db.replica.verdict import REASONS, REMADE, ReplicaState, bytes_behind, lag_reason, standing
from service.types import EmbeddingModel

MODEL = EmbeddingModel("local", "e5", 384)
PRIMARY = PrimaryFacts(1000, "0008", MODEL, "vector", 900, "reserved", 100)
REPLICA = ReplicaFacts("fuzi_replica_1", True, "0008", MODEL, frozenset(BM25_INDEXES), True, True, 0, 0)


def test_a_replica_that_is_well() -> None:
    assert standing(PRIMARY, REPLICA) is None
    assert bytes_behind(PRIMARY) == 100
    assert ReplicaState(None).is_used


@pytest.mark.parametrize(
    ("reason", "primary", "replica"),
    [
        ("not_made", PRIMARY, None),
        ("schema_differs", replace(PRIMARY, revision="0009"), REPLICA),
        ("model_differs", replace(PRIMARY, model=EmbeddingModel("local", "e6", 384)), REPLICA),
        ("slot_missing", replace(PRIMARY, wal_status=None, applied=None), REPLICA),
        ("slot_lost", replace(PRIMARY, wal_status="lost"), REPLICA),
        ("not_subscribed", PRIMARY, replace(REPLICA, is_subscribed=False)),
        ("not_subscribed", PRIMARY, replace(REPLICA, enabled=False)),
        ("copying", PRIMARY, replace(REPLICA, is_ready=False)),
        ("copying", PRIMARY, replace(REPLICA, copying=1)),
        ("bm25_rebuilding", PRIMARY, replace(REPLICA, whole=frozenset(BM25_INDEXES[:1]))),
    ],
)
def test_one_that_is_not(reason: str, primary: PrimaryFacts, replica: ReplicaFacts | None) -> None:
    assert standing(primary, replica) == reason
    assert ReplicaState(reason).message == REASONS[reason]


def test_lag() -> None:
    assert lag_reason(None, 30) == "catching_up"
    assert lag_reason(30, 30) is None
    assert lag_reason(30.1, 30) == "behind"


def test_advice_is_of_known_reasons() -> None:
    assert set(REASONS) >= REMADE
    assert all("fuzi replica init" in REASONS[reason] for reason in REMADE)
