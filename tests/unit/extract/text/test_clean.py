"""Cleaning: each rule alone, all of them together, and what must stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.extract.tidy.clean import (
    clean,
    remove_controls,
    remove_invisible,
    remove_stray_joiners,
    remove_surrogates,
    unify_line_ends,
)


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        (remove_controls, "前半句\x00后半句\x07\x1b[0m", "前半句后半句[0m"),
        (remove_controls, "甲\x0b乙\x0c丙", "甲\n乙\n丙"),
        (remove_controls, "制表\t换行\n", "制表\t换行\n"),
        (remove_controls, "C1\x80\x9f 之外", "C1 之外"),
        (remove_surrogates, "坏\ud83d字", "坏字"),
        (remove_surrogates, "坏\udc00字\ud800", "坏字"),
        (remove_surrogates, "笑\ud83d\ude00脸", "笑😀脸"),
        (remove_invisible, "\ufeff开头", "开头"),
        (remove_invisible, "soft\u00adhyphen", "softhyphen"),
        (remove_invisible, "零\u200b宽\u2060度\ufeff", "零宽度"),
        (remove_stray_joiners, "知\u200d识\u200c库", "知识库"),
        (remove_stray_joiners, "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        (remove_stray_joiners, "❤️\u200d🔥", "❤️\u200d🔥"),
        (remove_stray_joiners, "می\u200cخواهم", "می\u200cخواهم"),
        (unify_line_ends, "一\r\n二\r三\n四\u2028五\u2029六\x85七", "一\n二\n三\n四\n五\n六\n七"),
    ],
)
def test_rule(rule: object, before: str, after: str) -> None:
    assert callable(rule)
    assert rule(before) == after
    assert clean(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "知识库检索服务支持 open source 组件。\n\t缩进，全角　空格，no-break\u00a0space",
        "①②③ ㎡ ℃ ½ “引号” ‘单’ — – … ·",
        "👩‍💻 🇨🇳 ❤️ é e\u0301 한글 עברית العربية",
        "\U00020000\U0002a6d6 㐀 々〇",
        "",
    ],
)
def test_text_that_is_right_stays(text: str) -> None:
    assert clean(text) == text


@given(st.text(alphabet=st.characters(), max_size=200))
def test_idempotent_and_storable(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff\u200b\u00ad]", cleaned)
    cleaned.encode("utf-8")


@given(st.lists(st.sampled_from(["\ud83d", "\ude00", "字", "\u200d", "😀", "\r", "\n", "\x00", "a"]), max_size=12))
def test_idempotent_over_traps(parts: list[str]) -> None:
    cleaned = clean("".join(parts))
    assert clean(cleaned) == cleaned
    cleaned.encode("utf-8")
