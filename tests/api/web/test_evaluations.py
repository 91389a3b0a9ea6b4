"""Stored evaluations are shown as they are kept, and what cannot be read says so."""

from __future__ import annotations

from service.evaluate.kept.folder import keep
from tests.api.conftest import Api
from tests.api.web.conftest import HOSTILE, check
from tests.api.web.results import answered, result, with_ranks

ENGLISH = {"Accept-Language": "en", "Accept": "text/html"}


async def test_runs_are_listed_and_shown_with_intervals_and_the_hardest_questions(api: Api) -> None:
    empty = (await api.http.get("/evaluations", headers=ENGLISH)).text
    assert "No evaluation is stored yet." in empty
    home = api.settings.home
    file = keep(home, result("我的问题"))
    keep(home, result("an-old-one", format=0))
    (home / "evaluations" / "20261130T110000-broken.json").write_text("{", encoding="utf-8")
    page = (await api.http.get("/evaluations", headers=ENGLISH)).text
    check(page)
    assert f'href="/evaluations/{file.stem.split("-")[0]}-' in page
    assert "0.750" in page
    assert "evaluate again" in page
    assert "cannot be read" in page

    shown = (await api.http.get(f"/evaluations/{file.stem}", headers=ENGLISH)).text
    check(shown)
    assert "0.500–1.000" in shown
    assert "Reranked" in shown
    assert "1 question without a right passage" in shown
    assert "&lt;script&gt;" in shown
    assert "<script>alert" not in shown
    assert "电池保修多久" not in shown, "it is answered in first place"
    broken = await api.http.get("/evaluations/20261130T110000-broken", headers=ENGLISH)
    assert broken.status_code == 422


async def test_two_runs_are_chosen_and_compared_with_the_questions_that_made_the_difference(api: Api) -> None:
    home = api.settings.home
    plain = keep(home, with_ranks("甲", "rrf", [None, *[2] * 20, 1, 1]))
    one = (await api.http.get("/evaluations", headers=ENGLISH)).text
    assert 'type="radio"' not in one, "one run cannot be compared"
    weights = {**result("乙")["settings"], "rerank": {"provider": "none"}}
    other = keep(home, with_ranks("乙", "rrf", [1, *[1] * 20, 1, 3], settings=weights))
    chosen = (await api.http.get("/evaluations", headers=ENGLISH)).text
    check(chosen)
    newer, older = sorted([plain.stem, other.stem], reverse=True)
    assert f'name="after" value="{newer}" aria-label="After: {newer}" checked' in chosen
    assert f'name="before" value="{older}" aria-label="Before: {older}" checked' in chosen

    params = {"before": plain.stem, "after": other.stem}
    page = (await api.http.get("/evaluations/compare", params=params, headers=ENGLISH)).text
    check(page)
    assert "23 questions: 21 better, 1 worse, 1 as before" in page
    assert '<td class="n difference better" data-label="Difference">+0.870</td>' in page, (
        "hit@1 rose from 2 of 23 to 22 of 23"
    )
    assert "rerank.provider: auto → none" in page.replace("&#39;", "'")
    assert "<script>alert" not in page
    link = "/compare?q=%E9%97%AE%E9%A2%98+22&amp;a_vector_weight=70&amp;"
    lost = page[page.index("1 question became worse") :]
    assert link in lost
    assert "b_rerank=off" in lost
    assert "1 → <b>3</b>" in lost
    assert link not in page[: page.index("1 question became worse")]

    swapped = await api.http.get("/evaluations/compare", params={"before": other.stem, "after": plain.stem})
    assert "1 better, 21 worse" in swapped.text
    assert "−0.870" in swapped.text


async def test_runs_whose_last_stages_differ_are_compared_by_what_users_got(api: Api) -> None:
    home = api.settings.home
    fused = keep(home, with_ranks("甲", "rrf", [2, 2]))
    both = keep(
        home,
        result(
            "乙",
            questions=[
                {"id": "0", "text": HOSTILE, "stages": {"rrf": answered(2), "rerank": answered(1)}},
                {"id": "1", "text": "问题 1", "stages": {"rrf": answered(1), "rerank": answered(1)}},
            ],
        ),
    )
    params = {"before": fused.stem, "after": both.stem}
    page = (await api.http.get("/evaluations/compare", params=params, headers=ENGLISH)).text
    check(page)
    assert "Fused → Reranked" in page
    assert "2 questions: 2 better, 0 worse, 0 as before" in page
    assert "2 questions: 1 better, 0 worse, 1 as before" in page, "the stage that both have"
    assert "no difference beyond chance" in page
    assert '/search?q=%E9%97%AE%E9%A2%98+1"' in page, "both searched with the same settings"


async def test_what_cannot_be_compared_says_why(api: Api) -> None:
    home = api.settings.home
    file = keep(home, with_ranks("甲", "rrf", [1, 2]))
    strange = keep(
        home, with_ranks("乙", "rrf", [1], questions=[{"id": "x", "text": "别的", "stages": {"rrf": answered(1)}}])
    )
    for params, status, told in (
        ({}, 422, "choose two evaluations"),
        ({"before": file.stem}, 422, "choose two evaluations"),
        ({"before": file.stem, "after": strange.stem}, 422, "no question in common"),
        ({"before": file.stem, "after": "nothing"}, 404, "there is no evaluation"),
        ({"before": "../evaluations/" + file.stem, "after": file.stem}, 404, "there is no evaluation"),
    ):
        response = await api.http.get("/evaluations/compare", params=params, headers=ENGLISH)
        assert response.status_code == status, params
        check(response.text)
        assert told in response.text, params
