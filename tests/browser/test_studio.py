"""The studio in a real browser, as a reader uses it: begin a scenario, run, cancel, change one parameter, compare."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import klapper
from klapper.cli.scenario import example_in
from klapper.results import read
from klapper.scenario import starter
from klapper.studio.serve import prepare
from results.motions import bouncing_ball
from studies.study_targets import square

SHOTS = os.environ.get("KLAPPER_SHOTS")  # a folder for pictures to look at
PATIENCE = 180  # s; a run compiles its kernels once


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Any]:
    """A studio on a folder of its own."""
    folder = tmp_path / "shown"
    folder.mkdir()
    served = prepare(folder, require_example=example_in)
    served_by = Thread(target=served.run)
    served_by.start()
    while not served.server.started:
        time.sleep(0.01)
    yield folder, served.address
    served.server.should_exit = True
    served_by.join(60)


class Page:
    """The browser on the studio."""

    def __init__(self, driver: Any, folder: Path, address: str) -> None:
        self.driver, self.folder, self.address = driver, folder, address

    def go(self, route: str = "#/", *, width: int = 1200, dark: bool = False) -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get("about:blank")
        self.driver.get(self.address + route)
        self.find("h1")

    def find(self, selector: str, text: str = "") -> Any:
        """The first element that is shown and holds a text; waits for it."""

        def found(driver: Any) -> Any:
            try:
                there = driver.find_elements(By.CSS_SELECTOR, selector)
                return next((one for one in there if text in one.text and one.is_displayed()), None)
            except StaleElementReferenceException:
                return None

        return WebDriverWait(self.driver, PATIENCE, 0.1).until(found, f"{selector} with '{text}'")

    def type_into(self, text: str) -> None:
        """Write the whole text of the editor anew."""
        self.driver.execute_script(
            "const field = document.querySelector('textarea'); field.value = arguments[0];"
            "field.dispatchEvent(new Event('input'));",
            text,
        )

    def shoot(self, name: str) -> None:
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(f"{SHOTS}/{name}.png")

    def overflow(self) -> int:
        """By how much the page is wider than the window [px]."""
        wider = self.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        return int(wider)


@pytest.fixture
def page(driver: Any, shown: tuple[Path, str]) -> Iterator[Page]:
    """Afterwards nothing may have been complained about, and nothing foreign asked for."""
    driver.get_log("browser")
    opened = Page(driver, *shown)
    yield opened
    asked = driver.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    )
    origin = opened.address.rsplit("/", 2)[0]
    assert all(name.startswith(origin) for name in asked)
    complaints = driver.get_log("browser")
    driver.execute_script("window.onbeforeunload = null")
    driver.get("about:blank")
    assert complaints == []


def store_balls(folder: Path) -> None:
    """Two runs in closed form."""
    for name, restitution in (("firm", 0.8), ("soft", 0.5)):
        (folder / name).mkdir()
        bouncing_ball(restitution=restitution).save(folder / name / "run.h5")
        text = f'[model]\nkind = "bodies"\ntitle = "Ball {name}"\n[[contact]]\nrestitution = {restitution}\n'
        (folder / name / "scenario.toml").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_newcomer_begins_runs_cancels_and_compares(page: Page) -> None:
    """Begin, run, watch, cancel; change one parameter, run twice, compare the two runs."""
    page.go()
    page.find("p", "No run yet")
    page.find("summary", "New scenario").click()
    page.find("form.new button").click()
    page.find("h1", "my.toml")
    page.find(".checked", "A scenario of the kind bodies")
    long = (
        starter("bodies")
        .replace("step_size = 0.002", "step_size = 1e-5")
        .replace("until = 1.0", "until = 90.0")
    )
    page.type_into(long)
    page.find(".saved", "not saved")
    page.find("button", "Save and run").click()
    page.find("h1", "Run of my.toml")
    page.find(".progress-words", "left")
    page.find(".progress-facts", "step")
    page.shoot("job-running")
    page.find("button.cancel", "Cancel").click()
    page.find(".progress-words", "It was interrupted; what there is was kept.")
    page.find("pre.log", "The run was interrupted: what there is was kept.")
    page.shoot("job-cancelled")
    assert len(read(page.folder / "my-1")) > 1
    for restitution, folder in ((0.7, "my-2"), (0.9, "my-3")):
        page.find("a.button", "Edit the scenario again").click()
        page.find("textarea")
        page.type_into(starter("bodies").replace("restitution = 0.7", f"restitution = {restitution}"))
        assert page.driver.execute_script("return document.querySelector('.run-form input').value") == folder
        page.find("button", "Save and run").click()
        page.find(".progress-words", "It is complete.")
    page.find("a.button", "Compare with my-2").click()
    page.find("h1", "Two runs compared")
    page.shoot("compare-wide-light")
    row = page.find('[aria-label="Parameters that differ"] tbody tr')
    assert row.text == "contact 1.restitution 0.7 0.9"
    assert page.find('[aria-label="Energy ledgers of both runs"]', "lost in impacts")
    assert page.find('canvas[aria-label^="Histories of both runs: positions"]')
    assert page.find(".legend", "(A)") and page.find(".legend", "(B)")
    page.go("#/")
    page.find(".entry .sentence", "The run was interrupted at")
    page.shoot("list-wide-light")


def test_two_runs_are_chosen_and_compared(page: Page) -> None:
    store_balls(page.folder)
    page.go()
    for box in page.driver.find_elements(By.CSS_SELECTOR, ".choose input"):
        box.click()
    page.find(".compare-bar a", "Compare the two").click()
    page.find("h1", "Two runs compared")
    assert page.find('[aria-label="Parameters that differ"]', "restitution")
    select = Select(page.find(".controls select"))
    for quantity in ("velocities", "gaps", "energies", "positions"):
        select.select_by_visible_text(quantity)
        page.find(f'canvas[aria-label="Histories of both runs: {quantity}. ' + KEYS + '"]')
    canvas = page.find('canvas[aria-label^="Histories of both runs"]')
    canvas.send_keys(Keys.ARROW_RIGHT)
    spoken = canvas.find_element(By.XPATH, "ancestor::div[@class='plot']/following-sibling::output")
    assert "(A)" in spoken.get_attribute("textContent") and "(B)" in spoken.get_attribute("textContent")
    before = len(page.driver.find_elements(By.CSS_SELECTOR, '[aria-label="Numbers of both runs"] tr'))
    page.find("label", "equal to nine digits").click()
    rows = page.driver.find_elements(By.CSS_SELECTOR, '[aria-label="Numbers of both runs"] tr')
    assert len(rows) > before


KEYS = "Arrow keys move the cursor, shift and arrows move the window, plus and minus zoom, 0 shows all."


def test_a_run_opens_in_a_sandbox_and_plays(page: Page) -> None:
    store_balls(page.folder)
    page.go("#/run?path=firm")
    frame = page.find("iframe")
    assert "allow-same-origin" not in frame.get_attribute("sandbox")
    page.driver.switch_to.frame(frame)
    page.find("h1", "Ball firm")
    play = page.find("button.play", "Play")
    play.click()
    page.find("button.play", "Pause")
    assert page.driver.execute_script("return window.origin") == "null"
    page.driver.switch_to.default_content()
    page.find(".pair button", "Compare").click()
    page.find("h1", "Two runs compared")


def test_a_hostile_page_can_do_nothing(page: Page) -> None:
    (page.folder / "evil").mkdir()
    (page.folder / "evil" / "result.json").write_text("{}", encoding="utf-8")
    script = (
        "try { parent.document.title = 'stolen'; } catch (e) { document.body.append('shut out; '); }"
        "fetch('/').then(() => document.body.append('reached'), () => document.body.append('no network'));"
    )
    (page.folder / "evil" / "report.html").write_text(
        f"<!DOCTYPE html><title>x</title><body><script>{script}</script>", encoding="utf-8"
    )
    page.go("#/")
    source = page.driver.execute_async_script(
        "const done = arguments[0];"
        "fetch('api/run?path=evil').then((r) => r.json()).then((run) => done(run.pages[0].address));"
    )
    page.driver.execute_script(
        "const f = document.createElement('iframe'); f.src = arguments[0]; document.body.append(f);", source
    )
    page.driver.switch_to.frame(page.find("iframe"))
    page.find("body", "shut out; no network")
    page.driver.switch_to.default_content()
    assert "stolen" not in page.driver.title
    page.driver.get_log("browser")  # the browser tells that it forbade both


def test_mistakes_are_told_while_they_are_written(page: Page) -> None:
    (page.folder / "my.toml").write_text(starter("bodies"), encoding="utf-8")
    page.go("#/scenario?path=my.toml")
    page.type_into(starter("bodies").replace("restitution = 0.7", "restitution = 1.7"))
    told = page.find(".checked", "contact 1.restitution is 1.7; allowed are numbers from 0 to 1.")
    told.find_element(By.TAG_NAME, "button").click()
    chosen = page.driver.execute_script(
        "const f = document.querySelector('textarea'); return f.value.slice(f.selectionStart, f.selectionEnd)"
    )
    assert chosen.startswith("restitution = 1.7")
    page.shoot("mistake")
    page.type_into(starter("bodies").replace("restitution = 0.7", "restitution = 0.6"))
    page.find(".checked", "A scenario of the kind bodies")
    page.find("textarea").send_keys(Keys.CONTROL, "s")
    page.find(".saved[data-kind='saved']", "saved")
    assert "restitution = 0.6" in (page.folder / "my.toml").read_text(encoding="utf-8")


def test_a_draft_survives_and_a_change_on_disk_is_noticed(page: Page) -> None:
    (page.folder / "my.toml").write_text(starter("linear"), encoding="utf-8")
    page.go("#/scenario?path=my.toml")
    page.type_into("# mine\n")
    page.find(".brand").click()
    page.find("h1", "Runs and scenarios")
    page.find(".entry a.button", "Edit and run").click()
    page.find(".saved", "not saved")
    assert page.driver.execute_script("return document.querySelector('textarea').value") == "# mine\n"
    (page.folder / "my.toml").write_text("# theirs\n", encoding="utf-8")
    page.find(".toolbar button", "Save").click()
    page.find(".verdict.failed", "was changed by another program")
    page.driver.get_log("browser")  # the browser notes the status 409
    assert (page.folder / "my.toml").read_text(encoding="utf-8") == "# theirs\n"
    page.find("button", "Take the one on the disk").click()
    page.find(".saved[data-kind='saved']", "saved")
    assert page.driver.execute_script("return document.querySelector('textarea').value") == "# theirs\n"


def test_a_study_is_a_map_that_tells_its_points(page: Page) -> None:
    over = {"x": [0.0, 0.25, 0.5, 0.75], "y": [1.0, 2.0, 3.0]}
    made = klapper.study(square, over=over, outputs=["value", "side"], store=page.folder / "squares")
    made.run(workers=1, progress=False)
    page.go("#/")
    page.find(".entry a.title", "Points of").click()
    page.find(".verdict", "12 points done.")
    canvas = page.find('canvas[aria-label^="Map of value over x and y"]')
    canvas.send_keys(Keys.ARROW_RIGHT)
    spoken = canvas.find_element(By.XPATH, "ancestor::div[@class='plot']/following-sibling::output")
    told = dict(part.split(": ") for part in spoken.get_attribute("textContent").split("; "))
    assert float(told["value"]) == float(told["x"]) ** 2 + float(told["y"])
    Select(page.find(".controls select")).select_by_visible_text("side")
    page.find('canvas[aria-label^="Map of side over x and y"]')
    assert page.find(".map-legend").text.split("\n") == ["1 left", "2 right"]
    page.find("summary", "The points as a table").click()
    assert (
        len(page.driver.find_elements(By.CSS_SELECTOR, '[aria-label="Points of the study"] tbody tr')) == 12
    )
    page.shoot("study")


def test_everything_can_be_reached_with_the_keyboard(page: Page) -> None:
    store_balls(page.folder)
    (page.folder / "my.toml").write_text(starter("linear"), encoding="utf-8")
    page.go()
    page.find(".entry a.title", "Ball firm")
    seen = []
    for _ in range(40):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        words = page.driver.execute_script(
            "const e = document.activeElement;"
            "return e.getAttribute('aria-label') || (e.labels && e.labels[0]?.textContent) || e.textContent"
        )
        seen.append(words.strip())
    for wanted in (
        "Find",
        "Ball firm",
        "compare firm",
        "Edit and run my.toml",
        "New scenario from a commented starter",
    ):
        assert any(wanted in words for words in seen), (wanted, seen)
    assert all(seen[:10])


def unnamed(driver: Any) -> list[str]:
    """Controls, pictures and frames without a name for a screen reader."""
    return list(
        driver.execute_script(
            "return [...document.querySelectorAll('button, a, input, select, textarea, iframe, img, progress, canvas')]"
            ".filter((e) => e.checkVisibility() && e.getAttribute('aria-hidden') !== 'true')"
            ".filter((e) => !(e.getAttribute('aria-label') || e.title || e.alt || e.textContent.trim()"
            " || (e.labels && e.labels.length))).map((e) => e.outerHTML.slice(0, 120))"
        )
    )


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (390, False), (390, True)])
def test_it_fits_and_is_named_in_every_view(page: Page, width: int, dark: bool) -> None:
    store_balls(page.folder)
    (page.folder / "my.toml").write_text(starter("bodies"), encoding="utf-8")
    routes = {
        "list": "#/",
        "compare": "#/compare?a=firm&b=soft",
        "scenario": "#/scenario?path=my.toml",
        "run": "#/run?path=firm",
        "nothing": "#/run?path=nothing",
    }
    for name, route in routes.items():
        page.go(route, width=width, dark=dark)
        page.find("h1", "This cannot be shown" if name == "nothing" else "")
        assert page.overflow() <= 0, name
        assert unnamed(page.driver) == [], name
        assert len(page.driver.find_elements(By.TAG_NAME, "h1")) == 1
        shade = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (shade == "rgb(20, 24, 28)") is dark
        page.shoot(f"{name}-{width}-{'dark' if dark else 'light'}")
    page.driver.get_log("browser")  # the browser notes the status 404
