"""What a principal may do and see."""

from __future__ import annotations

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from service.types import ANYONE, NOBODY, AccessScope, Principal

NAMES = st.lists(st.sampled_from(["default", "法务", "Legal", ""]), max_size=6).map(tuple)


def of(*scopes: AccessScope, collections: frozenset[str] | None = None) -> Principal:
    return Principal(uuid4(), "a key", frozenset(scopes), collections)


def test_a_scope_includes_those_before_it() -> None:
    may = {scope: {other for other in AccessScope if of(scope).may(other)} for scope in AccessScope}
    read, write, admin = AccessScope
    assert may == {read: {read}, write: {read, write}, admin: {read, write, admin}}


def test_without_keys_anyone_may_all_and_without_a_key_nobody_may_anything() -> None:
    assert all(ANYONE.may(scope) and not NOBODY.may(scope) for scope in AccessScope)
    assert ANYONE.visible(None) is None
    assert NOBODY.visible(None) == ()


@given(asked=st.none() | NAMES, allowed=st.none() | NAMES.map(frozenset))
def test_never_more_is_visible_than_was_asked_for_and_may_be_seen(
    asked: tuple[str, ...] | None, allowed: frozenset[str] | None
) -> None:
    principal = of(AccessScope.READ, collections=allowed)
    seen = principal.visible(asked)
    if seen is None:
        assert asked is None
        assert principal.sees_all
        return
    assert all(principal.may_see(name) for name in seen)
    assert set(seen) == (set(asked) if asked is not None else set(allowed or ())) & set(
        allowed if allowed is not None else asked or ()
    )
    if asked is not None:
        assert list(seen) == [name for name in asked if name in seen]
