"""How a conversation goes on: what of it the model reads, and what a follow-up question searches for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from service.types import Turn


def recent_turns(
    history: Sequence[Turn], most_messages: int, most_tokens: int, tokens_of: Callable[[str], int]
) -> tuple[Turn, ...]:
    """The newest messages that fit, oldest first; the first of them is the user's, as chat servers want it."""
    kept, left = list[Turn](), most_tokens
    for turn in reversed(history[-most_messages:] if most_messages else ()):
        left -= tokens_of(turn.content)
        if left < 0:
            break
        kept.append(turn)
    while kept and kept[-1].role != "user":
        kept.pop()
    return tuple(reversed(kept))


def search_query(question: str, history: Sequence[Turn], most_characters: int) -> str:
    """What is searched for: the question, and after it the previous one, which says what "it" is.

    No model is asked to rephrase it: that would cost a call for every question. A caller who knows better sends the
    query itself.
    """
    previous = next((turn.content for turn in reversed(history) if turn.role == "user"), None)
    if previous is None:
        return question
    return f"{question}\n{previous}"[: max(most_characters, len(question))].rstrip()
