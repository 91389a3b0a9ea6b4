"""What an address or form says, as the REST service understands it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from service.api.edge.error_handlers import invalid_request


def validated[Model: BaseModel](kind: type[Model], values: Mapping[str, Any]) -> Model:
    """Return the values as a query or body of the REST service.

    Raises:
        InvalidRequest: one of them is not in its bounds; it is told as the REST service does.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        problems = [{**problem, "loc": ("query", *problem["loc"])} for problem in error.errors()]
        raise invalid_request(problems, "") from error
