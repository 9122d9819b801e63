"""One recording with torch.profiler: whole steps, oneDNN's account beside it, and nothing left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")

PRELUDE = """
import json, os, sys
import torch
from traceview_inject import raw
from traceview_inject.torch_kineto import Kineto

tool = Kineto(raw.options())
conv, image = torch.nn.Conv2d(3, 8, 3), torch.randn(2, 3, 16, 16)

def step(number):
    marked = tool.open_step(number)
    conv(image)
    marked.close()
"""


@pytest.fixture
def program(inject, monkeypatch, tmp_path):
    """`program(body, **options)` runs a recording in a process of its own; returns what it printed."""

    def run(body: str, **options: object) -> str:
        for name, value in options.items():
            monkeypatch.setenv(f"TRACEVIEW_{name.upper()}", str(value))
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        (tmp_path / "capture" / "raw").mkdir(parents=True)
        script = f"import sys\nsys.path.insert(0, {str(inject)!r})\n{PRELUDE}\n{body}"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


RECORD = """
tool.prepare()
tool.start()
step(4)
step(5)
logs = tool.stop()
path, suffix = tool.write({cut})
print(json.dumps([str(path), suffix, [[str(log), kind] for log, kind in logs], tool.problems]))
"""


def events(path: str) -> list[dict]:
    return json.loads(Path(path).read_text())["traceEvents"]


def test_a_recording_of_two_steps(program):
    path, suffix, logs, problems = json.loads(program(RECORD.format(cut="")))
    assert (suffix, problems) == ("kineto.json", [])
    found = events(path)
    assert [e["name"] for e in found if e["name"].startswith("ProfilerStep#")] == ["ProfilerStep#4", "ProfilerStep#5"]
    assert any("Input Dims" in e.get("args", {}) for e in found)
    if torch.backends.mkldnn.is_available():
        ((log, kind),) = logs
        assert kind == "onednn.log"
        assert sum(",exec,cpu,convolution," in line for line in Path(log).read_text().splitlines()) == 2


@pytest.mark.long
def test_a_step_that_did_not_end_is_no_step(program):
    path = json.loads(program(RECORD.format(cut="5")))[0]
    names = [e["name"] for e in events(path)]
    assert "ProfilerStep#4" in names and "traceview.cut: step 5" in names and "ProfilerStep#5" not in names


@pytest.mark.long
def test_light_has_no_shapes(program):
    recorded = events(json.loads(program(RECORD.format(cut=""), light=1))[0])
    assert "aten::conv2d" in {e["name"] for e in recorded}
    assert not any("Input Dims" in e.get("args", {}) for e in recorded)


@pytest.mark.long
def test_where_the_program_records_itself_there_is_a_sentence(program):
    body = """
os.environ["KINETO_LOG_LEVEL"] = "99"  # Kineto tells of its stages on stderr, here as without us.
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
    try:
        tool.prepare()
    except RuntimeError as error:
        print(error)
"""
    assert "the program runs torch.profiler itself" in program(body)


@pytest.mark.long
def test_without_onednn_there_is_no_log(program):
    body = """
tool.prepare()
tool.start()
torch.ones(3) + 1
print(tool.stop(), sorted(os.listdir(os.environ["TRACEVIEW_DIR"] + "/raw")))
"""
    logs, left = program(body).split(" ", 1)
    assert logs == "[]" and "onednn" not in left
