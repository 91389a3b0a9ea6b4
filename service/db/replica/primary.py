"""On the primary: what it has to allow, the publication, and the slots that keep the log for each replica."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import psycopg
from psycopg import sql

from service.db.replica.session import Session, one
from service.db.replica.tables import publication_statement
from service.db.spaces.vector_type import ACTIVE_TYPE, VectorType
from service.errors import Conflict, Misconfigured, NotMigrated
from service.types import EmbeddingModel

PUBLICATION = "fuzi_replica"
SLOT_PREFIX = "fuzi_replica_"

RELEASE_SECONDS = 10.0
"""Time for a replica to let go of its slot."""
_PAUSE_SECONDS = 0.1
_ABILITIES = """
    select
        current_setting('wal_level') as wal_level,
        current_setting('max_slot_wal_keep_size') as keep,
        current_user as role,
        current_database() as database,
        r.rolsuper or r.rolreplication as may_replicate,
        has_database_privilege(current_database(), 'create') as may_publish,
        pg_has_role(c.relowner, 'usage') as owns_tables,
        current_setting('max_replication_slots')::integer - (select count(*) from pg_replication_slots) as free_slots
    from pg_roles as r, pg_class as c
    where r.rolname = current_user and c.oid = 'rag.child_chunk'::regclass
"""
_FACTS = f"""
    select
        (pg_current_wal_lsn() - '0/0')::bigint as written,
        (select version_num from rag.alembic_version) as revision,
        m.provider, m.name, m.dimension,
        ({ACTIVE_TYPE}) as vector_type,
        (s.confirmed_flush_lsn - '0/0')::bigint as applied,
        s.wal_status,
        (pg_current_wal_lsn() - s.restart_lsn)::bigint as kept_bytes
    from rag.embedding_model as m
    left join pg_replication_slots as s on s.slot_name = %s and s.database = current_database()
    where m.active
"""  # noqa: S608 - a constant
_SLOTS = """
    select
        slot_name, active, active_pid, wal_status,
        (pg_current_wal_lsn() - confirmed_flush_lsn)::bigint as lag_bytes,
        (pg_current_wal_lsn() - restart_lsn)::bigint as kept_bytes
    from pg_replication_slots
    where database = current_database() and starts_with(slot_name, %s)
    order by slot_name
"""
_UNLIMITED = "-1"


@dataclass(frozen=True, slots=True)
class PrimaryFacts:
    """The primary at one moment, positions in bytes of its log.

    ``applied`` and ``wal_status`` are of the replica's slot, None without one; ``lost`` is a slot whose log is gone.
    """

    written: int
    revision: str
    model: EmbeddingModel
    vector_type: VectorType
    applied: int | None
    wal_status: str | None
    kept_bytes: int | None


@dataclass(frozen=True, slots=True)
class Slot:
    """One replica as the primary knows it; ``kept_bytes`` of log wait on its disk for it."""

    name: str
    is_active: bool
    wal_status: str | None
    lag_bytes: int | None
    kept_bytes: int | None


async def check_abilities(primary: Session) -> list[str]:
    """Refuse a server or a role that cannot feed a replica; return advice that is no refusal.

    Raises:
        Misconfigured: the message has the statement for the administrator.
    """
    able = await one(primary, _ABILITIES)
    if able.wal_level != "logical":
        raise Misconfigured(
            f"the primary writes its log with wal_level = {able.wal_level}, a replica needs logical: an embedded "
            "server has it after `fuzi db stop` and `fuzi db start`; elsewhere let an administrator run "
            "`alter system set wal_level = logical;` and restart PostgreSQL"
        )
    if not able.may_replicate:
        raise Misconfigured(
            f"the role {able.role} may not replicate: let an administrator run `alter role {able.role} replication;`"
        )
    if not able.may_publish:
        raise Misconfigured(
            f"the role {able.role} may not publish tables: let an administrator run "
            f"`grant create on database {able.database} to {able.role};`"
        )
    if not able.owns_tables:
        raise Misconfigured(f"the role {able.role} does not own the tables of schema rag, so it cannot publish them")
    if able.free_slots < 1:
        raise Misconfigured(
            "all replication slots of the primary are taken: raise max_replication_slots and restart it"
        )
    if able.keep == _UNLIMITED:
        return [
            "a replica that stays away makes the primary keep its log until the disk is full: let an administrator run "
            "`alter system set max_slot_wal_keep_size = '16GB';` and `select pg_reload_conf();`"
        ]
    return []


async def publish(primary: Session) -> None:
    """Make the publication unless it is there."""
    if await one(primary, "select pubname from pg_publication where pubname = %s", PUBLICATION) is None:
        await primary.execute(publication_statement(PUBLICATION))


async def facts(primary: Session, slot: str | None) -> PrimaryFacts | None:
    """Look at the primary and at one slot; None when it names no embedding model."""
    row = await one(primary, _FACTS, slot)
    if row is None:
        return None
    model = EmbeddingModel(row.provider, row.name, row.dimension)
    return PrimaryFacts(row.written, row.revision, model, row.vector_type, row.applied, row.wal_status, row.kept_bytes)


async def known_facts(primary: Session, slot: str | None) -> PrimaryFacts:
    """`facts` of a primary that is in order.

    Raises:
        NotMigrated: it names no embedding model.
    """
    known = await facts(primary, slot)
    if known is None:
        raise NotMigrated("the primary names no active embedding model; run `fuzi migrate`")
    return known


async def slots(primary: Session) -> list[Slot]:
    """All replicas of this database that the primary keeps its log for."""
    rows = await (await primary.execute(_SLOTS, [SLOT_PREFIX])).fetchall()
    return [Slot(row.slot_name, row.active, row.wal_status, row.lag_bytes, row.kept_bytes) for row in rows]


async def make_slot(primary: Session, name: str) -> None:
    """Make a slot; PostgreSQL waits for the transactions that are open now."""
    await primary.execute("select pg_create_logical_replication_slot(%s, 'pgoutput')", [name])


async def drop_slot(primary: Session, name: str, patience_seconds: float = RELEASE_SECONDS) -> bool:
    """Drop a slot, whose replica may still be letting go of it; False when there is none.

    Raises:
        Conflict: the replica still reads from it.
    """
    for _ in range(max(1, round(patience_seconds / _PAUSE_SECONDS))):
        if name not in {slot.name for slot in await slots(primary)}:
            return False
        try:
            await primary.execute("select pg_drop_replication_slot(%s)", [name])
        except psycopg.errors.ObjectInUse:
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return True
    raise Conflict(f"the replica still reads from its slot {name}: stop its subscription first, then try again")


async def withdraw(primary: Session) -> bool:
    """Drop the publication when no replica is left; False when one is."""
    if await slots(primary):
        return False
    await primary.execute(sql.SQL("drop publication if exists {}").format(sql.Identifier(PUBLICATION)))
    return True
