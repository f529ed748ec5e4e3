"""The site in a real browser, opened from disk: light and dark, wide and narrow, with formulas and search."""

import json
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.slow
LOOKED_AT = [
    "index",
    "first_rattling_system",
    "gallery",
    "theory/measures",
    "theory/undetermined",
    "coming_from/siconos",
    "api/schemes",
    "notation",
]


def open_page(browser: Any, page: Path, *, width: int = 1280, dark: bool = False) -> None:
    settings = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", settings)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get(page.resolve().as_uri())
    browser.execute_script("localStorage.clear()")  # the choice of light or dark at the last visit
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.refresh()


def fetched(browser: Any) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [message for message in messages if message["method"] == "Network.requestWillBeSent"]
    return [message["params"]["request"]["url"] for message in sent]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", LOOKED_AT)
def test_a_page_fits_and_fetches_nothing(page: str, width: int, dark: bool, browser: Any, site: Path) -> None:
    open_page(browser, site / f"{page}.html", width=width, dark=dark)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    scheme = browser.execute_script("return document.body.dataset.mdColorScheme")
    assert scheme == ("slate" if dark else "default")
    assert [
        address for address in fetched(browser) if not address.startswith(("file:", "data:", "blob:"))
    ] == []
    assert browser.get_log("browser") == []


def test_formulas_are_set_in_the_font_that_is_shipped(browser: Any, site: Path) -> None:
    open_page(browser, site / "theory" / "measures.html")
    line, fraction, *_ = browser.find_elements(By.CSS_SELECTOR, ".formula math")
    assert fraction.size["height"] > 1.8 * line.size["height"]
    loaded = """return document.fonts.ready.then(
        () => [...document.fonts].some(f => f.family.includes("Klapper Math") && f.status == "loaded"))"""
    assert browser.execute_script(loaded)


def test_search_works_from_disk(browser: Any, site: Path) -> None:
    open_page(browser, site / "index.html")
    field = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    field.click()
    field.send_keys("saltation")
    wait = WebDriverWait(browser, 60)
    wait.until(lambda b: "matching" in b.find_element(By.CSS_SELECTOR, ".md-search-result__meta").text)
    assert "Periodic motions" in browser.find_element(By.CSS_SELECTOR, ".md-search-result").text
