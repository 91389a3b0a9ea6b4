"""Characters that a stream cut in two: some servers send the halves of 😀 in two deltas."""

from __future__ import annotations


class Surrogates:
    """Joins the halves of characters beyond U+FFFF; a half without its other becomes U+FFFD."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the text so far that is whole; half of a character at the end is held back."""
        text = self._held + text
        self._held = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        return _whole(text.removesuffix(self._held) if self._held else text)

    def end(self) -> str:
        """Return what was held back."""
        held, self._held = self._held, ""
        return _whole(held)


def _whole(text: str) -> str:
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
