"""XHTML → blocks: whatever the nesting, no word is lost and none appears twice."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from service.extract.structure.draft import Draft
from service.extract.structure.xhtml import Profile, read_xhtml

_TAGS = (
    "p", "div", "span", "b", "a", "h1", "h3", "ul", "ol", "li", "table", "tr", "td", "th", "pre", "code",
    "blockquote", "section", "dl", "dt", "dd", "br", "hr", "caption", "figure", "em",
)  # fmt: skip
_CLASSES = ("", "footnote", "package-entry", "page", "slide-content", "notes", "list_Bullet_2", "标题_2", "quote")
_LOST_ON_PURPOSE = frozenset({"hr"})


@st.composite
def _trees(draw: st.DrawFn, depth: int = 4) -> list[Any]:
    """(tag, class, has text, has tail, children) at any depth."""
    node = st.tuples(
        st.sampled_from(_TAGS),
        st.sampled_from(_CLASSES),
        st.booleans(),
        st.booleans(),
        st.just([]) if depth == 0 else _trees(depth - 1),
    )
    return draw(st.lists(node, max_size=3))


def _built(nodes: list[Any]) -> tuple[Any, set[str]]:
    """Element tree with a word of its own at every place that may hold text, and the words a reader should see."""
    root = etree.Element("html")
    body = etree.SubElement(root, "body")
    numbers = count(1)
    words: set[str] = set()

    def word() -> str:
        made = f"w{next(numbers)}"
        words.add(made)
        return f" {made} "

    def fill(parent: Any, children: list[Any]) -> None:
        for tag, style, has_text, has_tail, inner in children:
            element = etree.SubElement(parent, tag)
            if style and tag in {"div", "p"}:
                element.set("class", style)
            is_void = tag in {"br", "hr"}
            if has_text and not is_void:
                element.text = word()
            if not is_void:
                fill(element, inner)
            if has_tail:
                element.tail = word()

    fill(body, nodes)
    return root, words


def _words_of(draft: Draft) -> Counter[str]:
    found: Counter[str] = Counter()
    for block in draft.blocks:
        found.update(word for word in block.text.replace("\n", " ").split() if word.startswith("w"))
        for row in block.rows:
            for cell in row:
                found.update(word for word in cell.split() if word.startswith("w"))
    return found


@settings(max_examples=400, deadline=None)
@given(_trees(), st.booleans())
def test_every_word_is_kept_once(nodes: list[Any], keep_line_ends: bool) -> None:
    root, words = _built(nodes)
    profile = Profile(keep_line_ends=keep_line_ends, page_classes=frozenset({"page", "slide-content"}))
    found = _words_of(read_xhtml(root, profile))
    assert set(found) == words
    assert not [word for word, times in found.items() if times > 1]
