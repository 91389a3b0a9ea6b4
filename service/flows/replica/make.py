"""Make a database a replica, or make a replica whole again: schema → publish → copy → index → catch up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from psycopg import sql

from service.config import Settings
from service.db.bm25 import trust_counted
from service.db.bm25.repair import LOCK as GUARD_LOCK
from service.db.dump.session import unhurried
from service.db.migrate import upgrade
from service.db.models import SCHEMA
from service.db.replica import copied, indexes, primary
from service.db.replica.copied import Identity
from service.db.replica.primary import PrimaryFacts
from service.db.replica.session import Session, one, session
from service.db.replica.tables import TABLES
from service.db.replica.verdict import standing
from service.db.spaces.alone import LOCK
from service.errors import Conflict, InvalidSettings, Unavailable
from service.flows.replica.parts import ReplicaParts, Watch

log = structlog.get_logger()

_PAUSE_SECONDS = 0.2
_MOST_ERRORS = 3
_TAKE_LOCK = "select pg_try_advisory_lock(%s) as taken"


@dataclass(frozen=True, slots=True)
class Made:
    """What became of it; ``copied_rows`` is 0 when the replica was whole already. ``advice`` is for the operator."""

    slot: str
    already_whole: bool
    copied_rows: int
    advice: tuple[str, ...]


async def make(parts: ReplicaParts, watch: Watch) -> Made:
    """Make the replica; call it again after any interruption, or when it is of another schema or embedding model.

    Uploads and searches go on all the while. A replica that is whole is left as it is; any other is made from the
    beginning, since all of it can be copied again.

    Raises:
        Misconfigured: one of the servers or roles does not allow it; the message has the statement that does.
        DatabaseNotEmpty: the replica's database holds documents of its own.
        Conflict: another `fuzi replica` or `fuzi reembed` is at work.
        Unavailable: the copy fails again and again; the log of the replica's server says why.
    """
    async with session(parts.primary_dsn) as source, session(parts.replica_dsn) as target:
        identity = await _check_apart(source, target)
        async with alone(source):
            advice = await primary.check_abilities(source)
            await copied.check_is_ours(target, identity)
            slot = copied.slot_name(identity)
            if await is_whole(source, target, slot):
                return Made(slot, True, 0, tuple(advice))
            rows = await _anew(parts, source, target, slot, watch)
            watch.stage("catching up")
            await _catch_up(source, target, slot)
    log.info("replica_made", slot=slot, rows=rows)
    return Made(slot, False, rows, tuple(advice))


@asynccontextmanager
async def alone(source: Session) -> AsyncIterator[None]:
    """One change at a time, of replicas and of the embedding model: both are about the same columns."""
    if not (await one(source, _TAKE_LOCK, LOCK)).taken:
        raise Conflict("another `fuzi replica` or `fuzi reembed` is at work on this database; wait for its end")
    try:
        yield
    finally:
        if not source.closed:
            await source.execute("select pg_advisory_unlock(%s)", [LOCK])


async def is_whole(source: Session, target: Session, slot: str) -> bool:
    """Whether the replica needs nothing but time."""
    known, replica = await primary.known_facts(source, slot), await copied.facts(target)
    return standing(known, replica) in {None, "bm25_rebuilding"}


async def _check_apart(source: Session, target: Session) -> Identity:
    mine, other = await copied.identify(source), await copied.identify(target)
    if (mine.system, mine.database_oid) == (other.system, other.database_oid):
        raise InvalidSettings("the replica's URL leads to the primary itself: name a database of another server")
    if mine.is_replica:
        raise InvalidSettings("FUZI_DATABASE__URL leads to a replica: name the primary, which uploads go to")
    return other


async def _anew(parts: ReplicaParts, source: Session, target: Session, slot: str, watch: Watch) -> int:
    watch.stage("preparing both servers")
    known = await primary.known_facts(source, slot)
    await copied.empty(target)
    await primary.drop_slot(source, slot)
    await asyncio.to_thread(upgrade, parts.replica_dsn, _as_primary(parts.settings, known), known.revision)
    # held until the end, so that no guard takes an index that is not built yet for one that was lost
    async with unhurried(parts.replica_dsn) as trusting:
        await target.execute("select pg_advisory_lock(%s)", [GUARD_LOCK])
        await copied.claim(target, slot)
        built_later = await indexes.take_out(target)
        await primary.publish(source)
        totals = {table: await _count(source, table) for table in TABLES}
        watch.stage("waiting for open transactions of the primary")
        await primary.make_slot(source, slot)
        await copied.subscribe(target, parts.primary_url, slot)
        watch.stage("copying")
        await _copy(target, totals, watch)
        await indexes.build(target, built_later, lambda name: watch.stage(f"building {name}"))
        incomplete = await trust_counted(trusting)
        if incomplete:
            raise Unavailable(
                f"built on the replica, but not whole: {', '.join(incomplete)}; run `fuzi replica init` again"
            )
        await copied.note_ready(target)
        await target.execute("select pg_advisory_unlock(%s)", [GUARD_LOCK])
    return sum(totals.values())


def _as_primary(settings: Settings, known: PrimaryFacts) -> Settings:
    """Settings whose migrations make the vectors' column as the primary has it: rows come in binary, nothing casts."""
    model = known.model
    named = {"provider": model.provider, "model": model.name, "dimension": model.dimension}
    embed = settings.embed.model_copy(update={**named, "vector_type": known.vector_type})
    return settings.model_copy(update={"embed": embed})


async def _copy(target: Session, totals: Mapping[str, int], watch: Watch) -> None:
    total = sum(totals.values())
    while True:
        done, is_complete = await copied.copied_rows(target, totals)
        watch.copied(done, total)
        if is_complete:
            return
        await _check_errors(target)
        await asyncio.sleep(_PAUSE_SECONDS)


async def _catch_up(source: Session, target: Session, slot: str) -> None:
    """Wait until what was written before this moment is there."""
    wanted = (await primary.known_facts(source, slot)).written
    while ((await primary.known_facts(source, slot)).applied or 0) < wanted:
        await _check_errors(target)
        await asyncio.sleep(_PAUSE_SECONDS)


async def _check_errors(target: Session) -> None:
    if await copied.errors_of_subscription(target) >= _MOST_ERRORS:
        raise Unavailable(
            "the replica cannot apply what it is sent, and tries again every few seconds; the log of its server says "
            "why. `fuzi replica init` begins anew, `fuzi replica drop` gives it up"
        )


async def _count(source: Session, table: str) -> int:
    row = await one(source, sql.SQL("select count(*) as row_count from {}").format(sql.Identifier(SCHEMA, table)))
    return int(row.row_count)
