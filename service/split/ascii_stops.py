"""Whether ``. ! ? ;`` and runs of them end a sentence: they also stand in numbers, names, addresses and code."""

from __future__ import annotations

import re

_ALWAYS_MORE = frozenset(
    "adj adm adv al approx apt assn asst ave blvd bros ca capt cf cmdr col comdr corp dept dr ed eds eg eq eqs est "
    "etc ex fig figs gen gov hon ie inc jr lt ltd maj messrs mr mrs ms mt op ph prof ref refs rep resp rev sec sen "
    "sgt sr st supt tab univ viz vol vols vs".split()
)
"""Abbreviations that a sentence practically never ends with, or where a missed end does less harm than a false one."""

_MORE_BEFORE_NUMBER = frozenset(
    "art ch chap no nos p par para pp pt v ver jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
"""Words that are abbreviations before a number, and may be whole words elsewhere."""

_LOOK_BACK = 48
_WORD = re.compile(r"[^\s([{（【《“‘「『\"'*_`，、：；。！？]*\Z")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[A-Za-zÀ-ÖØ-Þ]\Z")
_LIST_MARKER = re.compile(
    r"(?:^|[\n\r\u2028\u2029\x85。！？；：]|[.!?;:]\s)[\s>#*+\-]*[(（]?"
    r"(?:[0-9０-９]{1,3}(?:\.[0-9]{1,3}){0,5}|[一二三四五六七八九十百]{1,4}|[ivxIVX]{1,5}|[A-Za-z])\Z"
)
_SHORT_NUMBER = re.compile(r"[\s，、：；。！？](?:[0-9]{1,3}|[一二三四五六七八九十]{1,3})\Z")
_ADDRESS = re.compile(r"(?:://|\bwww\.)[!-~]*\Z")
_ENTITY = re.compile(r"&#?[0-9A-Za-z]{1,10}\Z")
_SHORTEST_ELLIPSIS = 3


def ends_sentence(text: str, first: int, after: int, tail: int) -> bool:
    """Judge the ASCII run ``text[first:after]``.

    Args:
        text: the whole text; at most 48 characters before the run and two after it are looked at.
        first: start of the run.
        after: end of the run.
        tail: end of the closing quotes and brackets after it; white space, a Han character or an opening bracket
            follows there.
    """
    run = text[first:after]
    before = text[max(0, first - _LOOK_BACK) : first]
    if text[tail].isspace():
        if run in {".", "．"} and tail == after:
            return _full_stop_ends(before, text, tail)
        return not (run == ";" and _ENTITY.search(before))
    if run.strip(".．…") == "" and len(run) < _SHORTEST_ELLIPSIS:
        return False
    return not (_ADDRESS.search(before) or (run == ";" and _ENTITY.search(before)))


def _full_stop_ends(before: str, text: str, blank: int) -> bool:
    found = _WORD.search(before)
    word = found.group() if found else ""
    if _INITIALS.match(word) or word.lower() in _ALWAYS_MORE or _LIST_MARKER.search(before):
        return False
    following = text[blank + 1 : blank + 2]
    if word.lower() in _MORE_BEFORE_NUMBER and following.isdigit():
        return False
    return not ("\u3400" <= following <= "\u9fff" and _SHORT_NUMBER.search(before))
