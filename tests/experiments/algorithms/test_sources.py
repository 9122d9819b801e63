"""Layers of one's own: from a capture, from a function of Python; what cannot be measured is counted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cases import first
from processes import is_running

from traceview.errors import InputError, UsageError
from traceview.experiments.algorithms.layers import found_in
from traceview.experiments.algorithms.networks import load
from traceview.experiments.algorithms.sources import of_capture, of_model

MODEL = """
from torch import nn
print("loading")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 7, 2, 3)
        self.body = nn.Sequential(nn.Conv2d(8, 8, (3, 1), 1, (1, 0), groups=4), nn.ConvTranspose2d(8, 4, 2))
        self.head = nn.Conv2d(4, 2, 3, dilation=2)
    def forward(self, x):
        return self.head(self.body(self.stem(x)))
def make():
    return Net()
def line():
    import torch
    return nn.Conv1d(1, 1, 3), torch.randn(1, 1, 9)
def wrong():
    raise ValueError("no such file")
def number():
    return 5
"""


def test_the_layers_of_a_capture(root: Path) -> None:
    said: list[str] = []
    found = of_capture(root / "samples/kineto/torch-2.13.0-alexnet-cpu.json.gz", said.append)
    expected = [layer.facts() for layer in load("alexnet").convolutions()]
    assert [{**layer.facts(), "model": "alexnet"} for layer in (one.layer for one in found)] == expected
    assert [one.batch for one in found] == [16] * 5 and said == []
    assert [one.directions for one in found] == [("fprop", "wgrad"), *[("fprop", "dgrad", "wgrad")] * 4]


def test_a_capture_without_convolutions_is_said(tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": [event]}))
    with pytest.raises(InputError, match="holds no convolutions"):
        of_capture(tmp_path / "trace.json", print)


@pytest.mark.long
def test_the_layers_of_a_function(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file, said = tmp_path / "net.py", list[str]()
    file.write_text(MODEL)
    stem, grouped, head = of_model(f"{file}:make", sys.executable, (3, 32, 40), said.append)
    assert (stem.name, stem.height, stem.width, stem.stride_h, stem.pad_w, stem.model) == (
        "stem",
        32,
        40,
        2,
        3,
        "net.py:make",
    )
    assert (grouped.name, grouped.groups, grouped.filter_height, grouped.filter_width) == ("body.0", 4, 3, 1)
    assert (grouped.pad_h, grouped.pad_w, grouped.in_channels) == (1, 0, 8)
    assert (head.name, head.dilation_h, head.in_channels, head.height, head.width) == ("head", 2, 4, 17, 21)
    assert said == [
        "runs net.py:make, and its model once, for the layers.",
        "1 convolution left out: transposed, not of two dimensions, or of unknown shape.",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    first(
        1,
        [
            ("{file}:number", r"number\(\) returned int, not a torch.nn.Module."),
            ("{file}:wrong", "cannot be run: ValueError: no such file."),
            ("{file}:absent", "has no function or class absent."),
            ("{file}:line", "has no convolution that can be measured"),
            ("{file}.py:make", "there is no file"),
        ],
    ),
)
def test_a_function_that_cannot_be_used_is_said(tmp_path: Path, text: str, said: str) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "net.py"
    file.write_text(MODEL)
    with pytest.raises(InputError, match=said):
        of_model(text.format(file=file), sys.executable, (3, 32, 32), print)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("raise ValueError('first\\nsecond')", "net.py:make cannot be run: ValueError: first / second."),
        (
            "print('hello', file=sys.stderr, flush=True); os.abort()",
            "net.py:make cannot be run: its process was ended by SIGABRT.",
        ),
    ],
)
def test_how_a_function_ends_is_said(tmp_path: Path, line: str, said: str) -> None:
    pytest.importorskip("torch")
    (tmp_path / "net.py").write_text(f"import os, sys\ndef make():\n    {line}\n")
    with pytest.raises(InputError) as found:
        of_model(f"{tmp_path}/net.py:make", sys.executable, (3, 32, 32), print)
    assert str(found.value) == f"{tmp_path}/{said}"


def test_a_name_that_is_nothing_is_said() -> None:
    with pytest.raises(InputError, match=r"absent\.onnx does not exist\."):
        of_model("absent.onnx", sys.executable, (3, 8, 8), print)
    with pytest.raises(UsageError, match="did you mean alexnet"):
        of_model("alexnett", sys.executable, (3, 8, 8), print)
    with pytest.raises(UsageError, match="which function makes the model"):
        of_model("net.py", sys.executable, (3, 8, 8), print)


def test_what_nobody_can_measure_is_left_out_and_counted() -> None:
    whole = {"layer": "a", "input": [1, 3, 8, 8], "filter": [4, 3, 3, 3], "stride": [1, 1], "padding": [0, 0]}
    rows = [whole, {**whole, "filter": [4, 3, 9, 9]}, {**whole, "padding": None}, {**whole, "input": [1, 3, 8]}]
    said: list[str] = []
    (layer,) = found_in(rows, "net", said.append)
    assert layer.out_channels == 4 and said[0].startswith("3 convolutions left out")


@pytest.mark.long
@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", first(1, [signal.SIGHUP, signal.SIGTERM, signal.SIGINT]))
def test_a_signal_ends_the_program_that_looks_at_the_model(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "net.py").write_text("import os, time\nopen('pid', 'w').write(f'{os.getpid()} ')\ntime.sleep(600)\n")
    words = [sys.executable, "-m", "traceview", "study", "algorithms", "--model", "net.py:make"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith(" "):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    said = process.communicate(timeout=600)[1]
    assert process.returncode == 128 + number and "interrupted" in said and "Traceback" not in said
    assert not is_running(int((tmp_path / "pid").read_text())), "what it started has ended"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["net.py", "pid"]
