"""An application that asks for keys, with two collections and keys of every kind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import httpx
import pytest

from service.extract import Extractor
from service.flows.keys import KeyParts, create_key
from service.types import AccessScope
from tests.api.conftest import Api, fresh_api
from tests.conftest import Databases

OPEN, HIDDEN = "开放", "机密"
SECRET_TEXT = "# 并购\n\n收购计划的代号是蓝鲸。\n"
OPEN_TEXT = "# 报销\n\n差旅住宿每晚不超过五百元。\n"


@dataclass(frozen=True)
class Keyed:
    """The application, and a client for each key; ``nobody`` has none, ``tenant_…`` see `OPEN` only."""

    api: Api
    keys: dict[str, str]
    clients: dict[str, httpx.AsyncClient]
    open_document: str
    hidden_document: str
    hidden_job: str

    def __getattr__(self, name: str) -> httpx.AsyncClient:
        return self.clients[name]


def client_of(api: Api, key: str | None) -> httpx.AsyncClient:
    """A client of the application that sends this key."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx.AsyncClient(transport=api.http._transport, base_url="http://fuzi.test", headers=headers)


async def made_keys(api: Api) -> dict[str, str]:
    """A key for every scope, for all collections and for one."""
    made = {}
    for scope in AccessScope:
        for name, collections in ((str(scope), None), (f"tenant_{scope}", [OPEN])):
            made[name] = (await create_key(KeyParts(api.services.engine), name, [scope], collections)).key
    return made


@pytest.fixture(scope="module")
async def keyed(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, extractor: Extractor
) -> AsyncIterator[Keyed]:
    async with fresh_api(databases, tmp_path_factory.mktemp("keyed"), extractor) as api:
        open_document = await api.put("报销.md", OPEN_TEXT, collection=OPEN)
        hidden_document = await api.put("并购.md", SECRET_TEXT, collection=HIDDEN)
        jobs = (await api.http.get("/v1/jobs", params={"collection": HIDDEN})).json()["jobs"]
        keys = await made_keys(api)
        api.app.state.gate.keyring.forget()
        clients = {name: client_of(api, key) for name, key in keys.items()} | {"nobody": client_of(api, None)}
        yield Keyed(api, keys, clients, open_document, hidden_document, jobs[0]["job_id"])
        for client in clients.values():
            await client.aclose()


type Ask = Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]
