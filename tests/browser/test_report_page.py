"""The page of a run in a real browser: it plays, scrubs, zooms, tells what is pointed at, and runs nothing foreign."""

import base64
import csv
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from klapper.report import Scene, Shape, disc, frame_times, moved, write_report
from klapper.results import Layout, Run
from results.motions import GRAVITY, bouncing_ball, braked_block, driven_oscillator, run_of_states

NASTY = "</script><img src=x onerror=alert(1)><b>'\"&amp;"
FALL = np.sqrt(2 / GRAVITY)


@pytest.fixture(scope="module")
def ball_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = bouncing_ball()
    when = frame_times(run)
    height = run.position_at(when)[:, 0]
    floor = Shape("floor", [[[-0.5, 0.0], [0.5, 0.0]]], "line", faint=True)
    ball = Shape("ball", moved(disc(0.1), 0.0, height + 0.1))
    return write_report(run, tmp_path_factory.mktemp("pages") / "ball.html", scene=Scene(when, [floor, ball]))


@pytest.fixture(scope="module")
def block_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(braked_block(), tmp_path_factory.mktemp("pages") / "block.html")


def panel(page: Any, label: str) -> Any:
    return page.find_element(By.CSS_SELECTOR, f'canvas[aria-label^="{label}"]')


def point_at(page: Any, canvas: Any, x: float, y: float) -> str:
    """Move the mouse to (x, y) [px] of a canvas and read its tip."""
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    size = canvas.size
    ActionChains(page).move_to_element_with_offset(
        canvas, round(x - size["width"] / 2), round(y - size["height"] / 2)
    ).perform()
    tip = canvas.find_element(By.XPATH, "following-sibling::div[@class='tip']")
    WebDriverWait(page, 5).until(lambda _: tip.is_displayed())
    return str(tip.text)


def placed(canvas: Any) -> dict[str, float]:
    """Where the axes of a panel are [px]."""
    return {name: float(canvas.get_attribute(f"data-{name}")) for name in ("left", "top", "width")}


def pixels(page: Any, canvas: Any) -> np.ndarray:
    """The drawing of a canvas (h, w, 4)."""
    address = page.execute_script("return arguments[0].toDataURL()", canvas)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(address.split(",", 1)[1]))))


def base_of(canvas: Any) -> Any:
    return canvas.find_element(By.XPATH, "preceding-sibling::canvas")


def ball_height(page: Any) -> float:
    """Where the ball is drawn [px from the top]: the middle of the rows with its fill."""
    picture = pixels(page, page.find_element(By.CSS_SELECTOR, ".stage canvas"))
    filled = (picture[..., 3] > 60) & (picture[..., 2] > picture[..., 0].astype(int) + 60)
    return float(np.mean(np.flatnonzero(filled.any(axis=1))))


def test_it_plays_and_pauses(open_page: Callable[..., Any], ball_page: Path) -> None:
    page = open_page(ball_page)
    button = page.find_element(By.CSS_SELECTOR, "button.play")
    clock = page.find_element(By.CSS_SELECTOR, ".clock")
    assert (button.text, clock.text) == ("Play", "0 s")
    Select(page.find_element(By.CSS_SELECTOR, ".speed select")).select_by_visible_text("whole run in 2 s")
    button.click()
    assert button.text == "Pause"
    WebDriverWait(page, 10).until(lambda _: float(clock.text.split()[0]) > 0.3)
    button.click()
    stopped = clock.text
    time.sleep(0.2)
    assert clock.text == stopped
    button.send_keys(Keys.SPACE)
    WebDriverWait(page, 20).until(lambda _: button.text == "Play")
    assert clock.text == "3 s"


def test_scrubbing_puts_the_ball_where_it_was(open_page: Callable[..., Any], ball_page: Path) -> None:
    page = open_page(ball_page)
    scrub = page.find_element(By.CSS_SELECTOR, 'input[aria-label="Time of the animation"]')
    set_to = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    top = ball_height(page)
    page.execute_script(set_to, scrub, str(round(1000 * FALL / 3)))
    low = ball_height(page)
    page.execute_script(set_to, scrub, str(round(1000 * (FALL + 0.8 * FALL) / 3)))
    again = ball_height(page)
    assert (low - again) / (low - top) == pytest.approx(0.64, abs=0.02)  # e² of the first height
    scrub.send_keys(Keys.END)
    assert page.find_element(By.CSS_SELECTOR, ".clock").text == "3 s"


def test_an_impact_tells_its_impulse(open_page: Callable[..., Any], ball_page: Path) -> None:
    page = open_page(ball_page)
    canvas = panel(page, "States of the contacts")
    place, row = placed(canvas), float(canvas.get_attribute("data-row"))
    impact = np.ceil(FALL * 200) / 200  # told at the end of its interval
    words = point_at(page, canvas, place["left"] + place["width"] * impact / 3, place["top"] + row / 2)
    assert words.splitlines()[0] == f"floor: impact at {impact:g} s"
    impulse = float(words.splitlines()[1].removeprefix("normal impulse ").removesuffix(" N s"))
    assert impulse == pytest.approx(2.0 * 1.8 * GRAVITY * FALL, rel=1e-4)
    words = point_at(page, canvas, place["left"] + place["width"] * 0.25, place["top"] + row / 2)
    assert words.startswith("floor: open\nfrom ")


def test_keys_go_from_impact_to_impact_and_are_spoken(open_page: Callable[..., Any], ball_page: Path) -> None:
    page = open_page(ball_page)
    canvas = panel(page, "States of the contacts")
    spoken = canvas.find_element(By.XPATH, "../following-sibling::output")
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert "floor: open" in spoken.get_property("textContent")
    seen = []
    for _ in range(3):
        canvas.send_keys(Keys.ARROW_RIGHT)
        seen.append(spoken.get_property("textContent"))
    assert any("floor: impact at 0.455 s" in words for words in seen)
    canvas.send_keys("+")
    fields = page.find_elements(By.CSS_SELECTOR, "#window input")
    assert float(fields[1].get_property("value")) - float(fields[0].get_property("value")) == pytest.approx(
        1.5
    )
    canvas.send_keys("0")
    assert [float(field.get_property("value")) for field in fields] == [0.0, 3.0]


def test_pointing_at_a_line_tells_its_value(open_page: Callable[..., Any], ball_page: Path) -> None:
    page = open_page(ball_page)
    canvas = panel(page, "Time histories")
    place = placed(canvas)
    words = point_at(page, canvas, place["left"] + place["width"] * 0.1, 100).splitlines()
    assert float(words[0].removeprefix("time ").removesuffix(" s")) == pytest.approx(0.3, abs=0.005)
    height = float(words[1].removeprefix("ball y: "))
    assert height == pytest.approx(1 - GRAVITY * 0.3**2 / 2, abs=0.02)


def test_dragging_zooms_all_plots_over_time(open_page: Callable[..., Any], ball_page: Path) -> None:
    page = open_page(ball_page)
    canvas, gaps = panel(page, "Time histories"), panel(page, "Gaps")
    before = pixels(page, base_of(gaps))
    place = placed(canvas)
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    start = round(place["left"] + place["width"] / 3 - canvas.size["width"] / 2)
    ActionChains(page).move_to_element_with_offset(canvas, start, 0).click_and_hold().move_by_offset(
        round(place["width"] / 3), 20
    ).release().perform()
    fields = page.find_elements(By.CSS_SELECTOR, "#window input")
    low, high = (float(field.get_property("value")) for field in fields)
    assert (low, high) == (pytest.approx(1.0, abs=0.01), pytest.approx(2.0, abs=0.01))
    WebDriverWait(page, 5).until(lambda _: not np.array_equal(pixels(page, base_of(gaps)), before))
    ActionChains(page).double_click(canvas).perform()
    WebDriverWait(page, 5).until(lambda _: np.array_equal(pixels(page, base_of(gaps)), before))
    fields[1].clear()
    fields[1].send_keys("1.5", Keys.ENTER)
    assert float(fields[1].get_property("value")) == 1.5


def test_a_reader_chooses_coordinates_and_directions(open_page: Callable[..., Any], block_page: Path) -> None:
    page = open_page(block_page)

    def legend() -> list[str]:  # in one go, as it may be drawn anew meanwhile
        keys = "[...document.querySelectorAll('#histories .legend .key')]"
        return list(page.execute_script(f"return {keys}.map((key) => key.innerText.trim())"))

    WebDriverWait(page, 5).until(lambda _: legend() == ["block x", "block y"])
    page.find_element(By.CSS_SELECTOR, "#histories .chip input").click()
    WebDriverWait(page, 5).until(lambda _: legend() == ["block y"])
    before = pixels(page, base_of(panel(page, "Forces")))
    Select(page.find_element(By.CSS_SELECTOR, "#contacts select")).select_by_visible_text("tangential")
    WebDriverWait(page, 5).until(
        lambda _: not np.array_equal(pixels(page, base_of(panel(page, "Forces"))), before)
    )
    words = point_at(page, panel(page, "Forces"), 200, 60)
    assert float(words.splitlines()[1].removeprefix("floor: ").replace("−", "-")) == pytest.approx(
        -0.3 * 3 * GRAVITY, rel=1e-4
    )


def test_the_phase_portrait_turns_to_another_coordinate(
    open_page: Callable[..., Any], block_page: Path
) -> None:
    page = open_page(block_page)
    canvas = panel(page, "Phase portrait")
    words = point_at(page, canvas, 120, 30)
    assert words.startswith("block x ")
    Select(page.find_element(By.CSS_SELECTOR, "#phase select")).select_by_visible_text("block y")
    assert point_at(page, canvas, 200, 90).startswith("block y ")


def test_the_downloaded_data_are_those_of_the_run(open_page: Callable[..., Any], block_page: Path) -> None:
    page = open_page(block_page)
    button = page.find_element(By.ID, "download")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    file = page.downloads / "block.csv"
    WebDriverWait(page, 10).until(lambda _: file.exists() and file.stat().st_size > 0)
    rows = list(csv.reader(file.read_text().splitlines()))
    run = braked_block()
    assert rows[0][:3] == ["time / s", "position block x / m or rad", "position block y / m or rad"]
    assert len(rows) == 1 + len(run)
    columns = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))
    np.testing.assert_array_equal(np.array(columns["time / s"], dtype=float), run.time)
    np.testing.assert_allclose(
        np.array(columns["position block x / m or rad"], dtype=float), run.position[:, 0], rtol=1e-7
    )
    force = columns["tangential force floor / N"]
    assert force[0] == ""  # no interval before the first sample
    np.testing.assert_allclose(np.array(force[1:], dtype=float), run.force[1:, 0, 1], rtol=1e-7)
    assert columns["state floor"][-1] == "stick"


def test_hostile_names_are_shown_and_do_nothing(open_page: Callable[..., Any], tmp_path: Path) -> None:
    run = bouncing_ball(count=41)
    attack = Run(
        Layout((NASTY,), (NASTY,), (NASTY,), 0), run.samples, {"system": NASTY, "audit": {NASTY: NASTY}}
    )
    page = open_page(write_report(attack, tmp_path / "x.html", title=NASTY, text=NASTY))
    assert page.find_element(By.TAG_NAME, "h1").text == NASTY
    assert page.find_elements(By.TAG_NAME, "img") == []
    canvas = panel(page, "States of the contacts")
    assert point_at(page, canvas, 300, 20).startswith(NASTY)
    assert page.find_element(By.CSS_SELECTOR, ".legend .key").text == NASTY


def test_a_foreign_script_is_refused(open_page: Callable[..., Any], tmp_path: Path) -> None:
    """Even if something slipped through, the policy of the page would stop it."""
    file = write_report(bouncing_ball(count=41), tmp_path / "x.html")
    file.write_text(file.read_text().replace("<main>", "<main><script>document.title = 'taken'</script>"))
    page = open_page(file)
    assert page.title == "bouncing ball · klapper"
    (complaint,) = page.get_log("browser")
    assert "Content Security Policy" in complaint["message"]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_the_screen_and_can_be_read(
    open_page: Callable[..., Any], ball_page: Path, width: int, dark: bool, tmp_path: Path
) -> None:
    page = open_page(ball_page, width=width, dark=dark)
    picture = tmp_path / "page.png"  # kept by pytest, to be looked at
    assert page.save_screenshot(str(picture))
    assert (np.asarray(Image.open(picture).convert("L")).mean() < 100) == dark
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    canvas = base_of(panel(page, "Time histories"))
    assert canvas.size["width"] <= width
    assert np.unique(pixels(page, canvas).reshape(-1, 4), axis=0).shape[0] > 20
    contrasts = page.execute_script(CONTRAST)
    assert contrasts
    assert min(contrasts.values()) >= 4.5, contrasts  # WCAG 2.2, 1.4.3 (AA)


CONTRAST = """
const style = getComputedStyle(document.documentElement);
const light = (name) => {
  const digits = style.getPropertyValue(name).trim().slice(1);
  const parts = [0, 2, 4].map((k) => parseInt(digits.slice(k, k + 2), 16) / 255);
  const linear = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const found = {};
for (const [ink, paper] of [["--ink", "--paper"], ["--soft", "--paper"], ["--link", "--paper"],
  ["--good", "--good-panel"], ["--bad", "--bad-panel"], ["--warn", "--warn-panel"], ["--soft", "--good-panel"],
  ["--soft", "--bad-panel"], ["--soft", "--warn-panel"], ["--soft", "--panel"], ["--ink", "--panel"]]) {
  const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
  found[`${ink} on ${paper}`] = (a + 0.05) / (b + 0.05);
}
return found;
"""


def test_everything_can_be_reached_by_tab_and_has_a_name(
    open_page: Callable[..., Any], block_page: Path
) -> None:
    page = open_page(block_page)
    nameless = page.execute_script(
        """return [...document.querySelectorAll("button, input, select, canvas[tabindex]")]
        .filter((one) => !one.ariaLabel && !one.textContent.trim() && !(one.labels && one.labels.length))
        .map((one) => one.outerHTML)"""
    )
    assert nameless == []
    wanted = page.execute_script(
        'return document.querySelectorAll("button, input, select, [tabindex]").length'
    )
    page.execute_script("window.reached = new Set(); document.body.focus()")
    for _ in range(wanted):
        ActionChains(page).send_keys(Keys.TAB).perform()
        page.execute_script("window.reached.add(document.activeElement)")
    assert page.execute_script("return window.reached.size") == wanted


def test_meshes_are_coloured_and_beams_exaggerated(open_page: Callable[..., Any], tmp_path: Path) -> None:
    when = np.linspace(0.0, 1.0, 11)
    x, y = np.meshgrid(np.arange(5.0), np.arange(2.0))
    rest = np.column_stack([x.ravel(), y.ravel()])
    bend = np.zeros((11, 10, 2))
    bend[:, :, 1] = 0.01 * np.sin(2 * np.pi * when)[:, None] * rest[:, 0] ** 2
    cells = np.array([[i, i + 1, i + 6, i + 5] for i in range(4)])
    value = np.abs(np.sin(2 * np.pi * when))[:, None] * (4.0 - np.arange(4.0))
    mesh = Shape("beam", rest + bend, cells=cells, value=value, rest=rest)
    scene = Scene(when, [mesh], quantity="stress / N/m²", exaggeration=5.0)
    page = open_page(write_report(driven_oscillator(), tmp_path / "mesh.html", scene=scene))
    stage = page.find_element(By.CSS_SELECTOR, ".stage canvas")
    scrub = page.find_element(By.CSS_SELECTOR, 'input[aria-label="Time of the animation"]')
    set_to = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    page.execute_script(set_to, scrub, "250")
    colours = {tuple(colour[:3]) for colour in pixels(page, stage).reshape(-1, 4).tolist()}
    assert (253, 231, 37) in colours  # the root has the largest stress
    assert "stress / N/m²" in page.find_element(By.CSS_SELECTOR, ".colour-bar").text
    slider = page.find_element(By.CSS_SELECTOR, ".exaggeration input")
    assert page.find_element(By.CSS_SELECTOR, ".exaggeration output").text == "× 5"
    before = pixels(page, stage)
    page.execute_script(set_to, slider, "0")
    assert page.find_element(By.CSS_SELECTOR, ".exaggeration output").text == "× 1"
    assert before.shape != pixels(page, stage).shape or not np.array_equal(before, pixels(page, stage))


def test_runs_of_every_shape_open(open_page: Callable[..., Any], tmp_path: Path) -> None:
    many = run_of_states(np.random.default_rng(0).integers(0, 4, (50, 30)), tangential=2)
    for count in (0, 1, 50):
        page = open_page(write_report(Run(many.layout, many.samples[:count]), tmp_path / "many.html"))
        assert page.find_element(By.TAG_NAME, "h1").text == "A run"
        assert page.get_log("browser") == []
