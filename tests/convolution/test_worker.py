"""The worker: a line for a task, answers that what is printed does not reach, and a reason where it ends."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from traceview.convolution import worker
from traceview.errors import UsageError
from traceview.experiments.worker import PROGRAM, Worker, exception

MODEL = """
import os, torch
print("a model that prints")
def make():
    os.write(1, b"below Python too\\n")
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Conv2d(4, 8, 3, groups=4))
def die():
    os.kill(os.getpid(), 9)
def end():
    raise SystemExit(0)
def empty():
    return make(), torch.zeros(0, 3, 8, 8)
class Shared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.shared = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.Conv2d(4, 4, 3, padding=1)
        self.reflected = torch.nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect")
        self.weight, self.up = torch.nn.Parameter(torch.ones(4, 4, 1, 1)), torch.nn.ConvTranspose2d(4, 4, 2)
    def forward(self, x):
        frozen = self.shared(torch.zeros(2, 4, 8, 8))
        x = self.shared(self.shared(self.first(x))) + frozen
        x = self.shared(torch.nn.functional.max_pool2d(x, 2))
        return self.up(torch.nn.functional.conv2d(self.reflected(x), self.weight))
"""


def test_every_kind_of_task_has_its_function() -> None:
    for kind, module in worker.KINDS.items():
        tree = ast.parse((PROGRAM.parent / f"{module}.py").read_text(encoding="utf-8"))
        functions = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert [each.arg for each in functions[kind].args] == ["task", "say"], kind


@pytest.mark.slow
def test_tasks_are_answered_by_one_process_whatever_is_printed(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    task = {"model": f"{tmp_path / 'net.py'}:make", "image": [3, 8, 8], "batch": 2, "threads": 1}
    with Worker(sys.executable) as process:
        (layers,) = process.ask({"kind": "layers", **task})
        assert [row["groups"] for row in layers["convolutions"]] == [1, 4] and layers["done"]
        (shapes,) = process.ask({"kind": "shapes", **task})
        assert shapes["edges"] == [["0", "2"]] and shapes["cpu_s"] > layers["cpu_s"]
        assert list(process.ask({"kind": "layers", **task, "model": f"{tmp_path / 'net.py'}:die"})) == []
        assert process.close() == "its process was ended by SIGKILL (too little memory?)"
        assert not process.is_alive
        # The next task begins another one.
        assert list(process.ask({"kind": "layers", **task, "model": f"{tmp_path / 'net.py'}:no"})) == []
        assert process.close().endswith("net.py has no function or class no")


@pytest.mark.slow
def test_a_model_that_ends_the_process_or_has_no_images_is_told(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    task = {"kind": "shapes", "image": [3, 8, 8], "batch": 2, "threads": 1}
    with Worker(sys.executable) as process:
        (shapes,) = process.ask({**task, "model": f"{tmp_path / 'net.py'}:empty"})
        assert (shapes["layers"], shapes["left_out"]) == ([], 2), "there is nothing to measure"
        assert list(process.ask({**task, "model": f"{tmp_path / 'net.py'}:end"})) == []
        assert process.close() == "its process ended before it answered"


@pytest.mark.slow
def test_calls_of_a_module_in_a_step_are_counted_and_those_no_plan_is_for(tmp_path: Path) -> None:
    """Left out: its fourth call, with another shape, one that is padded otherwise, and one that is of no module."""
    (tmp_path / "net.py").write_text(MODEL)
    task = {"kind": "shapes", "image": [3, 8, 8], "batch": 2, "threads": 1, "model": f"{tmp_path / 'net.py'}:Shared"}
    with Worker(sys.executable) as process:
        (shapes,) = process.ask(task)
    calls = {layer["module"]: (layer["calls"], layer["directions"], layer["dgrad"]) for layer in shapes["layers"]}
    assert calls == {
        "shared": ({"fprop": 3, "dgrad": 2, "wgrad": 3}, ["fprop", "dgrad", "wgrad"], True),
        "first": ({"fprop": 1, "wgrad": 1}, ["fprop", "wgrad"], False),
    }
    assert shapes["layers"][0]["shape"]["height"] == 8 and shapes["left_out"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [("raise ValueError('no such layer')", "ValueError: no such layer"), ("", "its process did not end by itself")],
)
def test_one_that_is_slow_to_end_is_not_said_to_lack_memory(
    tmp_path: Path, text: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "worker.py"
    program.write_text(
        f"import atexit, os, sys, time\natexit.register(time.sleep, 100)\nsys.stdin.readline()\nos.close(1)\n{text}"
    )
    monkeypatch.setattr("traceview.experiments.worker.PROGRAM", program)
    monkeypatch.setattr("traceview.experiments.worker.LEAVE_S", 0.0)
    with Worker(sys.executable) as process:
        assert list(process.ask({})) == []
        assert process.close() == says


def test_one_that_ends_by_itself_may_take_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "worker.py"
    program.write_text(
        "import atexit, os, sys, time\natexit.register(time.sleep, 0.5)\nsys.stdin.readline()\nos.close(1)"
    )
    monkeypatch.setattr("traceview.experiments.worker.PROGRAM", program)
    monkeypatch.setattr("traceview.experiments.worker.END_S", 0.0)
    with Worker(sys.executable) as process:
        assert list(process.ask({})) == []
        assert process.close() == "its process ended before it answered"


@pytest.mark.long
def test_tasks_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    task = {"kind": "train", "model": f"{tmp_path / 'net.py'}:make", "image": [3, 8, 8], "batch": 2, "threads": 1}
    (tmp_path / "task.json").write_text(json.dumps({**task, "steps": 2}))
    done = subprocess.run([sys.executable, PROGRAM, tmp_path / "task.json"], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert len(answer["losses"]) == 2 and "a model that prints" in done.stderr


def test_a_python_that_cannot_be_run_is_said() -> None:
    with Worker("/no/such/python") as process, pytest.raises(UsageError, match="cannot run /no/such/python"):
        list(process.ask({"kind": "layers"}))


def test_an_exception_of_several_lines_is_one_line() -> None:
    lines = ["Traceback (most recent call last):", '  File "a.py", line 1', "    f()", "ValueError: one", "two"]
    assert exception(lines) == "ValueError: one / two"
    assert exception(["no traceback", "the last line"]) == "the last line" and exception([]) == ""
