"""`traceview.record()`: PyTorch in this process, in a program of its own as the profiler is one for all tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import traceview
from traceview.errors import UsageError

PROGRAM = """
import json, sys, torch, traceview
weight = torch.randn(8, 8, requires_grad=True)
with traceview.record() as run:
    try:
        run.overview
    except traceview.errors.UsageError as error:
        early = str(error)
    for _ in range(3):
        (weight @ weight).sum().backward()
        run.step()
    torch.zeros(5)
run.page("page.html")
run.page("again.html", steps="all")
run.export("run.speedscope.json")
steps, = run.sql("SELECT count(*) FROM steps").fetchall()[0]
products, = run.sql("SELECT count(*) FROM ops WHERE name = 'aten::mm' AND step IS NOT NULL").fetchall()[0]
print(json.dumps([early, steps, products, repr(run.overview), run._repr_html_()]))
"""


@pytest.mark.slow
def test_a_block_is_recorded_and_asked(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True)
    early, steps, products, overview, html = json.loads(done.stdout.splitlines()[-1])
    assert early.startswith("nothing is recorded yet")
    assert steps == 3 and products >= 3
    assert "steps" in overview and "recording.json" in html
    assert "<canvas" in (tmp_path / "page.html").read_text() and "<canvas" in (tmp_path / "again.html").read_text()
    assert json.loads((tmp_path / "run.speedscope.json").read_text())["profiles"]


def test_without_torch_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(UsageError, match="import torch first"), traceview.record():
        pass
