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


def patient(chrome: type) -> Any:
    """A browser that is asked once more to open a page or draw a picture if chromium let go of the page meanwhile.

    On a busy machine it does so now and then ("Not attached to an active page"). Only what changes nothing is repeated.
    """
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver.remote.command import Command

    class Patient(chrome):  # type: ignore[misc]
        def execute(self, driver_command: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
            try:
                return super().execute(driver_command, params)
            except TimeoutException:
                if driver_command not in (Command.GET, Command.SCREENSHOT):
                    raise
                return super().execute(driver_command, params)

    return Patient


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser with an empty profile for all tests of a process."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    profile = tmp_path_factory.mktemp("profile")
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*QUIET, f"--user-data-dir={profile}", *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(profile / "downloads")})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = patient(Chrome)(options=options, service=Service(DRIVER))
    browser.downloads = profile / "downloads"
    yield browser
    browser.quit()


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
