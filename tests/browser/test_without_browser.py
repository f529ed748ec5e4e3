"""Stands in for the browser tests where there is no browser."""

import os


def test_there_is_no_browser_so_no_page_was_opened() -> None:
    """Passes unless a browser is asked for, as it is where everything has to be tested."""
    words = "chromium and chromedriver are not installed, so no page was opened: install both, or unset KLAPPER_BROWSER"
    assert os.environ.get("KLAPPER_BROWSER") != "required", words
