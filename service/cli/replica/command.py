"""``fuzi replica init``, ``status`` and ``drop``."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.help_text import flowing
from service.cli.options import JsonFlag
from service.cli.output import Output, interruptible, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.config import Settings
    from service.flows.replica.give_up import Dropped
    from service.flows.replica.make import Made
    from service.flows.replica.status import Status

ReplicaUrl = Annotated[
    str | None,
    typer.Option("--replica-url", metavar="URL", help="The replica's database, if not FUZI_DATABASE__READ_URL."),
]


def init(
    replica_url: ReplicaUrl = None,
    primary_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="The primary as the replica's server reaches it, if not as it is reached here."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make a database a replica that answers searches, or make a replica whole again.

    Examples:
      export FUZI_DATABASE__READ_URL="$(FUZI_HOME=~/.fuzi-replica fuzi db url)"
      fuzi replica init
      fuzi serve

    The first line starts a second embedded server with a home of its own; any PostgreSQL 17 with pgvector and
    pg_search will do, with an empty database. It gets the schema, a copy of all that searches read, and vector and
    BM25 indexes of its own; then every change of the primary follows, usually within a second. Uploads and searches
    go on all the while. Interrupted, it begins anew: run it again.

    The primary needs wal_level = logical (the embedded server has it), and a role that may replicate. Limit what it
    keeps for a replica that stays away by max_slot_wal_keep_size (the embedded server: 8 GB).

    Run it again after `fuzi migrate`, and whenever `fuzi replica status` says so: a replica that is whole is left as it
    is. To change the embedding model drop the replica first, `fuzi reembed`, then make it again. A replica is no
    backup, and nothing may be written to it.

    With --json: {slot, already_whole, copied_rows, advice}.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        made = interruptible(
            output, _init(settings, replica_url, primary_url, output), "`fuzi replica init` begins anew"
        )
        if as_json:
            output.result(made)
            return
        what = (
            "the replica is whole already"
            if made.already_whole
            else f"copied {made.copied_rows:,} rows and indexed them"
        )
        output.console.print(f"{what}; its slot on the primary is {made.slot}", markup=False, soft_wrap=True)
        for advice in made.advice:
            output.note(f"warning: {advice}")
        if settings.database.read_url is None:
            output.note("set FUZI_DATABASE__READ_URL to the replica's URL, so that `fuzi serve` reads it")


def status(replica_url: ReplicaUrl = None, as_json: JsonFlag = False) -> None:
    """Say whether searches may read the replica, how far it is behind, and what the primary keeps for replicas.

    Examples:
      fuzi replica status
      fuzi replica status --json | jq .lag_seconds

    The lag in seconds is measured: the time until what is written now has arrived, up to three seconds.

    With --json: {used, reason, message, lag_bytes, lag_seconds, revision, model, replica, slots}. Exit code 1 when
    searches may not read it.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        found = asyncio.run(_status(settings, replica_url))
        from service.cli.replica.drawing import draw_status, status_json

        if as_json:
            output.result(status_json(found))
        else:
            draw_status(output.console, found)
        if not found.state.is_used:
            raise typer.Exit(1)


def drop(
    replica_url: ReplicaUrl = None,
    slot: Annotated[
        str | None, typer.Option(metavar="NAME", help="Drop only this slot: its replica will not come back.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Drop without asking.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Give a replica up: its copy, its subscription, and its slot on the primary. Searches go to the primary.

    Examples:
      fuzi replica drop --yes
      fuzi replica drop --slot fuzi_replica_6a1b2c3d4e5f_16384      (as `fuzi replica status` lists it)

    When the replica's server is gone for good, name its slot: without that the primary would keep its log for it, up
    to max_slot_wal_keep_size. Nothing of the primary's own data is touched.

    With --json: {slot, emptied, publication}.
    """
    if not yes and (as_json or not sys.stdin.isatty()):
        raise typer.BadParameter("nobody can be asked here: add --yes")
    with reporting(as_json) as output:
        settings = load_settings()
        if not yes:
            typer.confirm("Drop the replica's copy and its slot?", abort=True, err=True)
        dropped = asyncio.run(_drop(settings, replica_url, slot))
        if as_json:
            output.result(dropped)
            return
        words = f"dropped the slot {dropped.slot}" if dropped.slot else "there was no slot"
        words += ", and emptied the replica" if dropped.emptied else ""
        words += "; no replica is left" if dropped.publication else ""
        output.console.print(words, markup=False, soft_wrap=True)


def _group() -> None:
    """Let a second PostgreSQL answer searches: a logical replica with indexes of its own.

    `fuzi serve` reads the database of FUZI_DATABASE__READ_URL while it is well, and the primary when it is not: down,
    further behind than FUZI_DATABASE__READ_MAX_LAG_SECONDS, or rebuilding an index after a crash. A search that fails
    there is answered by the primary. See docs/scale.md.

    Examples:
      fuzi replica init
      fuzi replica status
      fuzi replica drop
    """


replica = typer.Typer(no_args_is_help=True, help=flowing(_group.__doc__))
for _command in (init, status, drop):
    replica.command(help=flowing(_command.__doc__))(_command)


async def _init(settings: Settings, replica_url: str | None, primary_url: str | None, output: Output) -> Made:
    from service.cli.replica.progress import ReplicaProgress
    from service.db.engine import database_errors
    from service.flows.replica.make import make
    from service.wiring import replica_parts

    parts = await replica_parts(settings, replica_url, primary_url)
    with database_errors(), ReplicaProgress(output.notes) as progress:
        return await make(parts, progress)


async def _status(settings: Settings, replica_url: str | None) -> Status:
    from service.flows.replica.status import status as look
    from service.wiring import migrated_dsn, replica_dsn

    dsn = await migrated_dsn(settings, migrate=settings.database.url is None)
    return await look(dsn, replica_dsn(settings, replica_url), most_lag_seconds=settings.database.read_max_lag_seconds)


async def _drop(settings: Settings, replica_url: str | None, slot: str | None) -> Dropped:
    from service.flows.replica.give_up import give_up, give_up_slot
    from service.wiring import migrated_dsn, replica_parts

    if slot is not None:
        return await give_up_slot(await migrated_dsn(settings, migrate=False), slot)
    return await give_up(await replica_parts(settings, replica_url, None))
