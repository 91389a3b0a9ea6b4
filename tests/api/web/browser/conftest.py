"""A headless Chromium in front of the application on a real socket; every test ends with a look at its console."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

import service.demo
from service.evaluate.kept.folder import keep
from tests.api.conftest import api_settings
from tests.api.live import live_server, until
from tests.api.web.results import with_ranks
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder

SIZES = {"desk": (1280, 800), "phone": (360, 780)}
DEMO = Path(service.demo.__file__).parent / "documents"
_WAIT_SECONDS = 30


def _programs() -> tuple[str, str]:
    """Debian: chromium and chromium-driver. Where they must be there, a skip would hide what is not tested."""
    found = shutil.which("chromium"), shutil.which("chromedriver")
    if found[0] is None or found[1] is None:
        message = "no Chromium: install chromium and chromium-driver, or deselect the marker `browser`"
        if os.environ.get("CI") or os.environ.get("REQUIRE_CHROMIUM"):
            pytest.fail(message)
        pytest.skip(message)
    return found[0], found[1]


@pytest.fixture(scope="session")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One browser for all tests: it is slow to start. It can reach this machine and nothing else."""
    browser, driver = _programs()
    options = ChromeOptions()
    options.binary_location = browser
    for argument in (
        "--headless=new",
        "--no-sandbox",  # CI runs as root
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--force-prefers-reduced-motion",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        f"--user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"intl.accept_languages": "en"})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = Chrome(options, ChromeService(driver))
    yield opened
    opened.quit()


@dataclass(frozen=True)
class Browser:
    """The browser as a visitor uses it."""

    chrome: Chrome
    url: str
    screenshots: Path

    def open(self, path: str) -> None:
        self.chrome.get(self.url + path)

    def size(self, name: str) -> None:
        width, height = SIZES[name]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def find(self, selector: str) -> WebElement:
        """The first element of a selector that can be seen; waits for it."""
        return self.until(lambda: next((one for one in self.all(selector) if one.is_displayed()), None))

    def all(self, selector: str) -> list[WebElement]:
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    def until[Value](self, condition: Callable[[], Value | None]) -> Value:
        """Wait until a condition gives something; elements that vanish meanwhile are looked for again."""
        waiting = WebDriverWait(self.chrome, _WAIT_SECONDS, 0.05, ignored_exceptions=_vanishing())
        return waiting.until(lambda _: condition())

    def text(self) -> str:
        return self.chrome.find_element(By.TAG_NAME, "body").text

    def shows(self, text: str) -> None:
        self.until(lambda: text in self.text() or None)

    def press(self, *keys: str) -> None:
        """Type where the focus is."""
        self.chrome.switch_to.active_element.send_keys(*keys)

    def focused(self) -> WebElement:
        return self.chrome.switch_to.active_element

    def script(self, source: str, *arguments: Any) -> Any:
        return self.chrome.execute_script(source, *arguments)

    def screenshot(self, name: str) -> None:
        self.chrome.save_screenshot(str(self.screenshots / f"{name}.png"))

    def complaints(self) -> list[str]:
        """Warnings and errors of the browser's console since the last look."""
        return [entry["message"] for entry in self.chrome.get_log("browser") if entry["level"] != "INFO"]

    def foreign_requests(self) -> list[str]:
        """Addresses outside of this service that a page asked for since the last look."""
        events = [json.loads(entry["message"])["message"] for entry in self.chrome.get_log("performance")]
        asked = [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith((self.url, "data:", "chrome:"))]


def _vanishing() -> list[type[Exception]]:
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException  # noqa: PLC0415

    return [NoSuchElementException, StaleElementReferenceException]


@pytest.fixture(scope="module")
def served(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, chrome: Chrome
) -> Iterator[tuple[str, dict[str, str]]]:
    """URL of the application with the documents of the demo and two evaluations, and the documents' ids by source."""
    with databases.fresh() as database:
        settings = api_settings(database, tmp_path_factory.mktemp("browser"))
        for ranks in ([1, 2, 3], [2, 1, None]):
            keep(settings.home, with_ranks("我的问题", "rrf", ranks))
        with live_server(settings, HashEmbedder(384)) as url:
            yield url, _take_in(url)
            chrome.get("about:blank")


def _take_in(url: str) -> dict[str, str]:
    with httpx.Client(base_url=url, timeout=120) as http:
        for file in sorted(DEMO.iterdir()):
            http.post("/v1/documents", files={"file": (file.name, file.read_bytes())}).raise_for_status()
        http.post("/v1/documents?wait=true", files={"file": ("坏的.pdf", b"%PDF-1.4 not really")})
        until(lambda: http.get("/v1/jobs?unfinished=true").json()["total"] == 0)
        documents = http.get("/v1/documents").json()["documents"]
    return {document["source"]: document["document_id"] for document in documents}


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("screenshots", numbered=False)


@pytest.fixture
def browser(chrome: Chrome, served: tuple[str, dict[str, str]], screenshots: Path) -> Iterator[Browser]:
    opened = Browser(chrome, served[0], screenshots)
    opened.size("desk")
    opened.scheme("light")
    opened.complaints()
    opened.foreign_requests()
    yield opened
    assert opened.complaints() == []
    assert opened.foreign_requests() == []
    chrome.delete_all_cookies()
