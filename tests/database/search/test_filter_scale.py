"""A filter of 0.2 % among thousands of chunks finds what brute force finds, in both legs, and enough of it."""

from __future__ import annotations

from tests.benchmarks.filter_benchmark import RARE, Looked, fill, scope_of
from tests.database.chunk_rows import Connection


async def test_a_rare_filter_finds_what_brute_force_finds(database: str, connection: Connection) -> None:
    stored = fill(connection, 5_000)
    scope, _ = await scope_of(database, RARE)
    looked = Looked(connection, stored, RARE, scope)
    assert len(looked.eligible) == 10
    for number in range(5):
        looked.ask(number)
    assert looked.recalls == [1] * 5
