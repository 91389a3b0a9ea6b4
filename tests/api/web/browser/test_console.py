"""The console in a real browser: from an upload to its deletion, by mouse and by keyboard, on a desk and a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.api.web.browser.conftest import Browser

pytestmark = pytest.mark.browser

TEXT = "# 起重机规程\n\n## 作业前\n\n吊装作业前必须检查钢丝绳，磨损超过一成立即更换。\n\n风力超过六级停止作业。"


def test_a_document_from_upload_to_deletion(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "起重机.md"
    file.write_text(TEXT, encoding="utf-8")
    browser.open("/")
    browser.all("#file")[0].send_keys(str(file))
    browser.until(lambda: "起重机" in browser.find("#documents td.main").text or None)
    browser.until(lambda: browser.find("#documents tbody tr .status").text == "ready" or None)

    browser.press(Keys.ESCAPE)
    browser.script("document.activeElement.blur()")
    browser.press("/")
    assert browser.focused().get_attribute("name") == "q"
    browser.press("钢丝绳什么时候更换", Keys.ENTER)
    passage = browser.find(".passage")
    assert "起重机" in passage.text
    assert passage.find_elements("css selector", "mark")
    passage.find_element("css selector", ".why summary").click()
    browser.shows("by meaning.")
    assert "cosine" in browser.find(".why .numbers").text

    before = browser.find(".slider.vector_weight output").text
    browser.find("#vector_weight").send_keys(Keys.HOME)
    browser.until(lambda: "vector_weight=0" in browser.chrome.current_url or None)
    browser.until(lambda: "not asked" in browser.find(".passage .badges").text or None)
    assert (before, browser.find(".slider.vector_weight output").text) == ("70", "0")
    assert "rrf_k" not in browser.chrome.current_url, "only what was moved is in the address"

    browser.find(".passage h3 a").click()
    panel = browser.find("#chunk .chunk")
    assert "text[start:end]" in panel.text
    assert browser.all(".piece.chosen")
    browser.find("a.start[data-chunk='0']").click()
    browser.until(lambda: "Child chunk 0" in browser.find("#chunk .chunk-head").text or None)
    browser.press(Keys.ESCAPE)
    browser.until(lambda: not browser.all("#chunk .chunk") or None)

    browser.find(".acts .danger").click()
    browser.find("dialog .confirm")
    browser.press(Keys.ESCAPE)
    browser.until(lambda: not browser.all("dialog[open]") or None)
    browser.find(".acts .danger").click()
    browser.find("dialog button.danger").click()
    browser.shows("The document was deleted.")
    assert "起重机" not in browser.find("#documents").text


def test_a_file_that_cannot_be_read_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    broken, empty = tmp_path / "损坏.pdf", tmp_path / "空.txt"
    broken.write_bytes(b"%PDF-1.7 this is none")
    empty.write_bytes(b"")
    browser.open("/")
    browser.all("#file")[0].send_keys(f"{broken}\n{empty}")
    browser.shows("The file is empty.")
    refused = browser.find("#sending .refused")
    assert "空.txt" in refused.text
    assert "empty_file" in refused.text, "the code is told"
    refused.find_element("css selector", "button").click()
    browser.until(lambda: not browser.all("#sending .refused") or None)
    browser.until(lambda: "save it anew" in browser.find("#live").text or None)
    browser.find("#live .failed button").click()
    browser.until(lambda: "save it anew" in browser.find("#live").text or None)
    browser.find("#documents td.act a").click()
    assert "for good" in browser.find("dialog .confirm").text
    browser.press(Keys.ESCAPE)
    browser.until(lambda: not browser.all("dialog[open]") or None)
    assert [each for each in browser.complaints() if "422" not in each] == [], "the refusal itself is logged"


def test_a_question_is_answered_with_sources_that_lead_to_the_text(browser: Browser) -> None:
    browser.open("/ask")
    browser.press("住宿费的限额是多少", Keys.ENTER)
    browser.until(lambda: "done in" in browser.find("#answer-state").text or None)
    assert "word for word" in browser.find("#answer-state").text, "no chat model is configured here"
    cited = browser.find("#answer-text a.cite")
    assert browser.find("#answer-sources li a").get_attribute("href") == cited.get_attribute("href")
    assert "%E4%BD%8F%E5%AE%BF" in browser.chrome.current_url
    browser.find("#q").clear()
    browser.find("#q").send_keys("外来施工人员要遵守哪些规定", Keys.ENTER)
    browser.until(lambda: "%E5%A4%96%E6%9D%A5" in browser.chrome.current_url or None)
    chip = browser.find("#answer-sources .chip")
    assert chip.text.startswith("p. "), "where the pages of a source are known they are told"
    cited = browser.find("#answer-text a.cite")
    browser.screenshot("answer-desk")
    cited.click()
    browser.find("#chunk .chunk")
    assert browser.all(".piece.chosen")


def test_a_question_that_is_refused_says_so_with_its_code(browser: Browser) -> None:
    browser.open("/ask")
    long = "document.getElementById('q').value = '长'.repeat(9000)"
    browser.script(f"{long}; document.getElementById('ask').requestSubmit()")
    refused = browser.find("#answer-state .problem")
    assert "invalid_request" in refused.text
    browser.until(lambda: browser.all("#answer-text[aria-busy=false]") or None)
    assert [each for each in browser.complaints() if "422" not in each] == [], "the refusal itself is logged"


def test_the_keyboard_is_enough(browser: Browser) -> None:
    browser.open("/")
    browser.press(Keys.TAB)
    assert browser.focused().get_attribute("class") == "skip"
    assert browser.focused().is_displayed()
    browser.press(Keys.ENTER)
    browser.press(Keys.TAB)
    assert browser.script("return document.getElementById('main').contains(document.activeElement)")
    outline = browser.script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    for field in browser.all("input:not([type=hidden]), select, textarea"):
        labelled = browser.script("return arguments[0].labels.length || arguments[0].getAttribute('aria-label')", field)
        assert labelled, field.get_attribute("outerHTML")


def test_what_is_typed_into_a_filter_stays_while_the_list_changes(browser: Browser) -> None:
    browser.open("/jobs")
    browser.open("/")
    browser.script("document.getElementById('source').dataset.mine = 'yes'")
    browser.find("#source").send_keys("差旅")
    browser.until(lambda: len(browser.all("#listed tbody tr")) == 1 or None)
    assert "source=%E5%B7%AE%E6%97%85" in browser.chrome.current_url
    assert browser.focused().get_attribute("data-mine") == "yes", "the field is the same one, with the focus in it"
    browser.script("htmx.trigger(document.body, 'documents-changed')")
    browser.until(lambda: browser.script("return !document.getElementById('source').dataset.mine") or None)
    assert browser.find("#source").get_attribute("value") == "差旅"
    assert len(browser.all("#listed tbody tr")) == 1, "the list that was refreshed is filtered as before"
    browser.chrome.back()
    browser.until(lambda: browser.chrome.current_url.endswith("/jobs") or None)


def test_the_number_of_passages_is_told_by_an_element_that_stays(browser: Browser) -> None:
    browser.open("/search?q=差旅")
    assert browser.find("#found").text.startswith("5 passages")
    browser.script("document.getElementById('found').dataset.mine = 'yes'")
    browser.find("#top_n").send_keys(Keys.HOME)
    browser.until(lambda: browser.find("#found[data-mine]").text.startswith("1 passage ") or None)
    assert browser.find("#found").get_attribute("role") == "status"
    assert len(browser.all(".passage")) == 1


def test_a_list_that_is_swapped_keeps_the_focus(browser: Browser) -> None:
    browser.open("/jobs")
    browser.script("document.querySelector('.job .name').focus(); document.getElementById('jobs').dataset.mine = 'yes'")
    before = browser.focused().get_attribute("id")
    browser.until(lambda: browser.all("#jobs:not([data-mine])") or None)
    assert browser.focused().get_attribute("id") == before


def test_pages_and_hits_lead_to_their_place(browser: Browser, served: tuple[str, dict[str, str]]) -> None:
    pdf = served[1]["安全操作规程.pdf"]
    browser.size("phone")
    browser.open(f"/documents/{pdf}")
    browser.find(".pages .chip[href*='page=2']").click()
    browser.until(lambda: browser.chrome.current_url.endswith("?page=2#page-2") or None)
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    browser.until(lambda: 0 <= browser.script(top, "#page-2") < 400 or None)
    browser.open(f"/search?q=防护装置&document={pdf}")
    browser.find(".passage .content a.start").click()
    browser.find("#chunk .chunk")
    browser.until(lambda: 0 <= browser.script(top, ".piece.chosen") < browser.script(top, "#chunk") - 50 or None)


def test_escape_closes_one_thing_at_a_time_and_gives_the_focus_back(
    browser: Browser, served: tuple[str, dict[str, str]]
) -> None:
    browser.open(f"/documents/{served[1]['设备手册.md']}")
    opened = browser.find("a.start[data-chunk='1']")
    opened.send_keys(Keys.ENTER)
    browser.find("#chunk .chunk")
    delete = browser.find(".acts .danger")
    delete.send_keys(Keys.ENTER)
    browser.find("dialog[open]")
    browser.press(Keys.ESCAPE)
    browser.until(lambda: not browser.all("dialog[open]") or None)
    assert browser.all("#chunk .chunk"), "the panel behind the dialog stays"
    assert browser.focused() == delete
    browser.find("#chunk [data-close-panel]").send_keys(Keys.ENTER)
    browser.until(lambda: not browser.all("#chunk .chunk") or None)
    assert browser.focused() == opened


def test_two_evaluations_are_chosen_and_compared(browser: Browser) -> None:
    browser.open("/evaluations")
    browser.find("main button").click()
    browser.shows("Two runs side by side")
    browser.shows("3 questions: 1 better, 2 worse, 0 as before")
    browser.find(".changed a").click()
    browser.find("#results .passage")


def test_language_and_colours_are_switched_without_leaving(browser: Browser) -> None:
    browser.open("/search?q=差旅")
    browser.find("button[name=language]").click()
    browser.shows("检索")
    assert "q=%E5%B7%AE%E6%97%85" in browser.chrome.current_url
    light = browser.script("return getComputedStyle(document.body.parentElement).backgroundColor")
    browser.find("button[name=theme]").click()
    browser.until(lambda: browser.script("return document.documentElement.dataset.theme") == "dark" or None)
    assert browser.script("return getComputedStyle(document.body.parentElement).backgroundColor") != light
    browser.find("button[name=language]").click()
    browser.shows("Weights and sizes")


@pytest.mark.parametrize(("size", "scheme", "language"), [("desk", "light", "en"), ("phone", "dark", "zh")])
def test_every_page_fits(
    browser: Browser, served: tuple[str, dict[str, str]], size: str, scheme: str, language: str
) -> None:
    pdf = served[1]["安全操作规程.pdf"]
    pages = {
        "documents": "/",
        "search": "/search?q=住宿费上限是多少&fts_weight=40",
        "compare": "/compare?q=住宿费上限是多少&a_vector_weight=0&b_fts_weight=0",
        "document": f"/documents/{pdf}",
        "failed": f"/documents/{served[1]['坏的.pdf']}",
        "jobs": "/jobs",
        "evaluations": "/evaluations",
        "health": "/health",
        "ask": "/ask",
        "nothing": "/search?q=xyzzy&vector_weight=0",
        "missing": "/there/is/no/such/page",
        "deleting": f"/documents/{pdf}/delete",
    }
    browser.size(size)
    browser.scheme(scheme)
    browser.open("/search")
    browser.chrome.add_cookie({"name": "fuzi_language", "value": language, "path": "/"})
    for name, path in pages.items():
        browser.open(path)
        if name == "document":
            browser.find("a.start").click()
            browser.find("#chunk .chunk")
        if name == "health":
            browser.shows("child_chunk_bm25")
        if name == "search":
            browser.find(".why summary").click()
        if name == "evaluations":
            browser.screenshot(f"{name}-chosen-{size}")
            browser.find("main button").click()
            browser.find(".changed")
        if name == "missing":
            assert all("404" in each for each in browser.complaints()), "the refusal itself is logged"
        wide, most = browser.script("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide <= most, f"{name} is {wide} wide"
        browser.screenshot(f"{name}-{size}")


def test_a_chunk_that_is_on_its_way_does_not_open_what_was_closed(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "慢.md"
    file.write_text(TEXT, encoding="utf-8")
    browser.open("/")
    browser.all("#file")[0].send_keys(str(file))
    browser.until(lambda: browser.find("#documents tbody tr .status").text == "ready" or None)
    browser.find("#documents td.main a").click()
    browser.find("a.start[data-chunk='0']").click()
    browser.find("#chunk .chunk")
    browser.script(
        "document.querySelector(\"a.start[data-chunk='0']\").click();"
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));"
        "setTimeout(() => { window.isLater = true; }, 500);"
    )
    assert not browser.all("#chunk .chunk")
    browser.until(lambda: browser.script("return window.isLater"))
    assert not browser.all("#chunk .chunk")
