"""An addition in one file needs nothing else: a copy of the project with one more of each, from view to collector."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

VIEW = """-- title = "longest"
-- doc = "The longest kernel of each device."
-- materialize = true
SELECT rank, device, max(dur_ns) AS dur_ns, arg_max(category, dur_ns) AS category FROM kernels GROUP BY rank, device
"""
SECTION = """-- title = "Longest kernels"
-- doc = "One row per device."
-- cannot = "No kernel in this trace."
-- [columns]
-- device = "device number"
-- category = "what it does"
-- dur_ns = "duration"
-- fp32_flop_per_s = "peak of the device"
SELECT l.device, l.category, l.dur_ns, p.fp32_flop_per_s FROM longest l JOIN device_peaks p USING (rank, device)
ORDER BY l.device
"""
NEED = """
[long_kernels]
holds = "FROM longest WHERE dur_ns > 0"
missing = "the trace holds no kernel that lasts"
record = "a run on a GPU"
"""
RULE = """-- title = "A kernel lasts too long"
-- doc = "The longest kernel."
-- why = "It lasts."
-- cost = "Nothing."
-- unless = "It has to last."
-- needs = ["long_kernels"]
-- [fix]
-- pytorch = "make it shorter"
-- any = "make it shorter"
SELECT rank, 'It lasts.' AS problem, NULL AS place, dur_ns AS saving_ns, 'high' AS confidence, [category] AS evidence
FROM longest ORDER BY rank
"""
CATEGORY = """[[rule]]
category = "news"
pattern = "brandNewKernel"
why = "nobody had thought of it"
examples = ["brandNewKernel"]

[[rule]]"""
DEVICE = """
[[device]]
pattern = "Novelty 1"
fp32_flop_per_s = 7e12
source = "its maker"
examples = ["Novelty 1"]
"""
EVENT = {"ph": "X", "cat": "kernel", "name": "brandNewKernel", "pid": 0, "tid": 7, "ts": 1, "dur": 5}
FORMAT = '''"""The title alone."""

from traceview.render.json import stream as stream

EXTENSION = ".title"
FOR_PEOPLE = False


def render(report):
    return report.title.upper()


def render_all(reports, is_for_file=False):
    return "".join(map(render, reports))
'''
COLLECTOR = """import sys

FRAMEWORK = "novelty>=2"


def install():
    sys.modules["novelty"].recorded = True
"""
PROGRAM = "import novelty; print(novelty.__version__, getattr(novelty, 'recorded', False))"
ASK = """import sys
from traceview.cli import main
sys.exit(main(["report", "trace.json", "longest", "--format", "json", "-o", "report.json"])
    or main(["advise", "trace.json", "kernel_lasts", "--format", "json", "-o", "advice.json"])
    or main(["report", "trace.json", "longest", "-o", "report.title"]))
"""


@pytest.mark.slow
def test_a_view_report_rule_category_device_and_format_need_nothing_else(tmp_path: Path) -> None:
    for folder in ("traceview", "queries", "collectors"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    texts = {
        "queries/views/longest.sql": VIEW,
        "queries/longest/report.toml": 'title = "Longest"\ndoc = "Of each device."\nsections = ["kernels"]\n',
        "queries/longest/kernels.sql": SECTION,
        "traceview/render/title.py": FORMAT,
        "queries/advice/kernel_lasts.sql": RULE,
        "trace.json": json.dumps(
            {
                "schemaVersion": 1,
                "deviceProperties": [{"id": 0, "name": "Novelty 1"}],
                "traceEvents": [{**EVENT, "args": {"device": 0, "stream": 7}}],
            }
        ),
    }
    (tmp_path / "queries" / "longest").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    needs = tmp_path / "queries/advice/needs.toml"
    needs.write_text(needs.read_text(encoding="utf-8") + NEED, encoding="utf-8")
    rules, devices = (tmp_path / "traceview/classify" / name for name in ("kernels.toml", "devices.toml"))
    rules.write_text(rules.read_text(encoding="utf-8").replace("[[rule]]", CATEGORY, 1), encoding="utf-8")
    devices.write_text(devices.read_text(encoding="utf-8") + DEVICE, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, env=environment, check=True)
    (section,) = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["sections"]
    assert section["rows"] == [{"device": 0, "category": "news", "dur_ns": 5000, "fp32_flop_per_s": 7e12}]
    (answer,) = json.loads((tmp_path / "advice.json").read_text(encoding="utf-8"))["sections"][0]["rows"]
    assert (answer["status"], answer["saving_ns"], answer["evidence"]) == ("found", 5000, ["news"])
    assert (tmp_path / "report.title").read_text(encoding="utf-8").strip() == "LONGEST"


def test_a_collector_needs_nothing_else(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "collectors", tmp_path / "collectors", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "collectors/novelty_profiler.py").write_text(COLLECTOR, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "collectors/inject"), "TRACEVIEW_DIR": "capture"}
    for version, is_recorded in (("1.9", False), ("2.0", True), ("11.1", True), ("unknown", True)):
        (tmp_path / "novelty.py").write_text(f"__version__ = {version!r}\n", encoding="utf-8")
        run = [sys.executable, "-B", "-c", PROGRAM]
        found = subprocess.run(run, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
        assert found.stdout.split() == [version, str(is_recorded)]
