"""Blanks that a PDF or an OCR put between Han characters."""

from __future__ import annotations

import re

from service.extract.tidy.han import HAN

_MARKS = "，。、；：！？（）《》〈〉「」『』【】〔〕“”‘’…—·％"
_HAN_RUN = re.compile(rf"[{HAN}{_MARKS}]+(?: [{HAN}{_MARKS}]+)+")
_FEWEST_PIECES = 4
_SINGLE_SHARE = 0.6
_MARK_GAP = re.compile(rf"(?<=[{HAN}]) (?=[，。、；：！？）》」』】])|(?<=[，。、；：！？（《「『【]) (?=[{HAN}])")


def close_gaps(line: str) -> str:
    """Remove single blanks between Han characters when most of the pieces of the line are one character long.

    A blank that parts words (``第一节 重要提示``, ``项目 本期 上期``) stays, and so does every wider gap.
    """
    pieces = [piece for run in _HAN_RUN.findall(line) for piece in run.split(" ")]
    singles = sum(1 for piece in pieces if len(piece.strip(_MARKS)) <= 1)
    if len(pieces) >= _FEWEST_PIECES and singles >= _SINGLE_SHARE * len(pieces):
        return close_all_gaps(line)
    return _HAN_RUN.sub(lambda match: _MARK_GAP.sub("", match.group()), line)


def close_all_gaps(line: str) -> str:
    """Remove every single blank between Han characters and marks: for OCR, which puts them anywhere."""
    return _HAN_RUN.sub(lambda match: match.group().replace(" ", ""), line)
