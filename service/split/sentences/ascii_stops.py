"""Whether ``. ! ? ;`` and runs of them end a sentence: they also stand in numbers, names, addresses and code."""

from __future__ import annotations

import re

from service.split.characters import DOTS

_ALWAYS_MORE = re.compile(
    r"adj|adm|adv|al|approx|apt|assn|asst|ave|blvd|bros|ca|capt|cf|cmdr|col|comdr|corp|dept|dr|ed|eds|eg|eq|eqs|"
    r"est|etc|ex|fig|figs|gen|gov|hon|ie|inc|jr|lt|ltd|maj|messrs|mr|mrs|ms|mt|op|ph|prof|ref|refs|rep|resp|rev|"
    r"sec|sen|sgt|sr|st|supt|tab|univ|viz|vol|vols|vs",
    re.IGNORECASE,
)
"""Abbreviations that a sentence practically never ends with, or where a missed end does less harm than a false one."""

_MORE_BEFORE_NUMBER = re.compile(
    r"art|ch|chap|no|nos|p|par|para|pp|pt|v|ver|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec",
    re.IGNORECASE,
)
"""Words that are abbreviations before a number, and may be whole words elsewhere."""

_LOOK_BACK = 48
_WORD = re.compile(r"[^\s([{（【《“‘「『\"'*_`，、：；。！？]*\Z")
_INITIAL = re.compile(r"(?:\A|\.)[A-Za-zÀ-ÖØ-Þ]\Z")
_LIST_MARKER = re.compile(
    r"(?:^|[\n\r\u2028\u2029\x85。！？；：]|[.!?;:]\s)[\s>#*+\-]*[(（]?"
    r"(?:[0-9０-９]{1,3}(?:\.[0-9]{1,3}){0,5}|[一二三四五六七八九十百]{1,4}|[ivxIVX]{1,5}|[A-Za-z])\Z"
)
_SHORT_NUMBER = re.compile(r"(?:\A|[^0-9A-Za-z.])[0-9]{1,3}\Z|[\s，、：；。！？][一二三四五六七八九十]{1,3}\Z")
_ADDRESS = re.compile(r"(?:://|\bwww\.)[^\s，、：；。！？）》”]*\Z")
_ENTITY = re.compile(r"&#?[0-9A-Za-z]{1,10}\Z")
_SHORTEST_ELLIPSIS = 3
_FIRST_CJK = "\u2e80"
_OPENING_QUOTES = frozenset("“‘")


def ascii_run_ends(text: str, first: int, after: int, tail: int) -> bool:
    """Judge a run of ``. ! ? ;`` or a single ``…``.

    Args:
        text: text that may be read two characters beyond ``tail``; at most 48 before the run are looked at.
        first: start of the run.
        after: end of the run.
        tail: end of the closing quotes and brackets after it.
    """
    run, following = text[first:after], text[tail]
    before = text[max(0, first - _LOOK_BACK) : first]
    if run == ";" and _ENTITY.search(before):
        return False
    if following.isspace():
        return run not in DOTS or _full_stop_ends(before, text, tail)
    dots_only = DOTS.issuperset(run.replace("…", "."))
    if following < _FIRST_CJK and following not in _OPENING_QUOTES:
        # 真的吗?OK: between Chinese and Latin text these marks are Chinese ones typed in ASCII.
        if dots_only or before[-1:] < _FIRST_CJK or not following.isalnum():
            return False
    elif dots_only and len(run) < _SHORTEST_ELLIPSIS:
        return False
    return not _ADDRESS.search(before)


def _full_stop_ends(before: str, text: str, blank: int) -> bool:
    found = _WORD.search(before)
    word = found.group() if found else ""
    if _INITIAL.search(word) or _ALWAYS_MORE.fullmatch(word) or _LIST_MARKER.search(before):
        return False
    following = text[blank + 1 : blank + 2]
    if _MORE_BEFORE_NUMBER.fullmatch(word) and following.isdigit():
        return False
    return not ("\u3400" <= following <= "\u9fff" and _SHORT_NUMBER.search(before))
