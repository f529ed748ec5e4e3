"""The tools of the documentation are no part of the package: they are imported from the repository.

The site is built once for all tests that look at it. Those in a browser are not collected where there is no chromium;
``tests/browser`` says so.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

CHROMIUM, DRIVER = which("chromium"), which("chromedriver")
collect_ignore = [] if CHROMIUM and DRIVER else ["test_site_in_browser.py"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built strictly and without network."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = "http://127.0.0.1:9"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "http_proxy": nowhere, "https_proxy": nowhere},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One chromium with an empty profile, which writes down what it fetches."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    quiet = ("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking")
    profile = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
    for flag in (*quiet, profile, *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()
