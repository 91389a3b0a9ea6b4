"""Which type a column of vectors has: ``vector`` with four bytes a number, or ``halfvec`` with two.

The settings and the dimension decide it when a column is made. From then on everything looks at the column itself:
the settings may say something else meanwhile.
"""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.config import LONGEST_VECTOR, EmbedSettings
from service.errors import Misconfigured

type VectorType = Literal["vector", "halfvec"]

COLUMN = "embedding"
ACTIVE_TYPE = """
    select t.typname::text
    from pg_attribute as a
    join pg_type as t on t.oid = a.atttypid
    where a.attrelid = 'rag.child_chunk'::regclass and a.attname = 'embedding'
"""
"""The type of the vectors in use, for whoever can ask in a statement that is sent anyway."""

_LONGEST_HALFVEC = 4000
# A row has to fit a page (8,160 bytes) with all vectors that lie in it, see the first migration.
_MAX_INLINE_BYTES = 7600
_TYPE = text(ACTIVE_TYPE.replace("'embedding'", ":name"))


def chosen_type(embed: EmbedSettings, dimension: int) -> VectorType:
    """The type of a new column for vectors of this length: ``auto`` is halfvec where an index on vector cannot be.

    Raises:
        Misconfigured: no HNSW index can hold them in the type of the settings, or at all.
    """
    if dimension > _LONGEST_HALFVEC:
        raise Misconfigured(
            f"{dimension} dimensions are too many, an HNSW index holds up to {_LONGEST_HALFVEC}: "
            "ask for less by --dimension if the model can shorten its vectors, or take another model"
        )
    if embed.vector_type == "vector" and dimension > LONGEST_VECTOR:
        raise Misconfigured(
            f"FUZI_EMBED__VECTOR_TYPE=vector holds up to {LONGEST_VECTOR} dimensions in an HNSW index, not "
            f"{dimension}: take halfvec or auto"
        )
    if embed.vector_type == "auto":
        return "vector" if dimension <= LONGEST_VECTOR else "halfvec"
    return embed.vector_type


def asks_for_another(embed: EmbedSettings, stored: VectorType) -> bool:
    """Whether the settings name a type, and it is not the stored one."""
    return embed.vector_type not in {"auto", stored}


def vector_bytes(kind: VectorType, dimension: int) -> int:
    """Bytes of the numbers of one vector."""
    return dimension * (4 if kind == "vector" else 2)


def storage(*sizes: int) -> str:
    """How vectors of so many bytes lie in a row: in the page if all fit, so that comparing needs no second look-up."""
    return "plain" if sum(sizes) <= _MAX_INLINE_BYTES else "external"


async def stored_type(connection: AsyncConnection, column: str = COLUMN) -> VectorType | None:
    """The type that a column of `rag.child_chunk` has; None when there is no such column."""
    found: VectorType | None = await connection.scalar(_TYPE, {"name": column})
    return found


def settle_type(connection: Connection, embed: EmbedSettings) -> None:
    """Give the empty column of a database that is just being made the type of the settings.

    Raises:
        Misconfigured: see `chosen_type`.
    """
    kind = chosen_type(embed, embed.dimension)
    if not asks_for_another(embed, connection.execute(_TYPE, {"name": COLUMN}).scalar_one()):
        return
    alter = f"alter table rag.child_chunk alter column {COLUMN}"
    connection.exec_driver_sql(f"{alter} type {kind}({int(embed.dimension)})")
    connection.exec_driver_sql(f"{alter} set storage {storage(vector_bytes(kind, embed.dimension))}")
