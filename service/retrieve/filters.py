"""Filter grammar over document metadata, compiled to a typed SQL condition.

``{"department": "法务", "year": {"$gte": 2020}, "$or": [{"tags": {"$contains": "合同"}}, …]}``

A key names a top-level field; dots step into nested objects. Operators: ``$eq $ne $gt $gte $lt $lte $in $nin
$exists $contains``; ``$and $or`` take lists, ``$not`` a filter. Values are compared with their JSON type: the
number 9 is less than 10, and never equal to the text "9". A missing field satisfies only ``$ne``, ``$nin`` and
``$exists: false``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, and_, cast, false, func, literal, not_, or_, true
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.types import Text

from service.errors import InvalidFilter

DEEPEST = 8
MOST_CONDITIONS = 100
MOST_VALUES = 1000

type Condition = ColumnElement[bool]
type JsonColumn = ColumnElement[Any] | InstrumentedAttribute[Any]


def compile_filter(expression: Mapping[str, Any], metadata: JsonColumn) -> Condition:
    """Compile a metadata filter to a condition on the jsonb column ``metadata``.

    Raises:
        InvalidFilter: the filter does not follow the grammar; the message names the place.
    """
    compiler = _Compiler(metadata)
    return compiler.filter(expression, depth=0, place="filters.metadata")


class _Compiler:
    def __init__(self, metadata: JsonColumn) -> None:
        self._metadata = metadata
        self._count = 0

    def filter(self, expression: Any, depth: int, place: str) -> Condition:
        if not isinstance(expression, Mapping):
            raise InvalidFilter(f"{place} must be an object of conditions")
        if depth > DEEPEST:
            raise InvalidFilter(f"{place} is nested deeper than {DEEPEST}")
        return and_(true(), *(self._entry(key, value, depth, f"{place}.{key}") for key, value in expression.items()))

    def _entry(self, key: str, value: Any, depth: int, place: str) -> Condition:
        self._count += 1
        if self._count > MOST_CONDITIONS:
            raise InvalidFilter(f"the filter has more than {MOST_CONDITIONS} conditions")
        if key in {"$and", "$or"}:
            if not isinstance(value, list) or not value:
                raise InvalidFilter(f"{place} must be a list of filters, not empty")
            parts = [self.filter(item, depth + 1, f"{place}[{i}]") for i, item in enumerate(value)]
            return and_(*parts) if key == "$and" else or_(*parts)
        if key == "$not":
            return not_(self.filter(value, depth + 1, place))
        if key.startswith("$"):
            raise InvalidFilter(f"{place}: unknown operator; at this place stand a field, $and, $or or $not")
        return self._field(key, value, place)

    def _field(self, key: str, value: Any, place: str) -> Condition:
        path = _storable(key, place).split(".")
        if not all(path):
            raise InvalidFilter(f"{place}: a field name must not be empty")
        if not isinstance(value, Mapping):
            return self._equal(path, value, place)
        if not value or not all(name.startswith("$") for name in value):
            raise InvalidFilter(f'{place}: expected operators such as {{"$gte": 2020}}; use dots for nested fields')
        conditions = []
        for name, operand in value.items():
            operator = _OPERATORS.get(name)
            if operator is None:
                raise InvalidFilter(f"{place}: unknown operator {name}; known are {', '.join(sorted(_OPERATORS))}")
            conditions.append(operator(self, path, operand, f"{place}.{name}"))
        return and_(*conditions)

    def _value(self, path: list[str]) -> ColumnElement[Any]:
        return self._metadata.op("#>", return_type=JSONB)(cast(path, ARRAY(Text)))

    def _equal(self, path: list[str], value: Any, place: str) -> Condition:
        checked = _operand(value, place)
        if isinstance(checked, list):
            return func.coalesce(self._value(path) == literal(checked, JSONB), false())
        # Containment of a scalar means equality here, and the GIN index on metadata serves it.
        nested: Any = checked
        for name in reversed(path):
            nested = {name: nested}
        return self._metadata.op("@>", is_comparison=True)(literal(nested, JSONB))

    def _not_equal(self, path: list[str], value: Any, place: str) -> Condition:
        return not_(self._equal(path, value, place))

    def _in(self, path: list[str], values: Any, place: str) -> Condition:
        if not isinstance(values, list) or len(values) > MOST_VALUES:
            raise InvalidFilter(f"{place} must be a list of at most {MOST_VALUES} values")
        return or_(false(), *(self._equal(path, value, place) for value in values))

    def _not_in(self, path: list[str], values: Any, place: str) -> Condition:
        return not_(self._in(path, values, place))

    def _exists(self, path: list[str], value: Any, place: str) -> Condition:
        if not isinstance(value, bool):
            raise InvalidFilter(f"{place} must be true or false")
        present = self._value(path).is_not(None)
        return present if value else not_(present)

    def _contains(self, path: list[str], value: Any, place: str) -> Condition:
        found = self._value(path).op("@>", is_comparison=True)(literal([_operand(value, place)], JSONB))
        return func.coalesce(and_(func.jsonb_typeof(self._value(path)) == "array", found), false())

    def _ordered(self, path: list[str], value: Any, place: str, symbol: str) -> Condition:
        checked = _operand(value, place)
        if isinstance(checked, bool) or not isinstance(checked, int | float | str):
            raise InvalidFilter(f"{place} needs a number or a text")
        kind = "string" if isinstance(checked, str) else "number"
        compared = self._value(path).op(symbol, is_comparison=True)(literal(checked, JSONB))
        return func.coalesce(and_(func.jsonb_typeof(self._value(path)) == kind, compared), false())


type _Operator = Callable[[_Compiler, list[str], Any, str], Condition]


def _ordering(symbol: str) -> _Operator:
    return lambda compiler, path, value, place: compiler._ordered(path, value, place, symbol)


_OPERATORS: dict[str, _Operator] = {
    "$eq": _Compiler._equal,
    "$ne": _Compiler._not_equal,
    "$gt": _ordering(">"),
    "$gte": _ordering(">="),
    "$lt": _ordering("<"),
    "$lte": _ordering("<="),
    "$in": _Compiler._in,
    "$nin": _Compiler._not_in,
    "$exists": _Compiler._exists,
    "$contains": _Compiler._contains,
}


def _operand(value: Any, place: str) -> Any:
    match value:
        case str():
            return _storable(value, place)
        case bool() | None:
            return value
        case int() | float():
            try:
                finite = math.isfinite(value)
            except OverflowError:
                finite = False
            if not finite:
                raise InvalidFilter(f"{place} holds a number that is not finite or beyond double precision")
            return value
        case list() if len(value) <= MOST_VALUES:
            return [_operand(item, place) for item in value]
        case _:
            raise InvalidFilter(f"{place} must be a text, a number, true, false, null or a list of these")


def _storable(text: str, place: str) -> str:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidFilter(f"{place} holds a character that PostgreSQL cannot store")
    return text
