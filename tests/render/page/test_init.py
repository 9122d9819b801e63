"""The page in a real browser: it asks for nothing, runs only its own script, and shows what the capture holds."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from timelines import EVENTS, HOSTILE, event, made

from traceview import store
from traceview.analysis import certainty, compare, page
from traceview.analysis.model import Column, Look, Page, Report, Section
from traceview.experiments import results
from traceview.experiments.algorithms.layers import parse
from traceview.render.page import render

FAR = 6_000_000
"""Microseconds: more than 32 bits hold as nanoseconds."""
RUN = [
    *EVENTS,
    event("kernel", "late_kernel", FAR, 500, 1, device=0, stream=1, correlation=77),
    event("kernel", "short_kernel", FAR + 1000, 1, 9, device=0, stream=9, correlation=78),
    event("kernel", "long_kernel", FAR + 1001, 500_000, 9, device=0, stream=9, correlation=79),
]
LATE = [event("user_annotation", "ProfilerStep#3", -100, 4200), *(each for at in range(0, 4000, 400) for each in (
    event("cpu_op", "aten::relu", at, 100, **{"External id": at + 5}),
    event("cuda_runtime", "cudaLaunchKernel", at + 50, 5, correlation=at + 5),
    event("kernel", "relu", at + 60, 20, 1, device=0, stream=1, correlation=at + 5, grid=[1, 1, 1]),
))]  # fmt: skip
"""A step that launches late before one operator."""
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a built run whose names attack it."""
    folder = tmp_path_factory.mktemp("page")
    with made(folder, RUN) as connection:
        (folder / "run.html").write_text(
            render(page.gather(connection, HOSTILE, 1000, steps="all"), "0.1.0"), encoding="utf-8"
        )
    return folder / "run.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium, if this machine has one."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not path:
        warnings.warn("no Chromium is installed: tests of the page in a browser are skipped", stacklevel=1)
        pytest.skip("no Chromium is installed (Debian: chromium-headless-shell)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


class Opened:
    """A page in the browser with all it said and asked for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self.tab = browser.new_page(**options)
        self.tab.on("console", lambda message: self.said.append(message.text))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.goto(path.as_uri())


def _drawn(browser: Any, html: Path) -> Opened:
    found = Opened(browser, html, viewport={"width": 1100, "height": 800})
    found.tab.wait_for_selector("canvas[data-ready]")
    return found


@pytest.fixture(scope="module")
def opened(browser: Any, html: Path) -> Opened:
    return _drawn(browser, html)


def _slices(tab: Any) -> dict[str, tuple[float, float]]:
    got = tab.evaluate("""() => { const { col, texts } = traceview; return Array.from(col.name, (name, i) =>
        [texts[name - 1], col.start_ns[i], col.dur_ns[i]]) }""")
    return {name: (start, length) for name, start, length in got}


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.append(tag)


@pytest.mark.slow
def test_names_that_attack_are_text(html: Path) -> None:
    parser = _Texts()
    text = html.read_text(encoding="utf-8")
    parser.feed(text)
    assert parser.tags.count("script") == 3 and parser.tags.count("style") == 1
    assert not {"img", "link", "iframe", "object", "base", "form"} & set(parser.tags)
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", text)
    assert not any(ord(letter) < 32 and letter != "\n" for letter in text)


@pytest.mark.slow
def test_a_finding_has_the_numbers_of_advice(tmp_path: Path) -> None:
    """As exact as it is sure."""
    with made(tmp_path, LATE) as connection:
        found = page.gather(connection, "late", 1000)
    text = unescape(render(found, "0.1.0"))
    told = [each for each in found.findings if each.status == "found"]
    assert any(certainty.said(each, line) != line for each in told for line in (each.problem, *each.evidence))
    assert all(certainty.said(each, line) in text for each in told for line in (each.problem, *each.evidence))


def test_it_asks_for_nothing_and_says_nothing(browser: Any, html: Path) -> None:
    """On a page of its own: the browser warns of tests that read what was drawn."""
    opened = _drawn(browser, html)
    assert opened.said == []
    assert len(opened.asked) == 1


def test_a_script_of_another_is_not_run(browser: Any, html: Path, tmp_path: Path) -> None:
    text = html.read_text(encoding="utf-8")
    attacked = text.replace("</body>", "<script>document.title = 'taken'</script></body>")
    (tmp_path / "attacked.html").write_text(attacked, encoding="utf-8")
    found = Opened(browser, tmp_path / "attacked.html")
    assert found.tab.title() != "taken" and any("Content Security Policy" in line for line in found.said)


def test_slices_have_their_times_also_beyond_32_bits(opened: Opened) -> None:
    slices = _slices(opened.tab)
    assert slices["late_kernel"] == ((FAR + 100) * 1000, 500_000)
    assert slices["implicit_convolve_sgemm"] == (150_000, 40_000)


@pytest.mark.slow
def test_slices_of_more_than_four_seconds_have_their_length(browser: Any, tmp_path: Path) -> None:
    """Lengths that 32 bits do not hold make those of all slices wider."""
    with made(tmp_path, [event("kernel", "hours", 0, 5_000_000, 1, device=0, stream=1, correlation=1), *EVENTS]) as it:
        (tmp_path / "hours.html").write_text(render(page.gather(it, "hours", 1000), "1"), encoding="utf-8")
    tab = _drawn(browser, tmp_path / "hours.html").tab
    slices = _slices(tab)
    assert slices["hours"][1] == 5_000_000_000 and slices["implicit_convolve_sgemm"][1] == 40_000
    assert tab.evaluate("traceview.col.dur_ns.constructor.name") == "Float64Array"
    tab.close()


def test_what_only_a_click_asks_for_is_read_at_the_click(fresh: Any) -> None:
    """Columns of launches, partners and details are the same numbers whenever they are asked for."""
    waits = "Object.keys(Object.getOwnPropertyDescriptors(traceview.col)).filter((name) =>" \
            " Object.getOwnPropertyDescriptor(traceview.col, name).get)"  # fmt: skip
    assert set(fresh.evaluate(waits)) >= {"launch", "partner", "detail", "layer", "op"}
    _click(fresh, "implicit_convolve_sgemm")
    launch = fresh.evaluate("[...traceview.col.launch]")
    assert launch == fresh.evaluate("[...traceview.col.launch]") and sum(map(bool, launch)) == 2


def test_what_began_left_of_the_view_is_drawn(opened: Opened) -> None:
    """The step lasts 400 us from 0: a view that starts inside of it still shows its colour on its row."""
    colour = """() => { const { show, paint, rows } = traceview; show(200e3, 100e3); paint();
        const row = rows.find((each) => each.label === 'steps'), ratio = window.devicePixelRatio;
        return [...document.getElementById('canvas').getContext('2d').getImageData(
            300 * ratio, (row.y + 22 + 12) * ratio, 1, 1).data].slice(0, 3) }"""
    assert opened.tab.evaluate(colour) == [119, 119, 119]


def test_what_begins_in_the_pixel_of_something_short_is_drawn(opened: Opened) -> None:
    opacity = """() => { const { col, texts, show, paint, rows, view } = traceview; show(0, view.end); paint();
        const row = rows.find((each) => each.label === 'stream 9'), ratio = window.devicePixelRatio;
        const long = row.ids.find((i) => texts[col.name[i] - 1] === 'long_kernel');
        const x = (col.start_ns[long] + col.dur_ns[long] / 2) / view.end * document.getElementById('stage').clientWidth;
        return document.getElementById('canvas').getContext('2d').getImageData(
            x * ratio, (row.y + 22 + 3) * ratio, 1, 1).data[3] }"""
    assert opened.tab.evaluate(opacity) == 255


def test_find_zoom_and_keys(opened: Opened) -> None:
    tab = opened.tab
    tab.fill("#find", "late_")
    assert tab.inner_text("#found") == "1 slice"
    tab.click("#next")
    view = tab.evaluate("() => traceview.view")
    assert view["from"] <= (FAR + 100) * 1000 <= view["from"] + view["span"] and view["span"] == 4_000_000
    assert tab.inner_text("#told").startswith("late_kernel\nstart 6.000 s, duration 500.0 us")
    tab.fill("#find", "")
    tab.focus("#canvas")
    for key, test in (("0", "span === view.end"), ("+", "span < view.end"), ("ArrowRight", "from > 0")):
        tab.keyboard.press(key)
        assert tab.evaluate(f"() => {{ const view = traceview.view, {{ from, span }} = view; return {test} }}"), key


PLACE = """(name) => { const { rows, col, texts, view } = traceview, stage = document.getElementById('stage');
    for (const row of rows) for (const i of row.ids) if (texts[col.name[i] - 1] === name
        && (name === 'step 3' || !row.group.endsWith('traceview'))) return {
        i, y: row.y + 22 + 8 - stage.scrollTop, from: col.start_ns[i], until: col.start_ns[i] + col.dur_ns[i],
        x: (col.start_ns[i] + col.dur_ns[i] / 2 - view.from) / view.span * stage.clientWidth } }"""
"""Place in the canvas and times of the first slice of a name."""


@pytest.fixture
def fresh(browser: Any, html: Path) -> Iterator[Any]:
    """Yield a tab of its own, at the step of 400 us."""
    tab = _drawn(browser, html).tab
    tab.evaluate("traceview.show(0, 400e3)")
    yield tab
    tab.close()


def _drag(tab: Any, from_x: float, to_x: float, y: float = 100) -> None:
    tab.locator("#canvas").scroll_into_view_if_needed()
    box = tab.locator("#canvas").bounding_box()
    tab.mouse.move(box["x"] + from_x, box["y"] + y)
    tab.mouse.down()
    tab.mouse.move(box["x"] + to_x, box["y"] + y, steps=3)
    tab.mouse.up()


def _click(tab: Any, name: str) -> dict[str, Any]:
    tab.locator("#canvas").scroll_into_view_if_needed()
    place: dict[str, Any] = tab.evaluate(PLACE, name)
    tab.locator("#canvas").click(position={"x": place["x"], "y": place["y"]})
    return place


def test_a_range_gives_its_account(fresh: Any) -> None:
    """Convolution takes 60 us of the step, overlaps once, and the copy 10; causes of idle time fill the rest."""
    step = fresh.evaluate(PLACE, "step 3")
    account = fresh.evaluate(f"traceview.accountOf({step['from']}, {step['until']})")
    assert account["length"] == 400_000 and account["active"] == [["rank 0 GPU 0", 70_000]]
    assert {each["name"]: each["ns"] for each in account["categories"]} == {"conv": 60_000, "memcpy_htod": 10_000}
    assert sum(each["ns"] for each in account["idle"]) == 330_000
    assert account["names"][0] == {"name": "implicit_convolve_sgemm", "ns": 40_000, "n": 1}
    # Half of a kernel counts as half.
    kernel = fresh.evaluate(PLACE, "implicit_convolve_sgemm")
    half = fresh.evaluate(f"traceview.accountOf({kernel['from']}, {kernel['from'] + 20_000})")
    assert half["active"] == [["rank 0 GPU 0", 20_000]] and half["idle"] == []


def test_dragging_selects_and_shift_moves(fresh: Any) -> None:
    width = fresh.evaluate("document.getElementById('stage').clientWidth")
    _drag(fresh, 0.25 * width, 0.75 * width)
    first, last = fresh.evaluate("traceview.view.range")
    assert first == pytest.approx(100e3, abs=1e3) and last == pytest.approx(300e3, abs=1e3)
    text = fresh.inner_text("#account")
    assert text.startswith("Selected: 200.") and "memcpy_htod" in text and "implicit_convolve_sgemm" in text
    fresh.keyboard.down("Shift")
    _drag(fresh, 0.5 * width, 0.25 * width)
    fresh.keyboard.up("Shift")
    assert fresh.evaluate("traceview.view.from") == pytest.approx(100e3, abs=1e3)
    fresh.get_by_role("button", name="Clear").click()
    assert fresh.evaluate("traceview.view.range") is None and not fresh.locator("#account").is_visible()


def test_a_slice_says_all_and_its_arrow_is_followed_by_key(fresh: Any) -> None:
    _click(fresh, "implicit_convolve_sgemm")
    told = fresh.inner_text("#told")
    assert "grid 2 x 1 x 1" in told and "queued for 25.00 us after its launch" in told and "stream 1" in told
    assert (
        "aten::conv2d > aten::cudnn_convolution" in told
        and "launched in: " in told
        and "shapes [[2,3,8,8],[4,3,3,3]]" in told
    )
    fresh.keyboard.press("g")
    assert fresh.inner_text("#told").startswith("cudaLaunchKernel\n")
    fresh.keyboard.press("g")
    assert fresh.inner_text("#told").startswith("implicit_convolve_sgemm\n")
    fresh.get_by_role("button", name="Launched by cudaLaunchKernel").click()
    assert fresh.inner_text("#told").startswith("cudaLaunchKernel\n")


@pytest.mark.slow
def test_slices_are_reached_by_keyboard(fresh: Any) -> None:
    fresh.focus("#canvas")
    names = set()
    for key in ["ArrowDown"] * 40:
        fresh.keyboard.press(key)
        names.add(fresh.inner_text("#told").partition("\n")[0])
    assert {"step 3", "implicit_convolve_sgemm", "aten::conv2d", "aten::cudnn_convolution"} <= names
    fresh.evaluate(f"traceview.choose(({PLACE})('cudaLaunchKernel').i, true)")
    first = fresh.evaluate("traceview.view.chosen")
    fresh.keyboard.press("ArrowRight")
    assert fresh.evaluate("traceview.view.chosen") > first
    fresh.keyboard.press("m")
    assert "cudaLaunchKernel" not in fresh.inner_text("#account table:first-of-type")
    fresh.keyboard.press("Escape")
    assert fresh.evaluate("traceview.view.chosen") == -1


def test_rows_of_tables_lead_to_their_slices_and_back(fresh: Any) -> None:
    fresh.locator("#overview button.link", has_text="implicit_convolve_sgemm").first.click()
    assert fresh.inner_text("#told").startswith("implicit_convolve_sgemm\n")
    # It runs on the device, and lies on the critical path.
    assert re.fullmatch(r"[12] of \d slices", fresh.inner_text("#found"))
    fresh.get_by_role("button", name="Row in: Most expensive kernels").first.click()
    assert fresh.evaluate("document.activeElement.closest('td').textContent") == "implicit_convolve_sgemm"


@pytest.mark.long
def test_findings_lead_to_their_slices_and_back(browser: Any, tmp_path: Path) -> None:
    """The name of an operator in a finding leads to it, and it leads to the finding."""
    with made(tmp_path, LATE) as connection:
        found = page.gather(connection, "late", 1000)
        (tmp_path / "late.html").write_text(render(found, "0.1.0"), encoding="utf-8")
    assert "host_bound" in {each.rule for each in found.findings if each.status == "found"}
    tab = _drawn(browser, tmp_path / "late.html").tab
    tab.locator("#advice article button.link", has_text="aten::relu").first.click()
    assert tab.inner_text("#told").startswith("aten::relu\n") and "process 70" in tab.inner_text("#told")
    tab.get_by_role("button", name=re.compile("^Finding: The device waits")).click()
    assert tab.evaluate("document.activeElement.closest('article h3, article') !== null")
    tab.close()


def test_tables_sort_and_stacks_zoom(fresh: Any) -> None:
    table = "document.querySelector('#charts svg.icicle').closest('.part').querySelector('table')"
    column = f"[...{table}.tBodies[0].rows].map((row) => row.cells[row.cells.length - 1].textContent)"
    fresh.evaluate(f"{table}.closest('details').open = true")
    before = fresh.evaluate(column)
    fresh.evaluate(f"[...{table}.tHead.rows[0].cells].at(-1).querySelector('button').click()")
    down = fresh.evaluate(column)
    fresh.evaluate(f"[...{table}.tHead.rows[0].cells].at(-1).querySelector('button').click()")
    assert sorted(before) == sorted(down) and fresh.evaluate(column) == down[::-1] != down
    widths = "[...document.querySelectorAll('svg.icicle rect')].map((each) => Number(each.getAttribute('width')))"
    whole = fresh.evaluate(widths)
    fresh.locator("svg.icicle rect").last.dispatch_event("dblclick")
    assert fresh.evaluate(widths)[-1] > 830 > whole[-1]
    fresh.locator("svg.icicle rect").last.dispatch_event("dblclick")
    assert fresh.evaluate(widths)[-1] == pytest.approx(whole[-1], abs=1)


BOXES = """[...document.querySelectorAll('svg.icicle')].map((svg) => [...svg.querySelectorAll('rect')].map((rect) =>
    [rect.querySelector('title').textContent,
     ...['x', 'y', 'width'].map((name) => Number(rect.getAttribute(name)))]))"""


def test_stacks_stand_with_the_heaviest_to_the_left_and_search_dims_the_rest(fresh: Any) -> None:
    for boxes in fresh.evaluate(BOXES):
        for level in {box[2] for box in boxes}:
            row = sorted((box for box in boxes if box[2] == level), key=lambda box: box[1])
            for one, other in pairwise(row):
                parents = [next((up[1] for up in boxes if up[2] == level - 19 and up[1] <= box[1] + 0.1
                                 < up[1] + up[3] + 0.6), None) for box in (one, other)]  # fmt: skip
                assert parents[0] != parents[1] or one[3] >= other[3]
    figure = fresh.locator("figure:has(svg.icicle)").first
    figure.get_by_role("searchbox").fill("conv2d")
    seen = """(svg) => [...svg.querySelectorAll('rect')].map((each) =>
        [each.querySelector('title').textContent, each.style.opacity])"""
    for told, opacity in figure.locator("svg").evaluate(seen):
        assert opacity == ("1" if "conv2d" in told.rpartition(": ")[0] else "0.25")


def _tab_to(tab: Any, test: str, most: int = 400) -> None:
    """Press Tab until the element that has the focus passes the test."""
    for _ in range(most):
        tab.keyboard.press("Tab")
        if tab.evaluate(f"((it) => {test})(document.activeElement)"):
            return
    raise AssertionError(f"Tab does not reach {test}")


@pytest.mark.long
def test_a_page_is_worked_by_keyboard_alone(browser: Any, html: Path) -> None:
    """From the top: a table's row, its slice, the arrow to its launch, an account, a fold; find; a stack; a sort."""
    found = _drawn(browser, html)
    tab = found.tab
    keys = tab.keyboard
    _tab_to(tab, "it.matches('#overview td button.link') && it.textContent.includes('implicit_convolve_sgemm')")
    keys.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "canvas"
    assert tab.inner_text("#told").startswith("implicit_convolve_sgemm\n")
    for _ in range(2):
        # The first match may be its part of the critical path; Find steps on to the kernel, whose launch is known.
        if "queued for" not in tab.inner_text("#told"):
            keys.press("n")
    keys.press("g")
    assert tab.inner_text("#told").startswith("cudaLaunchKernel\n")
    keys.press("m")
    assert tab.inner_text("#account").startswith("Selected: ")
    track = "traceview.tracks.filter((each) => each.folded).length"
    keys.press("c")
    assert tab.evaluate(track) == 1
    keys.press("c")
    span = tab.evaluate("traceview.view.span")
    keys.press("w")
    assert tab.evaluate("traceview.view.span") < span
    keys.press("Escape")
    assert not tab.locator("#account").is_visible() and tab.evaluate("traceview.view.chosen") == -1
    keys.press("/")
    assert tab.evaluate("document.activeElement.id") == "find"
    keys.type("late_")
    keys.press("Enter")
    assert tab.inner_text("#found") == "1 of 1 slice" and tab.inner_text("#told").startswith("late_kernel\n")
    _tab_to(tab, "it.matches('svg.icicle')")
    told = "document.activeElement.closest('figure').querySelector('output').textContent"
    first = tab.evaluate(told)
    keys.press("ArrowDown")
    below = tab.evaluate(told)
    assert first and below != first
    width = "Number(document.activeElement.querySelector('.chosen').getAttribute('width'))"
    before = tab.evaluate(width)
    keys.press("ArrowRight")
    keys.press("Enter")
    assert tab.evaluate(width) > 830 > before
    keys.press("Escape")
    keys.press("ArrowUp")
    assert tab.evaluate(width) < 840
    _tab_to(tab, "it.matches('summary')")
    keys.press("Enter")
    _tab_to(tab, "it.matches('details[open] th button')")
    keys.press("Enter")
    assert tab.evaluate("document.activeElement.closest('th').getAttribute('aria-sort')") == "descending"
    assert found.said == []
    tab.close()


CONTROLS = {
    "a[href]": "links to parts", "summary": "tables, keys, evidence", "#find": "find", "#prev, #next": "its matches",
    "#tracks": "tracks", "#fit": "everything", "#canvas": "slices", "button.link": "rows and headers",
    "#told button": "what a slice leads to", "#account button": "what is done with a range",
    "label.note > input": "filters of tables, searches of stacks", "svg.icicle": "stacks",
    ".scroll, .side": "what scrolls sideways",
}  # fmt: skip
"""Controls of a page, for people."""


@pytest.mark.long
def test_every_control_is_reached_by_tab_and_works(browser: Any, tmp_path: Path) -> None:
    """Each kind of control is met on the way through the page; filters, Tracks, Previous, Show all and the buttons of a
    slice and of a range act."""
    kernels = [event("kernel", f"kernel_{n}", 150 + 2 * n, 1, 1, device=0, stream=1, correlation=n) for n in range(20)]
    names = tuple((f"kernel_{n}",) for n in range(20))
    many = Report("many", "Many", "", (Section("m", "All", "", (Column("name", "VARCHAR", ""),), names, None, ""),), ())
    with made(tmp_path, [*RUN, *kernels]) as connection:
        shown = page.gather(connection, "keys", 1000, steps="all", first=(many,))
    (tmp_path / "keys.html").write_text(render(shown, "1"), encoding="utf-8")
    found = _drawn(browser, tmp_path / "keys.html")
    tab, keys = found.tab, found.tab.keyboard
    rows = "[...document.activeElement.closest('.part').querySelectorAll('tbody tr')].filter((it) => !it.hidden).length"
    _tab_to(tab, "it.matches('.part label.note > input') && !it.closest('figure')")
    before = tab.evaluate(rows)
    keys.type("kernel_1")
    assert (before, tab.evaluate(rows)) == (20, 11)
    tab.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    _tab_to(tab, "it.id === 'find'")
    keys.type("kernel_1")
    for key, said in (("Tab", ""), ("Tab", "1"), ("", "2"), ("Shift+Tab", "1")):
        if key:
            keys.press(key)
        if said:
            keys.press("Enter")
            assert tab.inner_text("#found") == f"{said} of 22 slices"
    _tab_to(tab, "it.id === 'tracks'", 3)
    keys.type("stream 1")
    labels = tab.evaluate("traceview.tracks.filter((it) => it.shown).map((it) => it.label)")
    assert labels and all("stream 1" in label for label in labels)
    _tab_to(tab, "it.id === 'fit'", 2)
    keys.press("Enter")
    assert tab.evaluate("traceview.view.span === traceview.view.end")
    _tab_to(tab, "it.id === 'canvas'", 4)
    keys.press("m")
    _tab_to(tab, "it.matches('#account button') && it.textContent === 'Clear'")
    keys.press("Enter")
    assert not tab.locator("#account").is_visible()
    # Whatever can be worked has the focus once on the way from the top.
    tab.evaluate("document.querySelector('nav a').focus()")
    met = {"a[href]"}
    for _ in range(600):
        keys.press("Tab")
        now = tab.evaluate("(names) => names.filter((name) => document.activeElement.matches(name))", list(CONTROLS))
        if not now:
            break
        met |= set(now)
    assert met == set(CONTROLS) - {"#account button", ".scroll, .side"} | (met & {".scroll, .side"})
    assert not found.said
    tab.close()


def test_tracks_fold_pin_and_filter(fresh: Any) -> None:
    def tops() -> dict[str, tuple[float, float]]:
        return {
            label: (y, high)
            for label, y, high, shown in fresh.evaluate(
                "traceview.tracks.map((each) => [each.label, each.y, each.high, each.shown])"
            )
            if shown
        }

    thread = next(label for label in tops() if label.startswith("thread"))
    _click(fresh, "aten::cudnn_convolution")
    before = tops()[thread][1]
    fresh.keyboard.press("c")
    assert tops()[thread][1] < before
    fresh.keyboard.press("p")
    assert tops()[thread][0] == 0
    fresh.fill("#tracks", "stream 2")
    assert set(tops()) == {thread, "stream 2"}


def test_the_wheel_scrolls_and_zooms_with_control(fresh: Any) -> None:
    fresh.locator("#canvas").hover()
    fresh.mouse.wheel(0, 100)
    assert fresh.evaluate("traceview.view.span") == 400_000
    fresh.keyboard.down("Control")
    fresh.mouse.wheel(0, -100)
    fresh.keyboard.up("Control")
    fresh.wait_for_function("traceview.view.span < 300000")


@pytest.mark.long
def test_another_step_can_be_chosen(browser: Any, tmp_path: Path) -> None:
    """One step is shown of those that are there; a choice moves to another, and `all` to all of them."""
    later = [event("user_annotation", f"ProfilerStep#{n}", 1000 * n, 400) for n in (4, 5)]
    later += [event("kernel", "relu", at, 70, 1, device=0, stream=1, correlation=at) for at in (4100, 5100)]
    with made(tmp_path, EVENTS + later) as connection:
        found = page.gather(connection, "steps", 1000)
        (tmp_path / "steps.html").write_text(render(found, "0.1.0"), encoding="utf-8")
    assert found.timeline and found.timeline.step == 4
    tab = _drawn(browser, tmp_path / "steps.html").tab
    seen = "[traceview.view.from, traceview.view.span]"
    assert tab.input_value("#step") == "step 4" and tab.evaluate(seen) == [4_100_000, 400_000]
    tab.select_option("#step", "step 5")
    assert tab.evaluate(seen) == [5_100_000, 400_000]
    tab.select_option("#step", "all")
    assert tab.evaluate(seen) == [0, 5_500_000]
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("span", [1, 30, 1_000, 20_000, 10**6, 3 * 10**9])
def test_the_ruler_tells_its_ticks_apart(fresh: Any, span: int) -> None:
    fresh.evaluate(f"traceview.show(250e3, {span})")
    ticks = [label for _, label in fresh.evaluate("traceview.ruler(1000)")["ticks"]]
    assert len(set(ticks)) == len(ticks) >= 2


def test_without_javascript_all_but_the_timeline_is_there(browser: Any, html: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    found = Opened(context, html)
    assert found.tab.locator("svg[role=img]").count() >= 2
    assert "needs JavaScript" in found.tab.inner_text("#waits")
    assert found.tab.locator("table").count() >= 3
    context.close()


def test_every_chart_has_its_table(opened: Opened) -> None:
    assert opened.tab.locator("figure").count() >= 4
    for figure in opened.tab.locator(".part:has(> figure)").all():
        assert figure.locator("table").count() == 1


def test_numbers_are_those_of_the_step(opened: Opened) -> None:
    """Convolution takes 60 us of the step of 400 us, overlaps once; what runs seconds later is in no share."""
    told = opened.tab.locator("#overview svg title").all_text_contents()
    assert "conv: 60.0 us, 15.0 %" in told and "(GPU idle): 330 us, 82.5 %" in told


@pytest.mark.parametrize("width", [390, 1100, 1920])
def test_nothing_is_wider_than_the_screen(browser: Any, html: Path, width: int) -> None:
    found = Opened(browser, html, viewport={"width": width, "height": 800})
    assert found.tab.evaluate("() => document.documentElement.scrollWidth") <= width
    # Headers of the tree stand above its numbers.
    parts = "[...document.querySelectorAll('.tree > *')].map((each) => each.getBoundingClientRect().right)"
    assert len(set(found.tab.evaluate(parts))) == 1
    found.tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, html: Path, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    # The page's policy forbids scripts of others, so the tool needs to be let in.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme)
    found = Opened(context, html)
    found.tab.wait_for_selector("canvas[data-ready]")
    result = Axe().run(found.tab).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in result] == []
    context.close()


POINT = {"status": "measured", "mode": "weak", "batch": 8, "base_ranks": 1, "step_ns": 10**7, "verdict": "faster"}
PASS = {"place": 1, "layer": "conv1", "direction": "fprop", "own_ns": 4_000_000, "time_ns": 2_000_000}
TIME = {
    "status": "published",
    "device": "TITAN",
    "direction": "fprop",
    "batch": 8,
    "model": "net",
    "layer": "one",
    "n": 1,
}
RESULTS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "tune": {"tune_options": [
        {"name": "a", "kind": "option", "verdict": "faster", "speedup": 1.2, "low": 1.1, "high": 1.3, "pairs": 6},
        {"name": "b", "kind": "option", "verdict": "cannot decide", "reason": "<b>why</b>"},
    ]},
    "study scaling": {"scaling_points": [
        {**POINT, "ranks": n, "speedup": 0.9 * n, "low": 0.8 * n, "high": float(n)} for n in (1, 2, 4)
    ]},
    "schedule": {
        "schedule_layers": [{**PASS, "algorithm": "winograd", "status": "chosen"}],
        "schedule_plans": [
            {"name": "the plan", "modelled_speedup": 1.3}, {"name": "PyTorch's own", "modelled_speedup": 1.0},
        ],
    },
    "study": {"algorithm_times": [
        {**parse("8x64x9x9 k8 3x3 s1 p1")[0].facts(), **TIME, "algorithm": way, "backend": way, "wall_ns": 1000 * k}
        for k, way in enumerate(("fft", "direct", "winograd"), 1)
    ]},
}  # fmt: skip
"""Results of experiments, by what made them."""


@pytest.mark.long
@pytest.mark.parametrize("kind", [*RESULTS, "without work", "compared"])
def test_axe_finds_nothing_on_pages_of_every_kind(browser: Any, tmp_path: Path, kind: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    if kind in RESULTS:
        with store.open_capture(results.write(tmp_path / "results", RESULTS[kind], {"kind": kind})) as connection:
            shown = page.gather(connection, kind, 1000)
        assert shown.timeline is None and shown.reports[0].sections[0].rows
    else:
        with made(tmp_path, RUN if kind == "compared" else RUN[:1]) as connection:
            first = ()
            if kind == "compared":
                runs = [compare.measure(connection, name, None, False) for name in ("one", "two")]
                first = (compare.in_words(compare.compare(runs)),)
            shown = page.gather(connection, kind, 1000, first=first)
    (tmp_path / "kind.html").write_text(render(shown, "1"), encoding="utf-8")
    for width in (1920, 390):
        context = browser.new_context(bypass_csp=True, viewport={"width": width, "height": 900})
        found = Opened(context, tmp_path / "kind.html")
        result = Axe().run(found.tab).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in result] == [] == found.said
        assert found.tab.evaluate("document.documentElement.scrollWidth") <= width
        context.close()


def test_letters_of_charts_can_be_read_on_a_phone(browser: Any, html: Path) -> None:
    found = Opened(browser, html, viewport={"width": 390, "height": 800})
    heights = found.tab.evaluate("""() => Array.from(document.querySelectorAll('figure svg text'), text =>
        parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)""")
    assert heights and min(heights) >= 10
    found.tab.close()


@pytest.mark.slow
def test_bars_are_whole_on_a_phone(browser: Any, tmp_path: Path) -> None:
    """Each bar and each of its words is inside of the screen; a click on a part of a bar leads to its slice."""
    with made(tmp_path, RUN) as connection:
        runs = [compare.measure(connection, name, None, False) for name in ("one", "two")]
        shown = page.gather(connection, "bars", 1000, first=(compare.in_words(compare.compare(runs)),))
    (tmp_path / "bars.html").write_text(render(shown, "1"), encoding="utf-8")
    for width in (390, 320):
        found = Opened(browser, tmp_path / "bars.html", viewport={"width": width, "height": 844})
        found.tab.wait_for_selector("canvas[data-ready]")
        ends = """(kind) => [...document.querySelectorAll('figure svg.narrow ' + kind)].map((it) => {
            const box = it.getBoundingClientRect(), svg = it.closest('svg').getBoundingClientRect();
            return [box.left - svg.left, box.right - svg.left, svg.width, box.height] })"""
        longest = 0.0
        for kind in ("use", "text"):
            boxes = found.tab.evaluate(ends, kind)
            assert len(boxes) >= 6
            for left, right, room, high in boxes:
                assert left >= -0.5 and right <= room + 0.5 <= width and high >= 9
                longest = max(longest, right / room) if kind == "use" else longest
        assert longest == pytest.approx(1, abs=0.01)
        layer = found.tab.locator("svg.wide g:has(title:text-matches('^conv1 .* forward implicit_gemm'))")
        found.tab.locator(f"use[href='#{layer.get_attribute('id')}']").dispatch_event("click")
        assert "layer: conv1 4x3x3x3 (guessed)" in found.tab.inner_text("#told")
        assert not found.tab.evaluate("""[...document.querySelectorAll('figure:has(svg.narrow) .scroll')].filter(
            (it) => it.scrollWidth > it.clientWidth).length""")
        found.tab.close()


def test_on_paper_nothing_is_cut_off(browser: Any, html: Path) -> None:
    """Tables of charts stay away, evidence is open, what scrolls on a screen is whole, dark or not."""
    found = Opened(browser, html, viewport={"width": 700, "height": 1000}, color_scheme="dark")
    found.tab.emulate_media(media="print")
    assert found.tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not any(each.is_visible() for each in found.tab.locator("details.rows").all())
    lines = found.tab.locator("details:not(.rows) li").all()
    assert lines and all(line.is_visible() for line in lines)
    wide = """() => Array.from(document.querySelectorAll('.scroll, table')).filter(
        it => it.getBoundingClientRect().right > innerWidth + 1 || it.scrollWidth > it.clientWidth + 1).length"""
    assert found.tab.evaluate(wide) == 0
    found.tab.close()


def test_on_paper_a_long_table_is_said_to_be_on_the_screen(browser: Any, tmp_path: Path) -> None:
    rows = tuple((at,) for at in range(30))
    section = Section("s", "Long", "doc", (Column("x", "BIGINT", ""),), rows, None, "")
    text = render(Page("p", (Report("r", "R", "", (section,), ()),), (), (), (), None), "1")
    (tmp_path / "long.html").write_text(text, encoding="utf-8")
    found = Opened(browser, tmp_path / "long.html")
    told = "getComputedStyle(document.querySelector('.part'), '::after').content"
    assert found.tab.evaluate(told) == "none"
    found.tab.emulate_media(media="print")
    assert found.tab.evaluate(told) == '"Its table is on the screen only."'
    found.tab.close()


def test_a_wide_table_leaves_what_says_nothing_and_on_paper_what_is_of_least_value(
    browser: Any, tmp_path: Path
) -> None:
    """Zeros are named below it; twelve columns are printed, those that the section can do without are not."""
    names = [*(f"c{at}" for at in range(14)), "c14_flop_per_s"]
    columns = tuple(Column(name, "BIGINT", "") for name in names)
    rows = tuple((*range(row, row + 14), 0) for row in (1, 2))
    section = Section("wide", "Wide", "", columns, rows, None, "", None, None, Look(leave_out=("c3",)))
    shown = Page("wide", (Report("wide", "Wide", "", (section,), ()),), (), (), (), None)
    (tmp_path / "wide.html").write_text(render(shown, "1"), encoding="utf-8")
    found = Opened(browser, tmp_path / "wide.html")
    heads = "() => [...document.querySelectorAll('th')].filter(it => it.offsetWidth).map(it => it.innerText)"
    assert found.tab.evaluate(heads) == names[:14]
    assert found.tab.get_by_text("Zero or empty in all rows: c14").count() == 1
    found.tab.emulate_media(media="print")
    assert found.tab.evaluate(heads) == [name for name in names[:13] if name != "c3"]
    found.tab.close()


def test_commands_stand_as_code_and_text_of_a_trace_is_no_markup(tmp_path: Path) -> None:
    section = Section("s", "Title", "See `a <b>` and <i>.", (Column("x", "BIGINT", ""),), ((1,),), "By `c`.", "")
    text = render(Page("p", (Report("r", "R", "", (section,), ()),), (), (), (), None), "1")
    assert "See <code>a &lt;b&gt;</code> and &lt;i&gt;." in text and "By <code>c</code>." in text


def test_a_report_begins_with_its_answer() -> None:
    """A sentence on all of it stands below the sentence that says what was found."""
    one = Section("verdict", "", "", (Column("text", "VARCHAR", ""),), (("B wins.",),), None, "", None, None,
                  Look(lines=("{text}",)))  # fmt: skip
    other = Section("s", "Rows", "", (Column("x", "BIGINT", ""),), ((1,),), None, "")
    text = render(Page("p", (Report("r", "R", "Speeds of all.", (one, other), ()),), (), (), (), None), "1")
    assert text.index("B wins.") < text.index("Speeds of all.") < text.index("<h3>Rows</h3>")
    assert text.count("B wins.") == text.count("Speeds of all.") == 1


def test_it_prints(browser: Any, html: Path) -> None:
    found = Opened(browser, html)
    pdf = found.tab.pdf()
    assert pdf[:5] == b"%PDF-" and len(pdf) > 10_000
    found.tab.close()


def test_the_facts_are_json_that_cannot_end_their_element(html: Path) -> None:
    text = html.read_text(encoding="utf-8")
    facts = re.search(r'<script type="application/json" id="facts">(.*?)</script>', text, re.DOTALL)
    assert facts and {"tracks", "columns", "colours", "step", "long"} == set(json.loads(facts[1]))


@pytest.mark.long
def test_two_fingers_zoom_where_they_are(browser: Any, html: Path) -> None:
    """Fingers that move apart to twice their distance show half of the time, around what lay between them."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    found = Opened(context, html)
    found.tab.wait_for_selector("canvas[data-ready]")
    tab = found.tab
    tab.evaluate("traceview.show(0, 400e3)")
    tab.locator("#canvas").scroll_into_view_if_needed()
    box, touch = tab.locator("#canvas").bounding_box(), context.new_cdp_session(tab)
    y, middle = box["y"] + 100, box["x"] + box["width"] / 2
    for kind, apart in (("touchStart", 50), ("touchMove", 75), ("touchMove", 100), ("touchEnd", None)):
        fingers = [] if apart is None else [{"x": middle + side * apart, "y": y, "id": side + 1} for side in (-1, 1)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    tab.wait_for_function("traceview.view.span < 250e3")
    view = tab.evaluate("traceview.view")
    assert view["span"] == pytest.approx(200e3, rel=0.05)
    assert view["from"] + view["span"] / 2 == pytest.approx(200e3, rel=0.05)
    # One finger moves what it is on: tracks, and the page where they end.
    before, high = tab.evaluate("[scrollY, document.getElementById('stage').scrollTop]")
    for kind, at in (("touchStart", 0), ("touchMove", 40), ("touchMove", 90), ("touchEnd", None)):
        fingers = [] if at is None else [{"x": middle, "y": y + 90 - at, "id": 0}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    tab.wait_for_function(f"scrollY + document.getElementById('stage').scrollTop === {before + high + 90}")
    context.close()
