"""The answer of ``/rmeta/xml``: a list of documents, the file first, → one XHTML with the others inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lxml import etree

from service.errors import Corrupt
from service.extract.structure.markup import body_of, parse_xhtml
from service.extract.tidy.clean import clean
from service.extract.tika.answer import TikaAnswer
from service.extract.tika.complaints import failure_of

_CONTENT = "X-TIKA:content"


def answer_of(documents: Sequence[Mapping[str, Any]]) -> TikaAnswer:
    """The file's own XHTML, every embedded document appended as ``div class="package-entry"``, nested by depth.

    Raises:
        ExtractionFailed: a leaf, when the file itself could not be parsed and gave no text.
    """
    container, embedded = documents[0], documents[1:]
    metadata = {key: _strings(value) for key, value in container.items() if key != _CONTENT}
    root = _root(container)
    body = body_of(root)
    for document in embedded:
        body.append(_entry(document))
    answer = TikaAnswer(root, metadata)
    if answer.complaints and not "".join(body.itertext()).strip():
        raise failure_of(
            answer.complaints, otherwise=Corrupt("the file is damaged or cut off", reason=answer.complaints[:300])
        )
    return answer


def _root(document: Mapping[str, Any]) -> Any:
    content = "\n".join(_strings(document.get(_CONTENT) or ""))
    if content.lstrip().startswith("<"):
        return parse_xhtml(content)
    root = etree.Element("html")
    etree.SubElement(etree.SubElement(root, "body"), "p").text = clean(content)
    return root


def _entry(document: Mapping[str, Any]) -> Any:
    path = _strings(document.get("X-TIKA:embedded_resource_path", ""))[0]
    name = _strings(document.get("resourceName", ""))[0] or path.rpartition("/")[2]
    entry = outermost = etree.Element("div", {"class": "package-entry"})
    for _ in range(max(path.count("/") - 1, 0)):
        entry = etree.SubElement(entry, "div", {"class": "package-entry"})
    if name:
        etree.SubElement(entry, "h1").text = clean(name)
    content = body_of(_root(document))
    content.tag = "div"
    entry.append(content)
    return outermost


def _strings(value: Any) -> list[str]:
    return [str(one) for one in value] or [""] if isinstance(value, list) else [str(value)]
