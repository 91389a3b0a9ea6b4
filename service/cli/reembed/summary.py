"""What a change of the embedding model did, and how both spaces are."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from service.db.spaces import EmbeddingSpace
from service.db.spaces.vector_type import VectorType
from service.embed.following import variables
from service.flows.reembed.change import Done, SpacesState


def state_json(state: SpacesState) -> dict[str, Any]:
    """Both spaces for a program; ``missing`` counts child chunks without a vector of the standby model."""
    standby = None
    if (space := _second(state)) is not None:
        standby = {
            **_space_json(space, state.standby_type),
            "chunks": state.chunk_count,
            "missing": state.missing_count,
            "indexed": state.is_indexed,
            "was_active": state.standby is not None and space.activated_at is not None,
        }
    active = _space_json(state.active, state.active_type)
    return {"active": active, "standby": standby, "settings": variables(state.active)}


def done_json(done: Done) -> dict[str, Any]:
    """The result of a change for a program."""
    segments = done.bm25_segments
    counted = {
        "switched": done.switched,
        "copied": done.copied,
        "filled": done.filled_count,
        "embedded": done.embedded_count,
    }
    state = {} if done.state is None else state_json(done.state)
    return {**counted, "bm25_segments": None if segments is None else list(segments), **state}


def draw_state(console: Console, state: SpacesState) -> None:
    """Both spaces for a person."""
    _say(console, "active", f"{state.active.title}, {state.active_type}")
    standby = _second(state)
    if standby is None:
        _say(console, "standby", "none")
        return
    have = state.chunk_count - state.missing_count
    count = f"{have:,} of {state.chunk_count:,} chunks, {'indexed' if state.is_indexed else 'not indexed'}"
    was_active = state.standby is not None and standby.activated_at
    kept = "kept for --rollback until --drop-old" if was_active else "not active yet; `fuzi reembed` goes on"
    _say(console, "standby", f"{standby.title}, {state.standby_type}: {count}; {kept}")


def draw_done(console: Console, done: Done) -> None:
    """The result for a person, with what to put into .env when searches use another model now."""
    state = done.state
    if state is None:
        return
    if done.filled_count:
        reused = done.filled_count - done.embedded_count
        how = "copied, no model was asked" if done.copied else f"{reused:,} vectors were known before"
        _say(console, "filled", f"{done.filled_count:,} chunks ({how})")
    draw_state(console, state)
    if not done.switched:
        ready = "ready: run the same command without --no-switch"
        hint = "nothing to do: this model is active already" if done.already_active else ready
        console.print(hint, markup=False)
        return
    if done.copied:
        console.print("The former vectors are dropped; running processes notice nothing.", markup=False)
        return
    console.print("Running processes follow by themselves. Before they start again, put this into .env:", markup=False)
    for name, value in variables(state.active).items():
        console.print(f"{name}={value}", markup=False, soft_wrap=True)
    if state.active.model.provider != "local":
        console.print("FUZI_EMBED__API_KEY=…", markup=False)


def _second(state: SpacesState) -> EmbeddingSpace | None:
    """The space on standby; that of a copy into another type is the active one, once more."""
    return state.active if state.standby is None and state.standby_type is not None else state.standby


def _space_json(space: EmbeddingSpace, kind: VectorType | None) -> dict[str, Any]:
    model = space.model
    return {
        "provider": model.provider,
        "model": model.name,
        "dimension": model.dimension,
        "base_url": space.base_url,
        "vector_type": kind,
    }


def _say(console: Console, word: str, text: str) -> None:
    console.print(Text.assemble((f"{word:8}", "bold"), text), soft_wrap=True)
