"""A real browser for pages: Debian's chromium, driven by selenium.

Where chromium and chromedriver are not installed, the tests that need them are not collected, and the one test of
``test_without_browser.py`` stands in for them; with ``KLAPPER_BROWSER=required`` it fails.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

CHROMIUM, DRIVER = which("chromium"), which("chromedriver")
collect_ignore = (
    ["test_without_browser.py"] if CHROMIUM and DRIVER else ["test_report_page.py", "test_studio.py"]
)

QUIET = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


HERE = Path(__file__).parent
LOST = (
    "TimeoutException",
    "StaleElementReferenceException",
    "WebDriverException",
    "InvalidSessionIdException",
    "NoSuchWindowException",
    "ReadTimeoutError",
    "MaxRetryError",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What chromium lost on a busy machine, the page or the session, is tried again; what a page did wrong is not."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=list(LOST)))


@pytest.fixture(scope="session")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Any]]:
    """The one browser with an empty profile that all tests of a process share, begun anew if it died."""
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service
    from urllib3.exceptions import HTTPError

    def begun() -> Any:
        profile = tmp_path_factory.mktemp("profile")
        options = ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (
            *QUIET,
            f"--user-data-dir={profile}",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
        ):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"download.default_directory": str(profile / "downloads")})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        browser = Chrome(options=options, service=Service(DRIVER))
        browser.downloads = profile / "downloads"
        return browser

    living: list[Any] = []

    def one() -> Any:
        if living:
            try:
                living[-1].get("about:blank")
            except (WebDriverException, HTTPError):
                living.clear()
        if not living:
            living.append(begun())
        return living[-1]

    yield one
    for browser in living:
        browser.quit()


@pytest.fixture
def driver(browsers: Callable[[], Any]) -> Any:
    return browsers()


@pytest.fixture
def open_page(driver: Any) -> Iterator[Callable[..., Any]]:
    """Opens a file at a width [px], light or dark; afterwards nothing may have been complained about."""

    def opened(file: Path, *, width: int = 1100, height: int = 900, dark: bool = False) -> Any:
        settings = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", settings)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        driver.get_log("browser")
        driver.get(file.resolve().as_uri())
        return driver

    yield opened
    assert driver.get_log("browser") == []
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
