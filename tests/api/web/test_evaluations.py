"""Stored evaluations are shown as they are kept, and what cannot be read says so."""

from __future__ import annotations

from typing import Any

from service.evaluate.figures.measures import METRICS
from service.evaluate.kept.folder import keep
from tests.api.conftest import Api
from tests.api.web.conftest import HOSTILE, check

ENGLISH = {"Accept-Language": "en", "Accept": "text/html"}


def result(name: str, **changed: Any) -> dict[str, Any]:
    """A result with two stages and two questions, of which the reranker answers one worse."""
    metrics = {metric: {"value": 0.75, "low": 0.5, "high": 1.0} for metric in METRICS}
    times = {step: {"p50": 1.5, "p95": 4.0} for step in ("embed", "retrieve", "expand", "total")} | {"rerank": None}
    stage = {"metrics": metrics, "timings_ms": times}
    ranks = [("电池保修多久？", 1, 1), (HOSTILE, 2, None)]
    return {
        "format": 1,
        "name": name,
        "created_at": "2026-11-30T10:00:00+00:00",
        "corpus": {"documents": 6, "parents": 12, "children": 34, "characters": 900, "sha256": "00"},
        "question_count": 2,
        "model": {"provider": "local", "name": "multilingual-e5-small", "dimension": 384},
        "reranker": "local",
        "settings": {"split": {"strategy": "auto"}},
        "versions": {"fuzi": "0.1.0"},
        "seed": 7,
        "confidence": 0.95,
        "notices": [],
        "stages": {"rrf": stage, "rerank": stage},
        "questions": [
            {
                "id": str(number),
                "text": text,
                "stages": {"rrf": {"first_rank": fused}, "rerank": {"first_rank": reranked}},
            }
            for number, (text, fused, reranked) in enumerate(ranks)
        ],
        **changed,
    }


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
