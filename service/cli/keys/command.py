"""``fuzi keys create``, ``list``, ``rotate`` and ``revoke``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.help_text import flowing
from service.cli.options import JsonFlag
from service.cli.output import Output, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.flows.keys import KeyParts, MadeKey

Named = Annotated[
    str, typer.Argument(metavar="KEY", help="Name, prefix or id of the key, as `fuzi keys list` shows it.")
]


class Scope(StrEnum):
    """The values of `service.types.AccessScope`, without the numbers library that comes with the types."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is, for people and the audit log.")],
    scope: Annotated[
        list[Scope] | None,
        typer.Option(help="What it is for (read); each includes those before it."),
    ] = None,
    collection: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A collection that it may see; repeat it for several. Left out: all."),
    ] = None,
    expires_days: Annotated[
        int | None, typer.Option(min=1, max=3650, metavar="DAYS", help="Days that it is valid. Left out: for good.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make an API key and print it, once: only its hash is kept.

    Examples:
      fuzi keys create operator --scope admin
      fuzi keys create crawler --scope write --collection manuals --expires-days 90
      FUZI_API_KEY="$(fuzi keys create ci)" fuzi search --url http://127.0.0.1:8000 "保修期多长？"

    From the first key on the REST service asks every request for one, within two seconds. Make that first one with
    --scope admin. read: search and look. write: upload and delete, cancel and retry jobs too. admin: settings of
    collections and keys too. Commands that open the database themselves need no key.

    The key alone is on standard output. With --json: the key's fields and {key}, as POST /v1/keys answers.
    """
    with reporting(as_json) as output:
        from service.flows.keys import create_key
        from service.types import AccessScope

        lifetime = None if expires_days is None else timedelta(days=expires_days)
        made = _run(
            lambda parts: create_key(
                parts, name, [AccessScope(one) for one in scope or [Scope.READ]], collection or None, lifetime
            )
        )
        _show(output, made)


def list_keys(as_json: JsonFlag = False) -> None:
    """List all keys that were ever made, newest first, with what they may do and when they were last used.

    Examples:
      fuzi keys list
      fuzi keys list --json | jq -r '.keys[] | select(.revoked_at == null) | .name'

    With --json: {keys}, as GET /v1/keys answers.
    """
    with reporting(as_json) as output:
        from service.api.access.key_routes import KeyList, key_answer
        from service.cli.keys.drawing import draw_keys
        from service.flows.keys import all_keys

        records = _run(all_keys)
        if as_json:
            output.result(KeyList(keys=[key_answer(record) for record in records]).model_dump(mode="json"))
            return
        draw_keys(output.console, records, datetime.now(UTC))


def rotate(
    key: Named,
    grace_hours: Annotated[
        int, typer.Option(min=0, max=24 * 365, metavar="HOURS", help="So long the old key stays valid.")
    ] = 24,
    as_json: JsonFlag = False,
) -> None:
    """Make a key that may do the same, and print it; the old one expires after a time of grace.

    Examples:
      fuzi keys rotate crawler
      fuzi keys rotate crawler --grace-hours 0

    With --json: the new key's fields and {key}, as POST /v1/keys/{id}/rotate answers.
    """
    with reporting(as_json) as output:
        from service.flows.keys import rotate_key

        _show(output, _run(lambda parts: rotate_key(parts, key, timedelta(hours=grace_hours))))


def revoke(key: Named, as_json: JsonFlag = False) -> None:
    """Make a key invalid for good; running services refuse it within two seconds.

    Examples:
      fuzi keys revoke crawler
      fuzi keys revoke fuzi_Ab3x9Q

    Keys that were made stay asked for when the last one is revoked: make another, or set
    FUZI_SERVER__REQUIRE_KEYS=false where everyone on this machine may read and write.

    With --json: the key's fields, as POST /v1/keys/{id}/revoke answers.
    """
    with reporting(as_json) as output:
        from service.api.access.key_routes import key_answer
        from service.flows.keys import revoke_key

        record = _run(lambda parts: revoke_key(parts, key))
        if as_json:
            output.result(key_answer(record).model_dump(mode="json"))
            return
        output.console.print(f"revoked {record.prefix}… {record.name}", markup=False, soft_wrap=True)


def _group() -> None:
    """Say who may use the REST service: API keys with a scope, for all collections or some.

    Without a key in the database, and bound to this machine only, the service asks nobody. See docs/operating.md.

    Examples:
      fuzi keys create operator --scope admin
      fuzi keys list
      fuzi keys rotate operator
      fuzi keys revoke operator
    """


keys = typer.Typer(no_args_is_help=True, help=flowing(_group.__doc__))
keys.command("create", help=flowing(create.__doc__))(create)
keys.command("list", help=flowing(list_keys.__doc__))(list_keys)
keys.command("rotate", help=flowing(rotate.__doc__))(rotate)
keys.command("revoke", help=flowing(revoke.__doc__))(revoke)


def _show(output: Output, made: MadeKey) -> None:
    from service.api.access.key_routes import made_key_answer

    if output.as_json:
        output.result(made_key_answer(made).model_dump(mode="json"))
        return
    output.console.print(made.key, markup=False, soft_wrap=True)
    output.note("this key is shown once and kept nowhere; send it as Authorization: Bearer <key>")
    if made.replaces is not None and made.replaces.expires_at is not None:
        until = made.replaces.expires_at.astimezone().isoformat(" ", "minutes")
        output.note(f"the old key {made.replaces.prefix}… is valid until {until}")


def _run[Result](work: Callable[[KeyParts], Awaitable[Result]]) -> Result:
    settings = load_settings()
    from service.cli.keys.opening import open_keys

    async def opened() -> Result:
        async with open_keys(settings) as parts:
            return await work(parts)

    return asyncio.run(opened())
