"""What pydantic finds wrong, in words."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails


def first_problem(error: ValidationError) -> str:
    """The first problem of a validation; what was given is not repeated."""
    return problem_told(error.errors(include_url=False, include_input=False)[0])


def problem_told(problem: ErrorDetails) -> str:
    """A problem, after the name of its field if it has one."""
    place = ".".join(map(str, problem["loc"]))
    message = problem["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
