"""Bytes of a text file → text: byte order mark, declared charset, UTF-8, then detection that is checked.

A detector alone cannot be trusted with Chinese: Big5 read as GB18030 decodes without an error, into rare and
private-use characters. So every candidate is decoded and its characters are weighed.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

import charset_normalizer

from service.extract.quality.plausible import LIKELY_TEXT, plausibility

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "x-gbk": "gb18030",
    "cp936": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "utf-8",
    "ascii": "utf-8",
}
"""Declared names stand for the wider charset that writers really use."""
_CANDIDATES = ("gb18030", "big5hkscs", "cp932", "euc_jp", "euc_kr", "cp1252")
_SAMPLE = 1 << 16
_FORGIVEN = 2


@dataclass(frozen=True, slots=True)
class Decoded:
    """``damaged`` counts the replacement characters that decoding had to put in."""

    text: str
    encoding: str
    damaged: int = 0


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Decode a whole text. Never fails; what cannot be read shows as replacement characters and is counted."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    sample = data[:_SAMPLE]
    wide = _wide_encoding(sample)
    if wide:
        return _decoded(data, wide)
    declared = known_encoding(declared)
    if declared and declared != "utf-8" and _score(sample, declared) >= LIKELY_TEXT:
        return _decoded(data, declared)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        if error.start > len(data) - 4 and error.start > 0:
            return _decoded(data, "utf-8")
    return _decoded(data, _detected(sample))


def known_encoding(name: str | None) -> str | None:
    """Python's name of a declared charset, widened; ``None`` when there is none or it is unknown."""
    name = (name or "").strip().strip("\"'").lower()
    name = _WIDER.get(name, name)
    try:
        codec = codecs.lookup(name) if name else None
    except (LookupError, ValueError):
        return None
    return codec.name if codec is not None and codec._is_text_encoding else None


def _decoded(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    return Decoded(text, encoding, text.count("\ufffd"))


def _wide_encoding(sample: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: the reading that is plausible, when one is."""
    usable = len(sample) - len(sample) % 4
    if usable < 4 and len(sample) % 2:
        return None
    if b"\x00\x00\x00" in sample or (b"\x00" in sample and sample[:4].count(0) >= 2):
        for encoding in ("utf-32-le", "utf-32-be"):
            if _score(sample[:usable], encoding) >= LIKELY_TEXT:
                return encoding
    if b"\x00" not in sample and _is_utf8(sample):
        return None
    scores = {encoding: _score(sample[: len(sample) // 2 * 2], encoding) for encoding in ("utf-16-le", "utf-16-be")}
    best = max(scores, key=lambda encoding: scores[encoding])
    if b"\x00" in sample:
        return best if scores[best] >= LIKELY_TEXT else None
    # Without one NUL it holds no ASCII at all: believe it only when no byte-wise charset reads nearly as well.
    rival = max(_score(sample, encoding) for encoding in _CANDIDATES)
    return best if scores[best] >= max(LIKELY_TEXT, rival + 0.1) else None


def _is_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _score(sample: bytes, encoding: str) -> float:
    """Plausibility of the sample read in an encoding; 0 when it does not decode."""
    try:
        return plausibility(codecs.getincrementaldecoder(encoding)().decode(sample))
    except UnicodeError:  # UTF-16 without its mark and a few others raise more than UnicodeDecodeError
        return 0.0


def _detected(sample: bytes) -> str:
    scores = {encoding: _score(sample, encoding) for encoding in _CANDIDATES}
    best = max(scores, key=lambda encoding: scores[encoding])
    if scores[best] >= LIKELY_TEXT:
        return best
    lenient = {encoding: _lenient_score(sample, encoding) for encoding in ("utf-8", *_CANDIDATES)}
    best = max(lenient, key=lambda encoding: lenient[encoding])
    if lenient[best] >= LIKELY_TEXT:
        return best
    guess = charset_normalizer.from_bytes(sample).best()
    return guess.encoding if guess is not None and _score(sample, guess.encoding) > lenient[best] else best


def _lenient_score(sample: bytes, encoding: str) -> float:
    """Plausibility with a few damaged characters forgiven."""
    text = sample.decode(encoding, "replace")
    return plausibility(text.replace("\ufffd", "", _FORGIVEN + len(text) // 100))
