"""Every page of the console by plain HTTP, as a browser without scripts gets it."""

from __future__ import annotations

import re
from pathlib import Path

import service.demo
from tests.api.conftest import Api
from tests.api.web.conftest import Console, check

HTML = {"Accept": "text/html,*/*;q=0.8"}
ENGLISH, CHINESE = {"Accept-Language": "en", **HTML}, {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5", **HTML}
DEMO = Path(service.demo.__file__).parent / "documents"
PAGES = ["/", "/search", "/compare", "/ask", "/jobs", "/evaluations", "/health", "/health/facts"]


def listed(page: str) -> str:
    """The part of the documents' page that filters and pages apply to."""
    return page[page.index('<section id="documents"') :]


async def test_every_page_answers_in_both_languages(console: Console) -> None:
    for path in PAGES:
        english, chinese = await console.page(path, **ENGLISH), await console.page(path, **CHINESE)
        assert english != chinese, path
        if "<html" in english:
            assert '<html lang="en"' in english
            assert '<html lang="zh-Hans"' in chinese


async def test_documents_are_listed_with_status_size_and_filters(console: Console) -> None:
    page = await console.page("/", **ENGLISH)
    assert f'href="/documents/{console.manual}"' in page
    assert "3 documents" in page
    assert "The file is damaged or cut off." in page
    only = await console.page("/?collection=default&status=ready", **ENGLISH)
    assert '<p class="count">1 document ' in only
    assert console.hostile not in listed(only)
    assert "No document matches" in await console.page("/?source=nothing-has-this-name", **ENGLISH)


async def test_pages_of_a_list_lead_to_one_another(console: Console) -> None:
    beyond = await console.page("/?offset=25&collection=default", **ENGLISH)
    assert 'href="/?collection=default&amp;offset=0"' in beyond


async def test_a_wrong_filter_is_told_and_not_ignored(console: Console) -> None:
    for path in ("/?status=nonsense", "/?offset=-1", "/jobs?status=nonsense", "/jobs?offset=x"):
        response = await console.api.http.get(path, headers=ENGLISH)
        assert response.status_code == 422, path
        check(response.text)
        assert 'data-code="invalid_request"' in response.text


async def test_a_document_is_drawn_with_parents_children_and_provenance(console: Console) -> None:
    page = await console.page(f"/documents/{console.manual}", **ENGLISH)
    chunks = (await console.api.http.get(f"/v1/documents/{console.manual}/chunks")).json()
    for parent in chunks["parents"]:
        assert f'id="p{parent["ordinal"]}"' in page
        assert f"[{parent['start']}:{parent['end']}]" in page
    child = chunks["children"][-1]
    assert f"?chunk={child['chunk_id']}" in page
    without_gaps = re.sub(r'<span class="gap">\s*</span>', "", page)
    drawn = "".join(re.findall(r'<span class="piece[^>]*>([^<]*)</span>', without_gaps))
    assert "每三个月更换一次滤芯" in drawn
    around = await console.page(f"/documents/{console.manual}?chunk={child['chunk_id']}", **ENGLISH)
    assert f"[{child['start']}:{child['end']}]" in around
    assert " chosen" in around
    panel = await console.page(f"/documents/{console.manual}/chunks/{child['chunk_id']}", **ENGLISH)
    assert child["chunk_id"] in panel
    assert child["parent_chunk_id"] in panel


async def test_a_chunk_of_an_earlier_version_leads_to_the_document(console: Console) -> None:
    lost = "0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11"
    page = await console.page(f"/documents/{console.manual}?chunk={lost}", **ENGLISH)
    assert "earlier version" in page
    response = await console.api.http.get(f"/documents/{console.manual}/chunks/{lost}", headers={"HX-Request": "true"})
    assert response.status_code == 404
    assert "<html" not in response.text
    assert "another one" not in (await console.page(f"/documents/{console.manual}?parent=999", **ENGLISH))


async def test_a_long_document_comes_in_parts_that_cover_it(api: Api) -> None:
    paragraphs = [
        f"第{number}段：设备编号 {number:05d} 的检查结果正常，记录人已经签字确认。" * 3 for number in range(400)
    ]
    document = await api.put("long.md", "# 检查记录\n\n" + "\n\n".join(paragraphs))
    response = await api.http.get(f"/documents/{document}")
    check(response.text)
    assert len(response.text) < 150_000
    count, seen = 0, response.text
    while found := re.search(rf'hx-get="/documents/{document}/part\?parent=(\d+)"', response.text):
        response = await api.http.get(f"/documents/{document}/part?parent={found[1]}")
        check(response.text)
        seen += response.text
        count += 1
    chunks = (await api.http.get(f"/v1/documents/{document}/chunks")).json()
    assert count > 3
    ordinals = [int(ordinal) for ordinal in re.findall(r'<article class="parent" id="p(\d+)">', seen)]
    assert ordinals == list(range(len(chunks["parents"])))
    starts = [int(ordinal) for ordinal in re.findall(r'class="start"[^>]*data-chunk="(\d+)"', seen)]
    assert sorted(set(starts)) == [child["ordinal"] for child in chunks["children"]]
    last = await api.http.get(f"/documents/{document}?parent={ordinals[-1]}")
    assert f"?parent={ordinals[-1] - 10}" in last.text


async def test_pages_of_a_pdf_are_told_where_they_begin_and_lead_there(api: Api) -> None:
    pdf = await api.put("规程.pdf", (DEMO / "安全操作规程.pdf").read_bytes())
    page = (await api.http.get(f"/documents/{pdf}?page=2", headers=ENGLISH)).text
    check(page)
    pages = (await api.http.get(f"/v1/documents/{pdf}/text")).json()["pages"]
    for each in pages:
        assert page.count(f'id="page-{each["number"]}"') == 1
        assert f'class="chip" href="/documents/{pdf}?page={each["number"]}#page-{each["number"]}"' in page
    assert 'aria-label="p. 2" aria-current="page"' in page
    chunks = (await api.http.get(f"/v1/documents/{pdf}/chunks")).json()
    behind = next(child for child in chunks["children"] if child["start"] >= pages[1]["start"])
    assert page.index('id="page-2"') <= page.index(f"?chunk={behind['chunk_id']}"), "the page begins before its chunks"

    found = (await api.http.get("/search?q=急停按钮", headers=ENGLISH)).text
    hit = found[found.index('<article class="passage"') :]
    assert re.search(rf'<a class="chip" href="/documents/{pdf}\?chunk=[0-9a-f-]+">p. \d', hit)
    assert re.search(rf'<a class="start" href="/documents/{pdf}\?chunk=[0-9a-f-]+" aria-label="Hit 1 in the text', hit)


async def test_a_failed_document_says_why_and_what_to_do(console: Console) -> None:
    page = await console.page(f"/documents/{console.failed}", **ENGLISH)
    assert "The file is damaged or cut off." in page
    assert "save it anew" in page
    assert "There is no text" in page
    assert "文件已损坏" in await console.page(f"/documents/{console.failed}", **CHINESE)


async def test_the_original_is_what_was_uploaded(console: Console) -> None:
    response = await console.api.http.get(f"/documents/{console.manual}/original")
    assert "滤芯更换" in response.text
    assert response.headers["content-disposition"].startswith("attachment")


async def test_a_search_shows_passages_words_and_reasons(console: Console) -> None:
    page = await console.page("/search?q=更换滤芯", **ENGLISH)
    assert f"/documents/{console.manual}?chunk=" in page
    assert "<mark" in page
    assert "Why here?" in page
    assert "by meaning." in page
    assert "Words looked for" in page
    assert 'name="vector_weight" min="0" max="100" step="1" value="70"' in page
    chinese = await console.page("/search?q=更换滤芯", **CHINESE)
    assert "最佳子块按语义排第" in chinese


async def test_settings_of_the_address_are_in_force(console: Console) -> None:
    page = await console.page("/search?q=滤芯&vector_weight=0&fts_weight=12&rrf_k=9&top_n=1&rerank=off", **ENGLISH)
    assert "Meaning was not asked." in page
    assert page.count('<article class="passage"') == 1
    assert '<li class="request"><code>rrf_k</code> 9' in page
    assert '<li class="service"><code>candidates</code> 50' in page
    assert 'name="fts_weight" min="0" max="100" step="1" value="12" data-given' in page
    within = await console.page(f"/search?q=滤芯&document={console.hostile}", **ENGLISH)
    assert console.manual not in within
    assert f'Only within <a href="/documents/{console.hostile}">' in within


async def test_what_a_search_refuses_is_told_on_its_page(console: Console) -> None:
    for query in ("vector_weight=0&fts_weight=0", "top_n=ten", "rrf_k=0", "document=nonsense", "collection=nowhere"):
        page = await console.page(f"/search?q=滤芯&{query}", **ENGLISH)
        assert '<div class="problem" data-code="' in page, query
        assert '<article class="passage"' not in page


async def test_two_settings_are_compared_with_what_moved(console: Console) -> None:
    page = await console.page("/compare?q=检查&a_vector_weight=0&b_top_n=1", **ENGLISH)
    assert "are in both answers" in page or "is in both answers" in page
    assert "only here" in page
    assert page.count("Setting A") >= 2
    assert "Meaning was not asked." in page


async def test_health_shows_indexes_queue_and_model(console: Console) -> None:
    assert "All is well." in await console.page("/health", **ENGLISH)
    facts = await console.page("/health/facts", **ENGLISH)
    assert "child_chunk_bm25" in facts
    assert "vectors (HNSW)" in facts
    assert 'href="/jobs?status=failed"' in facts


async def test_jobs_are_listed_and_a_failed_one_can_be_tried_again(console: Console) -> None:
    page = await console.page("/jobs?status=failed", **ENGLISH)
    found = re.search(r'action="/jobs/([0-9a-f-]+)/retry"', page)
    assert found is not None
    response = await console.api.http.post(f"/jobs/{found[1]}/retry", headers={"HX-Request": "true", **ENGLISH})
    assert response.status_code == 200
    assert f'id="job-{found[1]}"' in response.text
    done = (await console.api.http.get("/v1/jobs?status=ready")).json()["jobs"][0]["job_id"]
    refused = await console.api.http.post(f"/jobs/{done}/cancel", headers={"HX-Request": "true", **ENGLISH})
    assert refused.status_code == 409
    assert 'data-code="wrong_job_state"' in refused.text


async def test_what_is_not_there_is_told_as_a_page(console: Console) -> None:
    unknown = "0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11"
    for path in (
        f"/documents/{unknown}",
        f"/documents/{unknown}/delete",
        "/evaluations/nothing",
        "/evaluations/..%2Fx",
    ):
        response = await console.api.http.get(path, headers=ENGLISH)
        assert response.status_code == 404, path
        assert response.headers["content-type"].startswith("text/html"), path
        check(response.text)


async def test_language_and_colours_are_kept_where_the_visitor_was(console: Console) -> None:
    form = {"next": "/search?q=%E6%BB%A4", "language": "zh", "theme": "dark"}
    response = await console.api.http.post("/preferences", data=form)
    assert (response.status_code, response.headers["location"]) == (303, form["next"])
    cookies = "; ".join(cookie.split(";")[0] for cookie in response.headers.get_list("set-cookie"))
    page = await console.page("/", Cookie=cookies, **ENGLISH)
    assert '<html lang="zh-Hans" data-theme="dark">' in page
    for target in ("//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "/a\nb"):
        response = await console.api.http.post("/preferences", data={"next": target})
        assert response.headers["location"] == "/", target
    console.api.http.cookies.clear()


async def test_an_upload_without_a_script_comes_back_to_the_list(api: Api) -> None:
    files = {"file": ("说明.txt", "水泵每年换一次密封圈。")}
    response = await api.http.post("/documents", files=files, data={"collection": "手册"})
    assert (response.status_code, response.headers["location"]) == (303, "/?notice=accepted")
    page = (await api.http.get("/?notice=accepted", headers=ENGLISH)).text
    assert "说明.txt" in page
    assert "Accepted" in page
    empty = await api.http.post("/documents", files={"file": ("leer.txt", b"")}, headers=ENGLISH)
    assert empty.status_code == 422
    assert "The file is empty." in empty.text


async def test_a_document_is_deleted_only_after_a_question(api: Api) -> None:
    document = await api.put("weg.txt", "Dies kommt weg.")
    question = await api.http.get(f"/documents/{document}/delete", headers=ENGLISH)
    check(question.text)
    assert "Delete this document?" in question.text
    assert await api.total() == 1
    response = await api.http.post(f"/documents/{document}/delete")
    assert (response.status_code, response.headers["location"]) == (303, "/?notice=deleted")
    assert await api.total() == 0
    empty = (await api.http.get("/", headers=ENGLISH)).text
    assert "No documents yet." in empty


async def test_static_files_are_our_own(console: Console) -> None:
    page = await console.page("/")
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        response = await console.api.http.get(address)
        assert response.status_code == 200, address
        assert len(response.content) > 100
    assert (await console.api.http.get("/static/../rendering.py")).status_code == 404
