"""A filtered search finds exactly what comparing everything finds, in both legs, for any filter of the grammar."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pgvector import Vector

from service.config import DatabaseSettings, SearchSettings
from service.db.engine import create_engine
from service.db.spaces import reading
from service.retrieve import look_around, resolve_scope
from service.types import DocumentFilter, SearchRequest
from tests.database.chunk_rows import Child, collection, document, random_vector, search_connection

_DOCUMENTS, _CANDIDATES = 60, 20
_VALUES: list[Any] = [0, 1, 2, 2.5, "0", "甲", "乙", True, None]
_FIELDS = ("a", "b", "deep.c")
_REQUEST = SearchRequest(query="报销", top_n=5, candidates=_CANDIDATES, vector_weight=70, fts_weight=30, rrf_k=60)


def _metadata(seed: int) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    made: dict[str, Any] = {name: _VALUES[draw.integers(len(_VALUES))] for name in "ab" if draw.random() < 0.8}
    if draw.random() < 0.8:
        made["deep"] = {"c": _VALUES[draw.integers(len(_VALUES))]}
    if draw.random() < 0.8:
        made["tags"] = [_VALUES[number] for number in draw.integers(len(_VALUES), size=draw.integers(4))]
    return made


_VALUE = st.sampled_from(_VALUES)
_ORDERED = st.sampled_from([0, 1, 2, 2.5, "0", "甲"])
_OPERATORS = st.one_of(
    st.fixed_dictionaries({}, optional={"$eq": _VALUE, "$ne": _VALUE, "$gte": _ORDERED, "$lt": _ORDERED}),
    st.fixed_dictionaries({}, optional={"$gt": _ORDERED, "$lte": _ORDERED, "$exists": st.booleans()}),
    st.fixed_dictionaries({}, optional={"$in": st.lists(_VALUE, max_size=3), "$nin": st.lists(_VALUE, max_size=3)}),
).filter(bool)
_FIELD = st.dictionaries(st.sampled_from(_FIELDS), _VALUE | _OPERATORS, max_size=2) | st.fixed_dictionaries(
    {"tags": st.fixed_dictionaries({"$contains": _VALUE})}
)
_FILTER = st.recursive(
    _FIELD,
    lambda inner: (
        st.fixed_dictionaries({"$not": inner})
        | st.sampled_from(["$and", "$or"]).flatmap(
            lambda name: st.fixed_dictionaries({name: st.lists(inner, min_size=1, max_size=3)})
        )
    ),
    max_leaves=5,
)
_MISSING = object()


def _same(left: Any, right: Any) -> bool:
    return left is not _MISSING and isinstance(left, bool) == isinstance(right, bool) and left == right


def _holds(expression: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    for key, value in expression.items():
        if key == "$not":
            held = not _holds(value, metadata)
        elif key in {"$and", "$or"}:
            held = (all if key == "$and" else any)(_holds(each, metadata) for each in value)
        else:
            found: Any = metadata
            for part in key.split("."):
                found = found.get(part, _MISSING) if isinstance(found, Mapping) else _MISSING
            conditions = value if isinstance(value, Mapping) else {"$eq": value}
            held = all(_satisfies(found, name, operand) for name, operand in conditions.items())
        if not held:
            return False
    return True


def _satisfies(found: Any, name: str, operand: Any) -> bool:
    match name:
        case "$eq" | "$ne":
            return _same(found, operand) == (name == "$eq")
        case "$in" | "$nin":
            return any(_same(found, each) for each in operand) == (name == "$in")
        case "$exists":
            return (found is not _MISSING) == operand
        case "$contains":
            return isinstance(found, list) and any(_same(each, operand) for each in found)
    if isinstance(operand, str) != isinstance(found, str) or not isinstance(found, str | int | float):
        return False
    if isinstance(found, bool):
        return False
    # PostgreSQL compares texts in its own order; 0 < 乙 < 甲 by code point, as the database of the tests does
    return {"$gt": found > operand, "$gte": found >= operand, "$lt": found < operand, "$lte": found <= operand}[name]


async def test_filtered_searches_are_those_of_brute_force(database: str) -> None:
    with search_connection(database) as writer:
        into = collection(writer, "all")
        metadata, vectors, ids, children = [], [], [], []
        for number in range(_DOCUMENTS):
            metadata.append(_metadata(number))
            vectors.append(random_vector(number))
            text = Child("报销制度。", vectors[-1])
            written = document(writer, into, f"{number}", [[text]], metadata=json.dumps(metadata[-1]))
            ids.append(written.document_id)
            children.append(written.child_ids[0][0])
        query = random_vector(999)
        distances = [1 - float(np.dot(vector, query)) for vector in vectors]
        loop = asyncio.get_running_loop()
        engine = create_engine(database, DatabaseSettings(), SearchSettings())

        async def scope_of(expression: Mapping[str, Any]) -> set[Any]:
            async with reading(engine) as connection:
                filters = DocumentFilter(metadata=expression)
                request = SearchRequest(**{**_fields(), "filters": filters})
                around = await look_around(connection, request)
                scope = await resolve_scope(connection, request, around)
                assert scope.eligible_chunks == len(scope.document_ids or [])  # one chunk each
                return set(scope.document_ids or [])

        @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
        @given(_FILTER)
        def compare(expression: dict[str, Any]) -> None:
            found = asyncio.run_coroutine_threadsafe(scope_of(expression), loop).result(60)
            eligible = [n for n in range(_DOCUMENTS) if _holds(expression, metadata[n])]
            assert found == {ids[number] for number in eligible}
            nearest = sorted(eligible, key=lambda n: (distances[n], children[n]))[:_CANDIDATES]
            rows = writer.execute(
                "select child_id from rag.vector_candidates(%s, %s, null, %s)",
                [Vector(query), _CANDIDATES, sorted(found)],
            )
            assert [row[0] for row in rows] == [children[number] for number in nearest]
            rows = writer.execute(
                "select child_id from rag.fts_candidates('报销', %s, null, %s)", [_CANDIDATES, sorted(found)]
            )
            assert [row[0] for row in rows] == sorted(children[number] for number in eligible)[:_CANDIDATES]

        try:
            await asyncio.to_thread(compare)
        finally:
            await engine.dispose()


def _fields() -> dict[str, Any]:
    return {name: getattr(_REQUEST, name) for name in _REQUEST.__slots__}
