"""Output of a framework's program is checked before it is believed."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from traceview.experiments.frameworks import process
from traceview.experiments.frameworks.listed import models
from traceview.experiments.frameworks.process import Asked, Refused, parsed

LENET = models()["lenet"]
TRAIN = Asked("lenet", "train", 64, 1, "nchw", "cpu", 4, 1)
SAID = {
    "framework": "torch", "version": "2.13.0", "model": "lenet", "mode": "train", "batch": 64, "threads": 1,
    "device": "cpu", "layout": "nchw", "optimizer": LENET.optimizer, "parameters": LENET.parameters, "loss": 2.5,
    "updated": True, "steps": 4, "discarded": 1, "mean_ms": 2.0, "sd_ms": 1.0, "step_ms": [1.0, 2.0, 3.0],
}  # fmt: skip


def test_times_are_the_mean_and_deviation_of_the_steps() -> None:
    row = parsed(json.dumps(SAID), TRAIN, LENET)
    assert (row["step_ns"], row["step_sd_ns"], row["median_ns"]) == (2_000_000, 1_000_000, 2_000_000)
    assert (row["status"], row["steps"], row["discarded"], row["loss"]) == ("timed", 3, 1, 2.5)
    assert "differs" not in row and row["optimizer"] == "SGD, rate 0.01"


@pytest.mark.parametrize(
    ("changed", "differs", "reason"),
    [
        ({"batch": 32}, "batch", "batch 32, not 64"),
        ({"threads": 2}, "threads", "threads 2, not 1"),
        ({"parameters": 431_081}, "parameters", "parameters 431081, not 431080"),
        ({"layout": "nhwc"}, "layout", "layout nhwc, not nchw"),
        ({"optimizer": "Adam"}, "optimizer", "optimizer Adam, not SGD, rate 0.01"),
        ({"mode": "forward", "device": "cuda"}, "mode+device", "mode forward, not train; device cuda, not cpu"),
        ({"loss": float("nan")}, "loss", "its loss is not a number"),
        ({"loss": 10**400}, "loss", "its loss is not a number"),
        ({"updated": False}, "update", "its parameters did not change"),
    ],
)
def test_other_conditions_are_named(changed: dict[str, Any], differs: str, reason: str) -> None:
    row = parsed(json.dumps({**SAID, **changed}), TRAIN, LENET)
    assert (row["status"], row["differs"], row["reason"]) == ("differs", differs, reason)


def test_what_is_not_said_counts_as_equal() -> None:
    said = {**SAID, "threads": None, "layout": None, "optimizer": None, "loss": None}
    assert parsed(json.dumps(said), TRAIN, LENET)["status"] == "timed"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "its last line is not the JSON object that says its times"),
        ("[1, 2]", "its last line is not the JSON object that says its times"),
        ("[" * 100_000, "its last line is not the JSON object that says its times"),
        (json.dumps({**SAID, "step_ms": []}), "its steps have no times"),
        (json.dumps({**SAID, "step_ms": [1.0, float("nan")]}), "some that are not times"),
        (json.dumps({**SAID, "step_ms": [1.0, -1.0]}), "some that are not times"),
        (json.dumps({**SAID, "step_ms": [True]}), "some that are not times"),
        (json.dumps({**SAID, "step_ms": [10**400]}), "some that are not times"),
        (json.dumps({**SAID, "mean_ms": float("inf")}), "the mean that it says is not that of its steps"),
        (json.dumps({**SAID, "mean_ms": 1.5}), "the mean that it says is not that of its steps"),
    ],
)
def test_what_is_no_answer_is_refused(line: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        parsed(line, TRAIN, LENET)


def run(tmp_path: Path, body: str) -> dict[str, Any]:
    script = tmp_path / "program.py"
    script.write_text(f"import json, os, subprocess, sys, time\nSAID = {SAID!r}\n{body}\n")
    return process.run([sys.executable, str(script)], dict(os.environ), TRAIN, LENET)


def test_the_last_line_of_a_real_process_counts(tmp_path: Path) -> None:
    row = run(tmp_path, "print('step 1'); print(json.dumps(SAID)); print(sys.argv[1:], file=sys.stderr)")
    assert row["status"] == "timed" and row["step_ns"] == 2_000_000 and row["total_ns"] > 0


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("print('no CUDA here', file=sys.stderr); sys.exit(2)", "cannot", "no CUDA here"),
        ("raise ValueError('broken')", "failed", "the program failed with exit code 1: .*ValueError: broken"),
        ("os.kill(os.getpid(), 9)", "failed", "the program was ended by SIGKILL"),
        ("print('done')", "failed", "its last line is not the JSON object"),
        ("print('x' * 1_500_000)", "failed", "its last line is longer than 1 MB"),
    ],
)
def test_a_process_without_times_has_a_reason(tmp_path: Path, body: str, status: str, reason: str) -> None:
    import re

    row = run(tmp_path, body)
    assert row["status"] == status and re.match(reason, row["reason"]) and "step_ns" not in row


def test_a_process_that_prints_or_runs_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_BYTES", 1_000_000)
    row = run(tmp_path, "while True: print('x' * 1000)")
    assert row["reason"] == "it was ended after printing 1 MB"
    monkeypatch.setattr(process, "LIMIT_S", 0.3)
    assert run(tmp_path, "time.sleep(60)")["reason"].startswith("it was ended after 0 minutes")


def test_what_a_program_leaves_running_is_ended(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    body = f"child = subprocess.Popen(['sleep', '600']); open({str(noted)!r}, 'w').write(str(child.pid))"
    assert run(tmp_path, f"{body}; print(json.dumps(SAID))")["status"] == "timed"
    state = Path(f"/proc/{noted.read_text()}/stat")
    for _ in range(600):
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("it still runs")


def test_a_program_that_cannot_be_run_has_a_reason() -> None:
    row = process.run(["/no/such/python"], {}, TRAIN, LENET)
    assert row["status"] == "failed" and row["reason"] == "/no/such/python cannot be run: No such file or directory"
