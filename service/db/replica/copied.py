"""On the replica: whose copy it is, its subscription, and how far the copy is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from service.db.models import SCHEMA
from service.db.replica.primary import PUBLICATION, SLOT_PREFIX
from service.db.replica.session import Session, one
from service.db.replica.tables import TABLES
from service.errors import DatabaseNotEmpty, Misconfigured
from service.types import EmbeddingModel

SUBSCRIPTION = "fuzi_replica"

_SCHEMAS = (SCHEMA, "queue", "replica")
_IDENTITY = """
    select
        (select system_identifier from pg_control_system())::text as system,
        d.oid::text as database_oid,
        current_database() as database,
        current_setting('server_version_num')::integer as version,
        current_user as role,
        r.rolsuper or exists (
            select from pg_roles as o where o.rolname = 'pg_create_subscription' and pg_has_role(o.oid, 'member')
        ) as may_subscribe,
        to_regclass('rag.document') is not null as has_schema,
        to_regclass('replica.state') is not null as is_replica
    from pg_database as d, pg_roles as r
    where d.datname = current_database() and r.rolname = current_user
"""
_STATE_TABLES = (
    "create schema replica",
    "comment on schema replica is 'Says that this database is a copy made by `fuzi replica init`: write nothing here'",
    """
    create table replica.state (
        only_row boolean primary key default true check (only_row),
        slot_name text not null,
        made_at timestamptz not null default now(),
        ready_at timestamptz
    )
    """,
    "comment on column replica.state.ready_at is 'When the copy and its indexes were complete; null before'",
)
_SUBSCRIPTION = """
    select s.oid, s.subenabled as enabled, coalesce(t.apply_error_count + t.sync_error_count, 0) as errors
    from pg_subscription as s
    left join pg_stat_subscription_stats as t on t.subid = s.oid
    where s.subname = %s and s.subdbid = (select oid from pg_database where datname = current_database())
"""
_TABLE_STATES = """
    select c.relname as name, r.srsubstate as state, coalesce(p.tuples_processed, 0) as copied_rows
    from pg_subscription_rel as r
    join pg_class as c on c.oid = r.srrelid
    left join pg_stat_progress_copy as p on p.relid = r.srrelid
    where r.srsubid = %s
"""
_SETTLED, _READY = frozenset("fsr"), "r"
_FACTS = """
    select
        s.slot_name,
        s.ready_at is not null as is_ready,
        (select version_num from rag.alembic_version) as revision,
        m.provider, m.name, m.dimension,
        array(select index_name from rag.bm25_sentinel) as whole
    from replica.state as s, rag.embedding_model as m
    where m.active
"""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which database of which server this is, and what it holds."""

    system: str
    database_oid: str
    database: str
    version: int
    role: str
    may_subscribe: bool
    has_schema: bool
    is_replica: bool


@dataclass(frozen=True, slots=True)
class ReplicaFacts:
    """The replica at one moment.

    ``whole`` names the BM25 indexes with a sentinel; ``copying`` counts tables whose first copy is under way;
    ``errors`` those that stopped the subscription since it was made; each is tried again after five seconds.
    """

    slot_name: str
    is_ready: bool
    revision: str
    model: EmbeddingModel
    whole: frozenset[str]
    is_subscribed: bool
    enabled: bool
    copying: int
    errors: int


async def identify(connection: Session) -> Identity:
    """Say which database this is."""
    row = await one(connection, _IDENTITY)
    return Identity(*row)


def slot_name(replica: Identity) -> str:
    """The replica's slot on its primary: each replica has one of its own."""
    return f"{SLOT_PREFIX}{int(replica.system):x}_{replica.database_oid}"


async def check_is_ours(replica: Session, identity: Identity) -> None:
    """Refuse to make a replica of a database in which something is that nobody could bring back.

    Raises:
        DatabaseNotEmpty: it holds documents, and is no replica.
        Misconfigured: its role may not subscribe.
    """
    if not identity.may_subscribe:
        raise Misconfigured(
            f"the role {identity.role} may not subscribe on the replica: let an administrator run "
            f"`grant pg_create_subscription to {identity.role};` there"
        )
    if identity.is_replica or not identity.has_schema:
        return
    if (await one(replica, "select exists (select from rag.document) as found")).found:
        raise DatabaseNotEmpty(
            f"the database {identity.database} of the replica's URL holds documents and is no replica; name an "
            "empty one"
        )


async def empty(replica: Session) -> None:
    """Drop the subscription, if need be without its slot, and all that was copied."""
    if await _subscription(replica) is not None:
        name = sql.Identifier(SUBSCRIPTION)
        await replica.execute(sql.SQL("alter subscription {} disable").format(name))
        await replica.execute(sql.SQL("alter subscription {} set (slot_name = none)").format(name))
        await replica.execute(sql.SQL("drop subscription {}").format(name))
    schemas = sql.SQL(", ").join(map(sql.Identifier, _SCHEMAS))
    await replica.execute(sql.SQL("drop schema if exists {} cascade").format(schemas))


async def claim(replica: Session, slot: str) -> None:
    """Mark a freshly migrated database as a replica, and take out the rows that the migrations wrote."""
    async with replica.transaction():
        for statement in _STATE_TABLES:
            await replica.execute(statement)
        await replica.execute("insert into replica.state (slot_name) values (%s)", [slot])
        tables = sql.SQL(", ").join(sql.Identifier(SCHEMA, table) for table in TABLES)
        await replica.execute(sql.SQL("truncate {} cascade").format(tables))
        await replica.execute("truncate rag.bm25_sentinel")


async def subscribe(replica: Session, primary_url: str, slot: str) -> None:
    """Begin to copy; from now on the replica's server does so by itself, over restarts as well.

    Raises:
        Misconfigured: the replica's server cannot reach the primary by this URL, or may not.
    """
    statement = sql.SQL(
        "create subscription {} connection {} publication {} with (create_slot = false, slot_name = {}, binary = true)"
    ).format(sql.Identifier(SUBSCRIPTION), sql.Literal(primary_url), sql.Identifier(PUBLICATION), sql.Identifier(slot))
    try:
        await replica.execute(statement)
    except psycopg.DatabaseError as error:
        if replica.closed:
            raise
        reason = (error.diag.message_primary or str(error)).strip()
        raise Misconfigured(
            f"the replica's server cannot read from the primary: {reason}. Give the primary's URL as that server sees "
            "it, with a role that may replicate, by --primary-url"
        ) from error


async def copied_rows(replica: Session, totals: Mapping[str, int]) -> tuple[int, bool]:
    """Rows that the first copy has brought so far, given those of each table; and whether all tables are there."""
    subscription = await _subscription(replica)
    if subscription is None:
        return 0, False
    states = await (await replica.execute(_TABLE_STATES, [subscription.oid])).fetchall()
    done = sum(
        totals.get(row.name, 0) if row.state in _SETTLED else min(row.copied_rows, totals.get(row.name, 0))
        for row in states
    )
    return done, len(states) == len(TABLES) and all(row.state == _READY for row in states)


async def errors_of_subscription(replica: Session) -> int:
    """How often the copy or the changes could not be applied."""
    subscription = await _subscription(replica)
    return 0 if subscription is None else int(subscription.errors)


async def note_ready(replica: Session) -> None:
    """Let searches read the replica from now on."""
    await replica.execute("update replica.state set ready_at = now()")


async def facts(replica: Session) -> ReplicaFacts | None:
    """Look at the replica; None when the database is none."""
    try:
        row = await one(replica, _FACTS)
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return None
    if row is None:
        return None
    subscription = await _subscription(replica)
    states = []
    if subscription is not None:
        states = await (await replica.execute(_TABLE_STATES, [subscription.oid])).fetchall()
    return ReplicaFacts(
        row.slot_name,
        row.is_ready,
        row.revision,
        EmbeddingModel(row.provider, row.name, row.dimension),
        frozenset(row.whole),
        subscription is not None,
        subscription is not None and subscription.enabled,
        sum(state.state != _READY for state in states),
        0 if subscription is None else int(subscription.errors),
    )


async def _subscription(replica: Session) -> Any:
    return await one(replica, _SUBSCRIPTION, SUBSCRIPTION)
