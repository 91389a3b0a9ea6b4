"""Who asks, and what they may do and see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class AccessScope(StrEnum):
    """What a key is for. Each of them includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, other: AccessScope) -> bool:
        """True when whoever has this scope may do what ``other`` is for."""
        order = tuple(AccessScope)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who made a request.

    ``key_id`` is None when it needed no key; ``collections`` is None when all of them may be seen, those still to come
    included.
    """

    key_id: UUID | None
    name: str
    scopes: frozenset[AccessScope]
    collections: frozenset[str] | None = None

    @property
    def sees_all(self) -> bool:
        """True when no collection is hidden."""
        return self.collections is None

    def may(self, scope: AccessScope) -> bool:
        """True when one of the scopes is this one or includes it."""
        return any(own.includes(scope) for own in self.scopes)

    def may_see(self, collection: str) -> bool:
        """True when this collection is not hidden; it need not exist."""
        return self.collections is None or collection in self.collections

    def visible(self, names: Sequence[str] | None = None) -> tuple[str, ...] | None:
        """Which collections to look at when these are asked for.

        Args:
            names: as asked for; None is all.

        Returns:
            Those that may be seen, in their order. None is all; an empty tuple lets nothing through.
        """
        if names is None:
            return None if self.collections is None else tuple(sorted(self.collections))
        return tuple(name for name in names if self.may_see(name))


ANYONE = Principal(None, "anyone", frozenset({AccessScope.ADMIN}))
"""Whoever asks where no keys are needed: may do and see everything."""

NOBODY = Principal(None, "nobody", frozenset(), frozenset())
"""Whoever asks without a valid key where one is needed: may do and see nothing, and gets what is public."""
