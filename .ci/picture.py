"""Draws docs/page.png, the README's picture: timeline and convolutions of a capture's page (`make demo picture`).

    python .ci/picture.py CAPTURE

Needs the extra `dev` and a Chromium (headless) on the PATH.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from traceview import cli

TARGET = Path(__file__).resolve().parents[1] / "docs" / "page.png"
WIDTH = 900


def draw(capture: str, target: Path = TARGET) -> None:
    """Take the picture of the page from the heading of the timeline to the end of the first chart."""
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "page.html"
        if cli.main(["page", capture, "-o", str(page_file)]):
            sys.exit(1)
        page = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page(
            viewport={"width": WIDTH, "height": 1000}
        )
        page.goto(page_file.as_uri())
        page.wait_for_timeout(2000)
        top = page.locator("#timeline h2").first.bounding_box()
        chart = page.locator("#charts figure").first.bounding_box()
        assert top and chart, "the page has no timeline or no chart"
        height = chart["y"] + chart["height"] - top["y"]
        clip = {"x": 0, "y": top["y"] - 8, "width": WIDTH, "height": height + 16}
        page.screenshot(path=target, full_page=True, clip=clip)  # type: ignore[arg-type]


if __name__ == "__main__":
    draw(sys.argv[1])
