"""Programs of ONNX Runtime in `tune` are timed without a profiler; nothing is left, also where one is ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from collectors.test_frameworks import PYTHON, need, program

from traceview.experiments.command import Limits, run
from traceview.experiments.recorded import record

SESSION = """
import onnx, onnxruntime, numpy
from onnx import helper as h, TensorProto as T
x, y = (h.make_tensor_value_info(name, T.FLOAT, [4, 4]) for name in "xy")
model = h.make_model(h.make_graph([h.make_node("Relu", ["x"], ["y"])], "g", [x], [y]),
                     opset_imports=[h.make_opsetid("", 17)], ir_version=9)
options = onnxruntime.SessionOptions()
session = onnxruntime.InferenceSession(model.SerializeToString(), options)
other = onnxruntime.InferenceSession(model.SerializeToString())
print("profiled:", session.get_session_options().enable_profiling, flush=True)
for step in range(12):
    for each in (session, other):
        each.run(None, {"x": numpy.zeros((4, 4), numpy.float32)})
"""


def test_runs_are_timed_without_the_profiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("onnxruntime", "onnx")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = [PYTHON, str(program(tmp_path, SESSION))]
    log = tmp_path / "log.txt"
    timed = run(words, {**os.environ, "TMPDIR": str(temporary)}, Limits(2, 3), log, tmp_path)
    assert (timed.exit_code, timed.reason, timed.steps) == (0, None, 3)
    assert timed.step_ns and timed.facts["framework"] == "onnxruntime"
    assert log.read_text() == "profiled: False\n"
    assert not list(temporary.glob("traceview-*"))


def test_a_recorded_program_that_is_ended_leaves_no_profile(tmp_path: Path) -> None:
    need("onnxruntime", "onnx")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    ends = "import os\nfor step in range(12):\n    if step == 5: os.kill(os.getpid(), 9)"
    text = SESSION.replace("for step in range(12):", ends)
    words = [PYTHON, str(program(tmp_path, text))]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    code, why = record(words, environment, tmp_path / "base", tmp_path / "log.txt", tmp_path)
    assert code == -9 and why and why.startswith("the command was ended by SIGKILL: profiled: True")
    assert not list(temporary.glob("traceview-*")) and not (tmp_path / "base").exists()
