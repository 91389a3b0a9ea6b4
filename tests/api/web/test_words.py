"""The console says the same in both languages, and nothing that no page asks for."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

import service.rerank.local
from service.errors import ExtractionFailed, FuziError
from service.queue.jobs import JobStatus
from service.types import DocumentStatus
from service.web.view.language import preferred
from service.web.words import CATALOGUES, has_words, reason, speaker

REASONS = Path(service.rerank.local.__file__).with_name("reasons.py")
TEMPLATES = Path(service.rerank.local.__file__).parents[2] / "web" / "templates"
_ASKED = re.compile(r"\bt\(\s*'([a-z_.0-9]+)'\s*[,)~]")
_MADE = re.compile(r"\bt\(\s*'([a-z_.]+\.)'\s*~")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts_with_the_same_values() -> None:
    english, chinese = CATALOGUES["en"], CATALOGUES["zh"]
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        forms = text.split("|")
        assert len(forms) <= 2, key
        assert "|" not in chinese[key], key
        for form in forms:
            assert places(form) == places(chinese[key]), key


def test_every_text_that_a_template_asks_for_is_there_and_no_other() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.html"))
    asked, made = set(_ASKED.findall(source)), set(_MADE.findall(source))
    # keys in lists that a template goes through
    asked |= set(re.findall(r"'((?:chunk|leg)\.[a-z_]+)'", source))
    known = CATALOGUES["en"].keys()
    assert not {key for key in asked if key not in known and not key.endswith(".")}
    unused = {key for key in known if key not in asked and not any(key.startswith(start) for start in made)}
    assert not unused


def test_every_stage_and_status_has_a_word() -> None:
    for status in (*DocumentStatus, *JobStatus):
        assert has_words(f"status.{status}")


def test_every_reason_why_a_file_cannot_be_read_has_words_and_advice() -> None:
    kinds: list[type[FuziError]] = [ExtractionFailed, *ExtractionFailed.__subclasses__()]
    assert len(kinds) > 5
    for kind in kinds:
        assert has_words(f"error.{kind.code}"), kind.code
        assert has_words(f"advice.{kind.code}"), kind.code


def test_numbers_choose_their_form() -> None:
    english = speaker("en")
    assert english("documents.count", n=1) == "1 document"
    assert english("documents.count", n=1200) == "1,200 documents"
    assert speaker("zh")("documents.count", n=1) == "共 1 篇文档"


def test_every_reason_of_the_local_reranker_is_known_in_chinese() -> None:
    tree = ast.parse(REASONS.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("_")]
    phrases = {
        node.value
        for function in functions
        for outer in ast.walk(function)
        if isinstance(outer, ast.Return) and outer.value is not None
        for node in ast.walk(outer.value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 2
    }
    whole = {phrase for phrase in phrases if not phrase.startswith((" ", "place ")) and not phrase.endswith("the ")}
    assert len(whole) > 15
    for phrase in [
        *whole,
        "place 12 in the fused order",
        "place 3 among the hits by words",
        "4 passages of its document were found",
    ]:
        assert reason("zh", phrase) != phrase, phrase
        assert reason("en", phrase) == phrase
    assert reason("zh", "against it: place 12 in the fused order") == "不利：融合名次第 12"
    assert reason("zh", "a reason of tomorrow") == "a reason of tomorrow"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("de, fr;q=0.9, zh-TW;q=0.4, en;q=0.3", "zh"),
        ("de", "en"),
        ("en;q=0.1, ZH-hans ; q=0.2", "zh"),
        ("*;q=1, nonsense;;q=, zh;q=2", "en"),
        ("zh;q=0, en", "en"),
        ("zh," * 10_000, "zh"),
    ],
)
def test_the_language_is_the_one_that_the_browser_prefers(header: str, language: str) -> None:
    assert preferred(header) == language
