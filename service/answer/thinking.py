"""Thoughts that a reasoning model writes in front of its answer, where its server does not take them out."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class WithoutThinking:
    """Leaves out one ``<think>…</think>`` at the very start; anywhere else these are words like others."""

    def __init__(self) -> None:
        self._held = ""
        self._is_inside = False
        self._is_past = False

    def feed(self, text: str) -> str:
        """Return what of the text so far belongs to the answer; what may still be a thought is held back."""
        if self._is_past:
            return text
        self._held += text
        if not self._is_inside:
            begun = self._held.lstrip()
            if len(begun) < len(_OPEN) and _OPEN.startswith(begun):
                return ""
            if not begun.startswith(_OPEN):
                return self.end()
            self._is_inside = True
        at = self._held.find(_CLOSE)
        if at < 0:
            self._held = self._held[-len(_CLOSE) :]
            return ""
        self._held = self._held[at + len(_CLOSE) :]
        self._is_inside = False
        return self.end() if self._held.strip() else ""

    def end(self) -> str:
        """Return what was held back, without blanks in front; a thought without end is none of it."""
        held = "" if self._is_inside else self._held.lstrip()
        self._held, self._is_past = "", True
        return held
