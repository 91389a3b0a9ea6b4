"""The filter grammar refuses what it does not know, and says where."""

import pytest

from service.db.models import Document
from service.errors import InvalidFilter
from service.retrieve.filters import compile_filter


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        ({"year": {"$above": 1}}, "filters.metadata.year"),
        ({"$nor": []}, "filters.metadata.$nor"),
        ({"$or": []}, "filters.metadata.$or"),
        ({"$and": {"a": 1}}, "filters.metadata.$and"),
        ({"a": {}}, "filters.metadata.a"),
        ({"a": {"b": 1}}, "filters.metadata.a"),
        ({"a": {"$in": 3}}, "filters.metadata.a.$in"),
        ({"a": {"$gt": True}}, "filters.metadata.a.$gt"),
        ({"a": {"$gt": [1]}}, "filters.metadata.a.$gt"),
        ({"a": {"$exists": 1}}, "filters.metadata.a.$exists"),
        ({"a": float("nan")}, "filters.metadata.a"),
        ({"a": 10**400}, "filters.metadata.a"),
        ({"a\0": 1}, "filters.metadata.a\0"),
        ({"a": "\ud800"}, "filters.metadata.a"),
        ({"a..b": 1}, "filters.metadata.a..b"),
    ],
)
def test_bad_filters_name_their_place(expression: dict[str, object], place: str) -> None:
    with pytest.raises(InvalidFilter, match=place.replace("$", r"\$").replace("[", r"\[")):
        compile_filter(expression, Document.metadata_)


def test_endless_nesting_is_refused() -> None:
    expression: dict[str, object] = {"a": 1}
    for _ in range(50):
        expression = {"$not": expression}
    with pytest.raises(InvalidFilter, match="deeper"):
        compile_filter(expression, Document.metadata_)


def test_values_are_parameters_never_sql() -> None:
    condition = str(compile_filter({"dept' OR '1'='1": "a'); DROP TABLE documents;--"}, Document.metadata_))
    assert "DROP" not in condition
    assert "OR" not in condition
