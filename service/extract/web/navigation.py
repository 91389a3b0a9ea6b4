"""Web pages without what surrounds the article: menus, side bars, footers, permalinks."""

from __future__ import annotations

import re
from typing import Any

from service.extract.structure.inline import name_of, text_of

_NAVIGATION_TAGS = frozenset({"nav", "aside", "footer", "form", "dialog", "menu"})
_NAVIGATION_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar"})
_NAVIGATION_NAMES = re.compile(
    r"^(?:(?:site|page|main|top|bottom|left|right|global|local|side)[-_]?)?"
    r"(?:nav|navbar|navigation|menu|menubar|breadcrumbs?|crumbs?|path|sidebar|footer|toc|lang|langs|pagination|pager|"
    r"share|social|comments?|comments[-_]section|cookies?|advert|ads?|related|skip[-_]link|toplang|bottomlang|copyright)$",
    re.IGNORECASE,
)
_PERMALINKS = frozenset({"¶", "#", "§", "🔗", "\uf0c1"})
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_MENU_MARKS = re.compile(r"[|｜>›»·•/\s,，:：]+")
_LARGEST_SHARE = 0.5
"""No element with more than this share of the page's text is navigation, whatever it is called."""
_FEWEST_LINKS = 3


def drop_navigation(root: Any) -> None:
    """Take from a page what is not its content. An element that holds the main heading or most of the text stays."""
    body = next((child for child in root if name_of(child) == "body"), root)
    total = _length(body)
    main = _main(body, total)
    if main is not None:
        for child in list(body):
            body.remove(child)
        body.text = None
        main.tail = None
        body.append(main)
        total = _length(body)
    for element in list(body.iter()):
        if isinstance(element.tag, str) and _is_noise(element, total):
            _drop(element)


def _main(body: Any, total: int) -> Any | None:
    """The one element that says it is the content, when it holds a fair part of the text."""
    for candidates in (
        list(body.iter("main")),
        [element for element in body.iter() if element.get("role") == "main"],
        list(body.iter("article")),
    ):
        if len(candidates) == 1 and 4 * _length(candidates[0]) >= total:
            return candidates[0]
    return None


def _is_noise(element: Any, total: int) -> bool:
    name = name_of(element)
    if name in {"html", "body", "head", "main", "article"}:
        return False
    if name == "a":
        return (element.text_content() or "").strip() in _PERMALINKS
    if "hidden" in element.attrib or element.get("aria-hidden") == "true" or _HIDDEN.search(element.get("style") or ""):
        return True
    is_named = name in _NAVIGATION_TAGS or element.get("role") in _NAVIGATION_ROLES or _has_noise_name(element)
    if is_named:
        holds_content = next(element.iter("h1", "main", "article"), None) is not None
        return not holds_content and _length(element) <= _LARGEST_SHARE * total
    return name in {"p", "div", "ul", "ol", "td"} and _is_menu(element, name)


def _has_noise_name(element: Any) -> bool:
    if name_of(element) not in {"div", "section", "ul", "ol", "p", "header", "span", "td", "dl"}:
        return False
    words = [*(element.get("class") or "").split(), *(element.get("id") or "").split()]
    return any(_NAVIGATION_NAMES.match(word) for word in words)


def _is_menu(element: Any, name: str) -> bool:
    """A row of links with nothing between them but bars and arrows, or a list of links into this same page."""
    links = list(element.iter("a"))
    if len(links) < _FEWEST_LINKS:
        return False
    if name in {"ul", "ol"}:
        if not all((link.get("href") or "").startswith("#") for link in links):
            return False
    elif any(name_of(child) != "a" and len(child) for child in element):
        return False
    rest = "".join(element.itertext())
    for link in links:
        rest = rest.replace(link.text_content(), "", 1)
    return not _MENU_MARKS.sub("", rest) and (name in {"ul", "ol"} or "|" in rest or ">" in rest)


def _length(element: Any) -> int:
    return len("".join(text_of(element, keep_line_ends=False).split()))


def _drop(element: Any) -> None:
    parent = element.getparent()
    if parent is None:
        return
    tail = element.tail
    if tail and tail.strip():
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + tail
        else:
            before.tail = (before.tail or "") + tail
    parent.remove(element)
