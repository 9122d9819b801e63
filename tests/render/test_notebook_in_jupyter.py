"""A notebook run by a kernel of Jupyter and looked at in a browser without a network: each answer once, charts seen."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

CELLS = (
    "import traceview\ntrace = traceview.open({path!r})",
    "trace.overview",
    "trace.overview.plot()",
    "trace.advise()",
    'trace.report("conv")',
    "print(trace.overview)",
)


@pytest.mark.long
def test_each_answer_is_there_once_and_charts_are_seen(root: Path, tmp_path: Path) -> None:
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        pytest.skip("no Chromium is installed (Debian: chromium-headless-shell)")
    sample = shutil.copy(root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz", tmp_path)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.format(path=str(sample))) for cell in CELLS])
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    first, overview, chart, advice, kernels, printed = (cell.outputs for cell in book.cells)
    assert first == []
    for outputs in (overview, chart, advice, kernels):
        assert [output.output_type for output in outputs] == ["execute_result"]
    assert [output.output_type for output in printed] == ["stream"] and "<div" not in printed[0].text
    assert "image/svg+xml" in chart[0].data or "<svg" in chart[0].data["text/html"]

    (tmp_path / "book.html").write_text(HTMLExporter().from_notebook_node(book)[0], encoding="utf-8")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = launched.new_context(offline=True).new_page()
        tab.goto((tmp_path / "book.html").as_uri(), wait_until="domcontentloaded")
        assert tab.locator(".jp-OutputArea-output h3", has_text="Overview").count() == 1
        assert tab.locator(".jp-OutputArea-output h4", has_text="Idle by cause").count() <= 1
        (drawn,) = [each.bounding_box() for each in tab.locator(".jp-OutputArea-output svg").all() if each.is_visible()]
        assert drawn and drawn["width"] > 300 and drawn["height"] > 40
        assert tab.locator(".jp-OutputArea-output svg rect").first.is_visible()
        tab.screenshot(path=tmp_path / "book.png", full_page=True)
        launched.close()
