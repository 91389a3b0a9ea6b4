"""The life of a key: the first one closes the service, others are made, rotated, revoked, and expire."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pytest
import structlog

from service.flows.keys import KeyParts, create_key, revoke_key
from service.types import AccessScope
from tests.api.access.conftest import client_of
from tests.api.conftest import Api, problem


def _dsn(api: Api) -> str:
    url = api.settings.database.url
    assert url is not None
    return url.get_secret_value()


async def _with_key(api: Api, key: str, path: str = "/v1/documents") -> httpx.Response:
    return await api.http.get(path, headers={"X-API-Key": key})


async def _made(api: Api, key: str | None = None, **body: Any) -> dict[str, Any]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    response = await api.http.post("/v1/keys", json=body, headers=headers)
    assert response.status_code == 201, response.text
    return dict(response.json())


async def test_the_first_key_closes_the_service_and_is_never_shown_again(api: Api) -> None:
    assert (await api.http.get("/v1/documents")).status_code == 200
    first = await _made(api, name="operator", scopes=["admin"])
    key = first.pop("key")
    assert (await api.http.get("/v1/documents")).status_code == 401
    async with client_of(api, key) as client:
        assert (await client.get("/v1/documents")).status_code == 200
        listed = (await client.get("/v1/keys")).json()["keys"]
        assert listed == [first]
        taken = await client.post("/v1/keys", json={"name": "operator"})
        assert (taken.status_code, problem(taken)["code"]) == (409, "key_name_taken")
    assert key.startswith(first["prefix"])
    with psycopg.connect(_dsn(api)) as connection:
        stored = str(connection.execute("select * from rag.api_key").fetchall())
        assert key not in stored
        assert key[len(first["prefix"]) :] not in stored


async def test_rotation_leaves_time_to_change_and_revoking_does_not(api: Api) -> None:
    admin = (await _made(api, name="operator", scopes=["admin"]))["key"]
    old = await _made(api, admin, name="crawler", scopes=["write"], collections=["手册"], expires_in_days=30)
    async with client_of(api, admin) as client:
        answer = await client.post(f"/v1/keys/{old['id']}/rotate", params={"grace_hours": 1})
        new = answer.json()
        assert {new[name] == old[name] for name in ("name", "scopes", "collections")} == {True}
        assert new["key"] != old["key"]
        assert [(await _with_key(api, key)).status_code for key in (old["key"], new["key"])] == [200, 200]
        twice = await client.post(f"/v1/keys/{old['id']}/rotate")
        assert (twice.status_code, problem(twice)["code"]) == (409, "wrong_key_state")
        assert (await client.post(f"/v1/keys/{old['id']}/revoke")).json()["revoked_at"] is not None
        assert [(await _with_key(api, key)).status_code for key in (old["key"], new["key"])] == [401, 200]
        again = await client.post(f"/v1/keys/{old['id']}/revoke")
        assert again.status_code == 200
    response = await _with_key(api, old["key"])
    assert problem(response)["code"] == "key_invalid"
    assert response.headers["www-authenticate"] == 'Bearer realm="fuzi", error="invalid_token"'


async def test_a_service_whose_last_key_was_revoked_stays_closed(api: Api) -> None:
    made = await create_key(KeyParts(api.services.engine), "only", [AccessScope.ADMIN])
    await revoke_key(KeyParts(api.services.engine), "only")
    api.app.state.gate.keyring.forget()
    assert (await api.http.get("/v1/documents")).status_code == 401
    assert (await _with_key(api, made.key)).status_code == 401


async def test_a_key_that_another_process_made_is_known_and_an_expired_one_is_not(api: Api) -> None:
    parts = KeyParts(api.services.engine)
    await create_key(parts, "operator", [AccessScope.ADMIN])
    api.app.state.gate.keyring.forget()
    assert (await api.http.get("/v1/documents")).status_code == 401
    async with api.services.engine.connect():
        made = await create_key(parts, "short", [AccessScope.READ], lifetime=timedelta(days=1))
    for _ in range(20):
        response = await _with_key(api, made.key)
        if response.status_code == 200:
            break
    with psycopg.connect(_dsn(api)) as connection:
        connection.execute("update rag.api_key set expires_at = now() - interval '1 second' where name = 'short'")
    api.app.state.gate.keyring.forget()
    assert (await _with_key(api, made.key)).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer fuzi_"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic ZnV6aTpmdXpp"},
        {"Authorization": "Bearer " + "fuzi_" + "A" * 43},
        {"Authorization": "Bearer fuzi_" + "A" * 100_000},
        {"X-API-Key": "'; drop table rag.api_key; --"},
        {"X-API-Key": "fuzi_密钥"},
        {"Authorization": "Basic eA==", "X-API-Key": "valid"},
    ],
)
async def test_what_is_no_valid_key_is_refused_and_repeated_nowhere(api: Api, headers: dict[str, str]) -> None:
    made = await create_key(KeyParts(api.services.engine), "operator", [AccessScope.ADMIN])
    api.app.state.gate.keyring.forget()
    sent = [(name, (made.key if value == "valid" else value).encode()) for name, value in headers.items()]
    with structlog.testing.capture_logs() as logs:
        response = await api.http.get("/v1/documents", headers=[(name.encode(), value) for name, value in sent])
    assert (response.status_code, problem(response)["code"]) == (401, "key_invalid")
    for _, value in sent:
        secret = value.decode().removeprefix("Bearer ").removeprefix("Basic ")
        assert len(secret) < 8 or secret not in response.text + str(logs)


@pytest.mark.parametrize(
    "body",
    [
        {"name": " "},
        {"name": "x" * 101},
        {"name": "two\nlines"},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["root"]},
        {"name": "x", "collections": []},
        {"name": "x", "collections": [""]},
        {"name": "x", "expires_in_days": 0},
        {"name": "x", "key": "mine"},
    ],
)
async def test_a_wrong_body_makes_no_key(refusing_api: Api, body: dict[str, Any]) -> None:
    response = await refusing_api.http.post("/v1/keys", json=body)
    assert response.status_code == 422
    assert (await refusing_api.http.get("/v1/keys")).json() == {"keys": []}
