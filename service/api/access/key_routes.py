"""API keys over HTTP: list, make, rotate, revoke. For keys of scope admin that see all collections."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response, status
from pydantic import Field

from service.access import KeyRecord
from service.api.access.gate import gate_of
from service.api.access.scopes import ADMIN, Caller, require_all
from service.api.edge.dependencies import OpenServices
from service.api.schemas import Answer, Asked, Storable
from service.flows.keys import LONGEST_NAME, KeyParts, MadeKey, all_keys, create_key, revoke_key, rotate_key
from service.types import AccessScope


async def _sees_all(caller: Caller) -> None:
    """What a key may see it could give on to others, so who makes keys must see all."""
    require_all(caller)


router = APIRouter(prefix="/v1/keys", tags=["keys"], dependencies=[ADMIN, Depends(_sees_all)])

_MOST_DAYS = 3650


class KeyAnswer(Answer):
    """An API key without the key itself; ``collections`` null is all of them."""

    id: UUID
    name: str
    prefix: str = Field(description="first characters of the key")
    scopes: list[AccessScope]
    collections: list[str] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="to the minute")
    replaced_by: UUID | None = Field(description="the key that took its place in a rotation")


class KeyList(Answer):
    """All keys that were ever made, newest first."""

    keys: list[KeyAnswer]


class MadeKeyAnswer(KeyAnswer):
    """A key that was just made: ``key`` is shown now and never again."""

    key: str


class KeyBody(Asked):
    """A key to be made."""

    name: Storable = Field(min_length=1, max_length=LONGEST_NAME, description="whose it is")
    scopes: list[AccessScope] = Field(
        [AccessScope.READ], min_length=1, max_length=3, description="each includes those before it: read, write, admin"
    )
    collections: list[Annotated[Storable, Field(min_length=1, max_length=200)]] | None = Field(
        None, min_length=1, max_length=1000, description="those that it may see; left out, all, and those to come"
    )
    expires_in_days: int | None = Field(None, ge=1, le=_MOST_DAYS, description="left out, until it is revoked")


def key_answer(record: KeyRecord) -> KeyAnswer:
    """Return the JSON form of a key."""
    return KeyAnswer(**_values(record))


def made_key_answer(made: MadeKey) -> MadeKeyAnswer:
    """Return the JSON form of a key that was just made."""
    return MadeKeyAnswer(key=made.key, **_values(made.record))


def _values(record: KeyRecord) -> dict[str, object]:
    same = {name: getattr(record, name) for name in KeyAnswer.model_fields}
    scopes = [scope for scope in AccessScope if scope in record.scopes]
    return {**same, "scopes": scopes, "collections": None if record.collections is None else sorted(record.collections)}


@router.get("", summary="List API keys")
async def list_all(services: OpenServices) -> KeyList:
    """Return all keys that were ever made, newest first."""
    return KeyList(keys=[key_answer(record) for record in await all_keys(KeyParts(services.engine))])


@router.post("", summary="Make an API key", status_code=status.HTTP_201_CREATED)
async def make(body: KeyBody, services: OpenServices, request: Request, response: Response) -> MadeKeyAnswer:
    """Make a key. From the first one on, every request needs a key."""
    lifetime = None if body.expires_in_days is None else timedelta(days=body.expires_in_days)
    made = await create_key(KeyParts(services.engine), body.name, body.scopes, body.collections, lifetime)
    gate_of(request.scope).keyring.forget()
    response.headers["Location"] = f"{router.prefix}/{made.record.id}"
    return made_key_answer(made)


@router.post("/{key_id}/rotate", summary="Put a new API key in the place of one", status_code=status.HTTP_201_CREATED)
async def rotate(
    key_id: UUID,
    services: OpenServices,
    request: Request,
    response: Response,
    grace_hours: Annotated[int, Query(ge=0, le=24 * 365, description="so long the old key stays valid")] = 24,
) -> MadeKeyAnswer:
    """Make a key that may do the same; the old one stays valid for a time of grace."""
    made = await rotate_key(KeyParts(services.engine), str(key_id), timedelta(hours=grace_hours))
    gate_of(request.scope).keyring.forget()
    response.headers["Location"] = f"{router.prefix}/{made.record.id}"
    return made_key_answer(made)


@router.post("/{key_id}/revoke", summary="Revoke an API key")
async def revoke(key_id: UUID, services: OpenServices, request: Request) -> KeyAnswer:
    """Make a key invalid for good; other processes refuse it within two seconds."""
    record = await revoke_key(KeyParts(services.engine), str(key_id))
    gate_of(request.scope).keyring.forget()
    return key_answer(record)
