"""Requests made up from the OpenAPI document: with a key, without one, and where none is needed.

The examples are the same in every run. Whatever is sent, no answer is a failure of the service, and every one has the
status, the type and the shape that the document gives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import SkipTest

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from service.config import Settings
from service.db.engine import create_engine
from service.flows.keys import KeyParts, create_key
from service.types import AccessScope
from tests.api.conftest import api_settings
from tests.api.live import live_server
from tests.architecture import error_tree
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance]
STATUS_OF_CODE = {error.code: error.http_status for error in error_tree()}
EXAMPLES = 6


@pytest.fixture(scope="module")
def keyed_settings(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with databases.fresh() as database:
        yield api_settings(database, Path(tmp_path_factory.mktemp("operations")))


def _with_keys(settings: Settings, required: bool | None) -> Settings:
    return settings.model_copy(
        update={"server": settings.server.model_copy(update={"require_keys": required, "port": 0})}
    )


async def _admin_key(settings: Settings) -> str:
    assert settings.database.url is not None
    engine = create_engine(settings.database.url.get_secret_value(), settings.database, settings.search)
    try:
        return (await create_key(KeyParts(engine), "admin", [AccessScope.ADMIN])).key
    finally:
        await engine.dispose()


def _sweep(url: str, document: Mapping[str, object], headers: Mapping[str, str]) -> dict[str, set[int]]:
    """Ask every operation with what its schema allows and with what it does not; the statuses that came."""
    came: dict[str, set[int]] = {}
    failures = []
    for found in schemathesis.openapi.from_dict(dict(document)).get_all_operations():
        operation = found.ok()
        for mode in schemathesis.GenerationMode:
            try:
                _ask(operation, mode, url, headers, came.setdefault(operation.label, set()))
            except (SkipTest, Unsatisfiable):
                continue  # an operation without parameters cannot be asked wrongly
            except (Exception, BaseExceptionGroup) as failure:
                failures.append(f"{operation.label}, {mode.value}: {_told(failure)}")
    assert not failures, "\n\n".join(failures)
    return came


def _told(failure: BaseException) -> str:
    inner = getattr(failure, "exceptions", ())
    return "\n".join(map(_told, inner)) if inner else f"{type(failure).__name__}: {failure}"


def _ask(
    operation: schemathesis.APIOperation,
    mode: schemathesis.GenerationMode,
    url: str,
    headers: Mapping[str, str],
    came: set[int],
) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def asked(case: schemathesis.Case) -> None:
        response = case.call(base_url=url, headers=dict(headers), timeout=60)
        came.add(response.status_code)
        is_stream = "text/event-stream" in response.headers.get("content-type", [""])[0]
        # the schema of a stream is that it is text, which the check takes for that of each event
        case.validate_response(response, checks=CHECKS if is_stream else [*CHECKS, response_schema_conformance])
        if response.status_code >= 400 and operation.path != "/readyz":
            code = response.json()["error"]["code"] if case.method != "HEAD" else None
            assert code is None or STATUS_OF_CODE[code] == response.status_code

    asked()


def _document(url: str, headers: Mapping[str, str]) -> dict[str, object]:
    """The description without the keys that operations want: none are made up, what is sent is this test's business."""
    document = dict(httpx.get(f"{url}/openapi.json", headers=headers, timeout=60).json())
    del document["components"]["securitySchemes"]
    for path in document["paths"].values():
        for operation in path.values():
            operation.pop("security", None)
    return document


def test_where_no_key_is_needed_every_operation_keeps_its_word(keyed_settings: Settings) -> None:
    with live_server(_with_keys(keyed_settings, required=False), HashEmbedder(384)) as url:
        came = _sweep(url, _document(url, {}), {})
    assert len(came) > 20
    assert not {401, 403} & set().union(*came.values())
    assert {200, 404, 422} <= set().union(*came.values())


async def test_with_a_key_it_does_too_and_without_one_says_so(keyed_settings: Settings) -> None:
    headers = {"Authorization": f"Bearer {await _admin_key(keyed_settings)}"}
    with live_server(_with_keys(keyed_settings, required=None), HashEmbedder(384)) as url:
        document = _document(url, headers)
        with_key = _sweep(url, document, headers)
        without = _sweep(url, document, {})
    assert not {401, 403} & set().union(*with_key.values())
    public = {"GET /healthz", "GET /readyz"}
    assert {label: statuses for label, statuses in without.items() if label not in public} == {
        label: {401} for label in without if label not in public
    }
