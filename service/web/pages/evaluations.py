"""Stored evaluations: what `fuzi evaluate` measured, to read and to compare."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter, Response

from service.api.access import ADMIN, Caller, require_all
from service.api.edge.dependencies import OpenServices
from service.errors import InvalidInput, NotFound
from service.evaluate.kept.folder import kept, read_result
from service.types import JsonObject
from service.web.view.rendering import ThisPage
from service.web.view.runs import side_by_side, verdict

# Questions and documents of every collection are in a result, so whoever reads one must be allowed to see all.
router = APIRouter(prefix="/evaluations", dependencies=[ADMIN])

_HARDEST = 40
_NO_RANK = 1_000_000


@router.get("")
async def list_all(page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Results, newest first, with the figures of the last stage."""
    require_all(caller)
    results = await asyncio.to_thread(_summaries, services.settings.home)
    readable = [each["name"] for each in results if each["error"] is None]
    return page.render("evaluations.html", results=results, readable=readable)


@router.get("/compare")
async def compare_two(
    page: ThisPage, caller: Caller, services: OpenServices, before: str = "", after: str = ""
) -> Response:
    """Two results side by side: the figures with their differences, and the questions that made them."""
    require_all(caller)
    if not before or not after:
        raise InvalidInput("choose two evaluations: the one before, and the one after")
    home = services.settings.home
    earlier, later = await asyncio.to_thread(lambda: (_find(home, before), _find(home, after)))
    both = await asyncio.to_thread(side_by_side, earlier, later)
    return page.render("evaluations_compared.html", before=earlier.stem, after=later.stem, both=both, verdict=verdict)


@router.get("/{name}")
async def show(name: str, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """The figures of every stage with their intervals, and the questions that went worst."""
    require_all(caller)
    file = await asyncio.to_thread(_find, services.settings.home, name)
    result = await asyncio.to_thread(read_result, file)
    last = list(result["stages"])[-1]
    hardest = sorted(result["questions"], key=lambda each: -(each["stages"][last]["first_rank"] or _NO_RANK))
    failed = [each for each in hardest if each["stages"][last]["first_rank"] != 1]
    metrics = list(next(iter(result["stages"].values()))["metrics"])
    return page.render(
        "evaluation.html",
        name=file.stem,
        result=result,
        metrics=metrics,
        last=last,
        hardest=failed[:_HARDEST],
        failed_count=len(failed),
    )


def _find(home: Path, name: str) -> Path:
    """A result of the folder by its name; a name is compared, never made into a path."""
    for file in kept(home):
        if file.stem == name:
            return file
    raise NotFound(f"there is no evaluation {name[:200]!r}; it may have been removed")


def _summaries(home: Path) -> list[JsonObject]:
    found: list[JsonObject] = []
    for file in reversed(list(kept(home))):
        facts = file.stat()
        found.append({"name": file.stem, **_summary(file, facts.st_mtime_ns, facts.st_size)})
    return found


@lru_cache(maxsize=500)
def _summary(file: Path, _changed_ns: int, _size: int) -> JsonObject:
    """A result without its questions, which are most of it; or why it cannot be read."""
    try:
        result = read_result(file)
    except InvalidInput as error:
        return {"error": error.message}
    return {"error": None, "result": {key: value for key, value in result.items() if key != "questions"}}
