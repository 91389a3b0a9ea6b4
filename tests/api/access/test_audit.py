"""Who changed what is written down, and so is who tried."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import structlog

from tests.api.access.conftest import OPEN, Keyed


def rows(keyed: Keyed, request_id: str) -> list[tuple[object, ...]]:
    url = keyed.api.settings.database.url
    assert url is not None
    with psycopg.connect(url.get_secret_value()) as connection:
        return connection.execute(
            "select key_name, action, target, outcome, status from rag.audit_log where request_id = %s", [request_id]
        ).fetchall()


async def test_a_change_is_noted_with_who_made_it_and_what_it_made(keyed: Keyed) -> None:
    uploaded = await keyed.tenant_write.post(
        "/v1/documents?wait=true", files={"file": ("新.md", "新规定。".encode())}, data={"collection": OPEN}
    )
    target = f"/v1/documents/{uploaded.json()['document_id']}"
    noted = rows(keyed, uploaded.headers["X-Request-ID"])
    assert noted == [("tenant_write", "POST /v1/documents", target, "done", 201)]
    deleted = await keyed.write.delete(target)
    noted = rows(keyed, deleted.headers["X-Request-ID"])
    assert noted == [("write", "DELETE /v1/documents/{document_id}", target, "done", 204)]


async def test_a_refusal_is_noted_and_looking_is_not(keyed: Keyed) -> None:
    target = f"/v1/documents/{uuid4()}"
    refused = await keyed.read.delete(target)
    action = "DELETE /v1/documents/{document_id}"
    assert rows(keyed, refused.headers["X-Request-ID"]) == [("read", action, target, "refused", 403)]
    absent = await keyed.write.delete(target)
    assert rows(keyed, absent.headers["X-Request-ID"]) == [("write", action, target, "refused", 404)]
    for looked in (
        await keyed.admin.get("/v1/keys"),
        await keyed.read.post("/v1/search", json={"query": "住宿"}),
        await keyed.nobody.delete(target),
    ):
        assert rows(keyed, looked.headers["X-Request-ID"]) == []


async def test_the_log_of_requests_names_the_key(keyed: Keyed) -> None:
    with structlog.testing.capture_logs() as logs:
        await keyed.tenant_read.get("/v1/collections")
        await keyed.nobody.get("/healthz")
    named = [line.get("key") for line in logs if line["event"] == "request"]
    assert named == ["tenant_read", None]
    assert keyed.keys["tenant_read"] not in str(logs)


async def test_made_and_revoked_keys_are_noted_without_the_key(keyed: Keyed) -> None:
    made = await keyed.admin.post("/v1/keys", json={"name": "短命"})
    location = made.headers["location"]
    assert rows(keyed, made.headers["X-Request-ID"]) == [("admin", "POST /v1/keys", location, "done", 201)]
    revoked = await keyed.admin.post(f"{location}/revoke")
    assert rows(keyed, revoked.headers["X-Request-ID"])[0][1] == "POST /v1/keys/{key_id}/revoke"
