"""Many searches in one request, in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, create_model

from service.api.edge.error_handlers import invalid_request, json_safe
from service.api.schemas import Answer, Asked
from service.api.search.answer import SearchAnswer, search_answer
from service.api.search.request import SearchBody
from service.config import SearchSettings
from service.errors import FuziError, InvalidRequest
from service.types import SearchRequest, SearchResult

_QUERY_SCHEMA = {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/SearchBody"}]}
# Each query is checked by itself, later: a mistake in one must not refuse the others.
type Query = Annotated[Any, Field(json_schema_extra=_QUERY_SCHEMA)]


class BatchBody(Asked):
    """Queries with what they have in common; a query's own fields come before ``defaults``, field by field."""

    model_config = ConfigDict(
        str_max_length=None,
        json_schema_extra={
            "examples": [
                {
                    "queries": ["出差住宿费的上限是多少？", {"query": "ZX-4410", "vector_weight": 0}],
                    "defaults": {"top_n": 3},
                }
            ]
        },
    )

    queries: list[Query]
    defaults: dict[str, Any] = Field({}, description="fields of `POST /v1/search`, `query` excepted, for every query")


def bounded_batch_body(settings: SearchSettings) -> type[BatchBody]:
    """`BatchBody` with the bound of these settings."""
    queries = Field(
        min_length=1,
        max_length=settings.max_batch_queries,
        description="each a text, or an object with the fields of `POST /v1/search`",
    )
    return create_model("BatchBody", __base__=BatchBody, __doc__=BatchBody.__doc__, queries=(list[Query], queries))


def to_requests(
    body: BatchBody, body_type: type[SearchBody], settings: SearchSettings, within: Sequence[str] | None = None
) -> list[SearchRequest | FuziError]:
    """Return the flow's own form of each query, or the error that it alone has.

    Args:
        within: the collections that may be seen; None is all.

    Raises:
        InvalidRequest: the defaults are no fields of a search, or not in their bounds.
    """
    if "query" in body.defaults:
        raise InvalidRequest("defaults.query: every query has its own")
    try:
        body_type.model_validate({**body.defaults, "query": "-"})
    except ValidationError as error:
        raise _invalid(error, "defaults") from None
    asked = [_to_request(query, body.defaults, body_type, settings) for query in body.queries]
    return [replace(one, within=within) if isinstance(one, SearchRequest) else one for one in asked]


def _to_request(
    query: Any, defaults: dict[str, Any], body_type: type[SearchBody], settings: SearchSettings
) -> SearchRequest | FuziError:
    own = {"query": query} if isinstance(query, str) else query
    if not isinstance(own, dict):
        return InvalidRequest("a query is a text, or an object with the fields of POST /v1/search")
    try:
        return body_type.model_validate({**defaults, **own}).to_request(settings)
    except ValidationError as error:
        return _invalid(error)
    except FuziError as error:
        return error


def _invalid(error: ValidationError, *place: str) -> InvalidRequest:
    problems = [{**problem, "loc": ("body", *place, *problem["loc"])} for problem in error.errors()]
    return invalid_request(problems, "application/json")


class QueryError(Answer):
    """Why one query has no answer: the fields of every error."""

    code: str
    message: str
    retryable: bool
    details: dict[str, Any]


class BatchOutcome(Answer):
    """What became of one query: an ``answer`` or an ``error``."""

    answer: SearchAnswer | None
    error: QueryError | None


class BatchAnswer(Answer):
    """One outcome per query, in the order of the queries."""

    outcomes: list[BatchOutcome]


def batch_answer(outcomes: Sequence[SearchResult | FuziError]) -> BatchAnswer:
    """Return the JSON form of a batch's outcomes."""
    return BatchAnswer(outcomes=[_outcome(outcome) for outcome in outcomes])


def _outcome(outcome: SearchResult | FuziError) -> BatchOutcome:
    if isinstance(outcome, SearchResult):
        return BatchOutcome(answer=search_answer(outcome), error=None)
    error = QueryError(
        code=outcome.code,
        message=json_safe(outcome.message),
        retryable=outcome.retryable,
        details=json_safe(dict(outcome.details)),
    )
    return BatchOutcome(answer=None, error=error)
