"""What is uploaded: texts of random Han sentences, so that every sentence finds its own document; and bad files."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 3000)]
_BAD_FILES = {
    "no_text": ("txt", b"  \n \n\n   \n"),
    "corrupt": ("pdf", b"%PDF-1.7\nno PDF at all"),
    "unsupported": ("bin", b"\x7fELF\x02\x01\x01no program either"),
}


@dataclass(frozen=True)
class Content:
    """One version of something; ``key`` is its number in the run, and ``error_code`` is set when it must fail.

    ``sentences`` are all that its text holds, and the first and the last are its phrases: no other version has them.
    """

    key: int
    data: bytes
    extension: str
    sentences: tuple[str, ...] = field(default=(), repr=False)
    heading: str = ""
    error_code: str | None = None

    @property
    def text(self) -> str:
        return self.data.decode()

    @property
    def phrases(self) -> tuple[str, str]:
        return self.sentences[0], self.sentences[-1]


class Author:
    """Writes contents; the same random numbers write the same ones."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self.written: list[Content] = []

    def new(self) -> Content:
        """A text: mostly of a few sentences, sometimes of several hundred, sometimes with headings."""
        count = self._dice.choices([3, 8, 25, 220], weights=[50, 30, 15, 5])[0]
        heading = self._sentence(6) if self._dice.random() < 0.3 else ""
        return self._publish([self._sentence() for _ in range(count + self._dice.randrange(4))], heading)

    def edited(self, old: Content) -> Content:
        """The next version of a text: both phrases and perhaps a few sentences differ, the others stay."""
        sentences = list(old.sentences)
        for place in {0, len(sentences) - 1, self._dice.randrange(len(sentences))}:
            sentences[place] = self._sentence()
        return self._publish(sentences, old.heading)

    def bad(self) -> Content:
        """A file that must fail with its code."""
        code = self._dice.choice(sorted(_BAD_FILES))
        extension, data = _BAD_FILES[code]
        content = Content(len(self.written), data, extension, error_code=code)
        self.written.append(content)
        return content

    def _sentence(self, length: int | None = None) -> str:
        return "".join(self._dice.choices(_HAN, k=length or self._dice.randint(14, 30)))

    def _publish(self, sentences: list[str], heading: str) -> Content:
        body = "".join(sentence + self._dice.choice(["。", "。", "！", "。\n"]) for sentence in sentences[:-1])
        text = (f"# {heading}\n\n" if heading else "") + body + sentences[-1] + "。"
        extension = "md" if heading else "txt"
        content = Content(len(self.written), text.encode(), extension, tuple(sentences), heading)
        self.written.append(content)
        return content
