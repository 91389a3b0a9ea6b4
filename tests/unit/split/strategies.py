"""Texts and settings for property tests: every kind of character that a splitter may stumble over."""

from __future__ import annotations

from hypothesis import strategies as st

from service.config import SplitSettings

_PIECES = [
    *"汉字中文句子龘𠮷ab Z09",
    *"。！？；…｡‼.!?;．，、：,:",
    *"“”‘’「」『』（）()[]《》〈〉【】\"'*_`~",
    *" \t\u3000\u00a0\n\r\x0b\x0c\x85\u2028\u2029",
    "\r\n",
    "\n\n",
    "……",
    "👨\u200d👩\u200d👧",
    "🇨🇳",
    "👍🏽",
    "e\u0301",
    "\u0301",
    "\u200d",
    "\u202e",
    "\u2067",
    "\ufeff",
    "ＡＢ１",
    "한국",
    "\ud800",
    "\udc00",
    "3.14",
    "http://a.cn/?b=1;c=2",
    "e.g. ",
    "Mr. ",
    "字" * 30,
    "这是一句话。",
    "A sentence of words. ",
    "第一条 ",
    "\n第二章 总则\n",
    "根据第三条规定",
]
_MARKDOWN_PIECES = [
    "\n# ",
    "\n\n## 标题\n\n",
    "\n### ",
    "\n====\n",
    "\n---\n",
    "\n- ",
    "\n    - ",
    "\n1. ",
    "\n10) ",
    "\n> ",
    "\n```\n",
    "\n```python\n",
    "\n~~~\n",
    "\n| a | b |\n| --- | --- |\n",
    "\n| 甲 | 乙。丙 |",
    "\n    code",
    "\n<div>\n",
    "\n[a]: http://b\n",
    "#",
    "|",
    "\\",
]


def texts(pieces: list[str], max_size: int = 60) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=max_size).map("".join)


plain_texts = texts(_PIECES) | st.text(max_size=120)
markdown_texts = texts(_PIECES + _MARKDOWN_PIECES * 2)


@st.composite
def sizes(draw: st.DrawFn) -> SplitSettings:
    """Small sizes, so that short texts are cut often."""
    child_size = draw(st.integers(1, 60))
    parent_size = draw(st.integers(child_size, 200))
    soft_tokens = draw(st.integers(1, 60))
    return SplitSettings(
        child_size=child_size,
        parent_size=parent_size,
        sentence_hard_limit=draw(st.none() | st.integers(1, 120)),
        parent_overlap=draw(st.integers(0, min(30, parent_size - 1))),
        unit=draw(st.sampled_from(("characters", "tokens"))),
        soft_tokens=soft_tokens,
        hard_tokens=draw(st.integers(soft_tokens, 80)),
    )
