"""The replica's own search indexes: left out during the first copy, then built in one go, and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from psycopg import sql

from service.db.models import SCHEMA, SEARCH_INDEXES
from service.db.replica.session import Session
from service.db.replica.tables import TABLES

_DEFINITIONS = """
    select c.relname as name, pg_get_indexdef(x.indexrelid) as definition, obj_description(c.oid) as comment
    from pg_index as x
    join pg_class as c on c.oid = x.indexrelid
    where x.indexrelid = any (array(select to_regclass('rag.' || name) from unnest(%s::text[]) as name))
    order by c.relname
"""


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """One index as the migrations made it."""

    name: str
    definition: str
    comment: str | None


async def take_out(replica: Session) -> list[SearchIndex]:
    """Drop the search indexes of a freshly migrated replica, and return what they were."""
    rows = await (await replica.execute(_DEFINITIONS, [list(SEARCH_INDEXES)])).fetchall()
    for row in rows:
        await replica.execute(sql.SQL("drop index {}").format(sql.Identifier(SCHEMA, row.name)))
    return [SearchIndex(*row) for row in rows]


async def build(replica: Session, indexes: list[SearchIndex], building: Callable[[str], None]) -> None:
    """Build them over the copied rows; changes of the primary wait meanwhile."""
    for index in indexes:
        building(index.name)
        await replica.execute(index.definition)
        if index.comment is not None:
            name, comment = sql.Identifier(SCHEMA, index.name), sql.Literal(index.comment)
            await replica.execute(sql.SQL("comment on index {} is {}").format(name, comment))
    for table in TABLES:
        await replica.execute(sql.SQL("analyze {}").format(sql.Identifier(SCHEMA, table)))
