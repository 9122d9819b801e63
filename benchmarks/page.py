"""How long a page of many slices takes to be ready in Chromium, its memory, and how long it draws.

    python benchmarks/page.py CAPTURE [--slices N] [--keep PAGE] [PAGE ...]

The timeline of the capture is repeated, each time later, until it has N slices; pages that were made before (of
another version, say) are measured in turns with it. Ready: from the start of the navigation until the timeline can be
used; processor seconds: of the page's process until then. Heap: JavaScript's, and what buffers take beside it, after
everything that is not used was given back. Frame: the median of 30 views of every width. Needs the extra `dev` and a
Chromium (headless) on the PATH.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from traceview import store
from traceview.analysis import page
from traceview.analysis.model import Timeline
from traceview.render.page import render

READY = "document.querySelector('canvas[data-ready]')"
FRAMES = """() => { const { show, paint, view } = traceview, took = [];
    for (let k = 0; k < 30; k++) { show(view.end * (k % 5) / 8, view.end / 2 ** (k % 15)); const t = performance.now();
        paint(); took.push(performance.now() - t); }
    return took.sort((a, b) => a - b)[15] }"""


def repeated(found: Timeline, times: int) -> Timeline:
    """The slices `times` times over: those of a track stay together, other ends of arrows stay in their copy."""
    columns = {name: np.asarray(values) for name, values in found.columns.items()}
    length = int((columns["start_ns"] + columns["dur_ns"]).max()) + 1000
    counts = [track.n_slices for track in found.tracks]
    firsts = np.repeat(np.cumsum([0, *counts])[:-1], counts)
    inside, sizes = np.arange(len(firsts)) - firsts, np.repeat(counts, counts)

    def place(at: Any, copy: int) -> Any:
        return firsts[at] * times + copy * sizes[at] + inside[at]

    # Each copy is slower or faster than the others, and what runs in it varies: equal copies would be compressed away.
    random = np.random.default_rng(0)
    paces, shorter = random.uniform(0.9, 1, times), random.uniform(0, 0.1, (times, len(firsts)))
    order = np.argsort(np.concatenate([place(slice(None), copy) for copy in range(times)]))
    made = {}
    for name, values in columns.items():
        if name == "start_ns":
            copies = [(values * paces[copy]).astype(np.int64) + copy * length for copy in range(times)]
        elif name == "dur_ns":
            copies = [(values * (paces[copy] - shorter[copy])).astype(np.int64) for copy in range(times)]
        elif name in ("launch", "partner"):
            copies = [np.where(values >= 0, place(values, copy), -1) for copy in range(times)]
        else:
            copies = [values] * times
        made[name] = np.concatenate(copies)[order]
    tracks = tuple(replace(track, n_slices=track.n_slices * times) for track in found.tracks)
    return replace(found, tracks=tracks, columns=made)


def build(capture: Path, n_slices: int, target: Path) -> int:
    """Write the page; how many slices it has."""
    with store.open_capture(capture) as connection:
        shown = page.gather(connection, "benchmark", 10**7)
    assert shown.timeline, "the capture has no timeline"
    times = max(1, round(n_slices / sum(track.n_slices for track in shown.timeline.tracks)))
    timeline = repeated(shown.timeline, times)
    target.write_text(render(replace(shown, timeline=timeline), "benchmark"), encoding="utf-8")
    return len(timeline.columns["start_ns"])


def measure(browser: Any, file: Path) -> dict[str, float]:
    """Seconds until it is ready, those of the processor, megabytes that are kept, and milliseconds of a frame."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable")
    tab.add_init_script(
        "new MutationObserver((_, it) => { if (!" + READY + ") return; window.readyAt = performance.now();"
        " it.disconnect() }).observe(document, { subtree: true, attributes: true, childList: true })"
    )
    tab.goto(file.as_uri())
    tab.wait_for_function("window.readyAt", timeout=120_000)
    ready = tab.evaluate("readyAt")
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    drawn = tab.evaluate(FRAMES)
    tab.close()
    return {
        "ready s": ready / 1000, "processor s": metrics["ProcessTime"], "heap MB": usage["usedSize"] / 1e6,
        "buffers MB": usage.get("backingStorageSize", 0) / 1e6, "frame ms": drawn,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Build, measure in turns, and print what was found of each page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", type=Path, metavar="CAPTURE")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="pages that were made before")
    parser.add_argument("--slices", type=int, default=1_000_000, metavar="N", help="of the page that is built")
    parser.add_argument("--keep", type=Path, metavar="PAGE", help="where to write that page")
    parser.add_argument("--turns", type=int, default=5, metavar="N", help="how often each page is opened")
    args = parser.parse_args(arguments)
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        target = (args.keep or Path(folder) / "page.html").resolve()
        n_slices = build(args.capture, args.slices, target)
        print(f"{n_slices:,} slices, {target.stat().st_size / 1e6:.1f} MB")
        found: dict[Path, list[dict[str, float]]] = {target: [], **{each.resolve(): [] for each in args.pages}}
        for _ in range(args.turns):
            for file, rows in found.items():
                # A browser of its own, so that no page has the memory of another.
                launched = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
                rows.append(measure(launched, file))
                launched.close()
        for file, rows in found.items():
            print(file.name)
            for name in rows[0]:
                values = [row[name] for row in rows]
                print(f"  {name}: {min(values):.2f} to {max(values):.2f}, median {statistics.median(values):.2f}")


if __name__ == "__main__":
    main()
