"""Measuring algorithms: real runs of small layers, resumed, budgeted, and back-ends that fail."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import traceview
from traceview.errors import UsageError
from traceview.experiments import worker
from traceview.experiments.algorithms.layers import parse
from traceview.experiments.algorithms.measuring import TABLE, Plan, Progress, groups_of, interval, measure
from traceview.experiments.results import Journal
from traceview.paths import CONVOLUTION

SMALL = "2x8x9x9 k16 3x3 p1"


def plan_of(*texts: str, directions: tuple[str, ...] = ("fprop",), **more: Any) -> Plan:
    return Plan(tuple(groups_of([parse(text) for text in texts], [4], directions)), sys.executable, 1, **more)


def measured(folder: Path, plan: Plan) -> tuple[list[dict[str, Any]], list[Progress], int]:
    """The rows of the folder, what was watched, and how many groups were left out."""
    journal, seen = Journal(folder, {"kind": "study algorithms"}), list[Progress]()
    left = measure(plan, journal, seen.append)
    return journal.rows(TABLE), seen, len(left)


@pytest.mark.slow
def test_every_pass_is_measured_and_proved(tmp_path: Path) -> None:
    plan = plan_of(SMALL, directions=("fprop", "dgrad", "wgrad"), repeats=3, backends=("torch_default", "onednn"))
    rows, seen, _ = measured(tmp_path / "run", plan)
    assert [(one.done, one.total, one.group.direction) for one in seen] == [
        (1, 3, "fprop"),
        (2, 3, "dgrad"),
        (3, 3, "wgrad"),
    ]
    timed = [row for row in rows if row["status"] == "measured"]
    absent = {row["reason"] for row in rows if row["backend"] == "onednn" and "this build" in row.get("reason", "")}
    for direction in ("fprop", "dgrad", "wgrad"):
        here = [row for row in timed if row["direction"] == direction]
        assert {row["layout_in"] for row in here if row["backend"] == "torch"} == {"nchw", "nhwc"}
        assert {row["backend"] for row in here} >= ({"torch"} if absent else {"torch", "onednn"})
    for row in timed:
        assert row["wall_low_ns"] <= row["wall_ns"] <= row["wall_high_ns"] and row["cpu_ns"] > 0
        assert row["n"] >= 2 and row["error"] < 1e-5 and row["flop"] == 2 * 2 * 16 * 8 * 9 * 81
        assert row["batch"] == 2 and row["threads"] == 1 and row["prepare_ns"] > 0 and row["layout_ns"] > 0
        assert row["algorithm"] in ("direct", "explicit_gemm"), row
        assert row["proof"] == {"torch": "log", "onednn": "queried"}[row["backend"]]
    default = next(row for row in timed if row["backend"] == "torch")
    assert default["implementation"].startswith("default: ") and "aten::" not in default["implementation"]
    cannot = [row for row in rows if row["status"] == "cannot"]
    assert cannot and all(row["reason"] and "wall_ns" not in row for row in cannot)


@pytest.mark.long
def test_a_filter_that_is_held_transformed_is_memory_of_fft(tmp_path: Path) -> None:
    """Filters as large as the padded image: 12 x 7 frequencies of 8 bytes for each of 32 x 32 pairs of channels."""
    plan = plan_of("1x32x10x10 k32 3x3 p1", directions=("fprop", "dgrad"), repeats=1, backends=("torch_fft",))
    rows, _, _ = measured(tmp_path / "run", plan)
    assert [row["status"] for row in rows] == ["measured", "measured"]
    assert all(row["workspace_bytes"] > 12 * 7 * 8 * 32 * 32 for row in rows), rows


@pytest.mark.long
def test_the_result_is_a_capture_and_can_be_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    rows, seen, left = measured(folder, plan_of(SMALL, "2x4x8x8 k8 5x5", budget_s=0.1, repeats=1))
    assert rows and len(seen) == 1 and left == 1, "a group that was begun is finished"
    more, seen, left = measured(folder, plan_of(SMALL, "2x4x8x8 k8 5x5", repeats=1))
    assert len(seen) == 1 and left == 0 and more[: len(rows)] == rows
    assert {row["layer"] for row in more} == {SMALL, "2x4x8x8 k8 5x5"}
    assert measured(folder, plan_of(SMALL, "2x4x8x8 k8 5x5"))[1] == [], "all is there"
    with traceview.open(folder) as trace:
        counted = trace.execute(f"SELECT layer, count(*) FROM raw.{TABLE} GROUP BY ALL ORDER BY ALL").fetchall()
    assert counted == sorted((name, sum(row["layer"] == name for row in more)) for name in (SMALL, "2x4x8x8 k8 5x5"))


@pytest.mark.long
def test_a_back_end_or_a_number_of_threads_is_added_later(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first, _, _ = measured(folder, plan_of(SMALL, repeats=1, backends=("torch_default",)))
    more, seen, _ = measured(folder, plan_of(SMALL, repeats=1, backends=("torch_default", "torch_gemm")))
    assert [row["backend"] for row in first] == ["torch", "torch"] and len(seen) == 1
    assert [row["backend"] for row in more] == ["torch", "torch", "torch_gemm"]
    two = Plan(plan_of(SMALL).groups, sys.executable, 2, backends=("torch_gemm",), repeats=1)
    assert [row["threads"] for row in measured(folder, two)[0]] == [1, 1, 1, 2]


def test_times_of_another_processor_are_not_gone_on_with(tmp_path: Path) -> None:
    """Times of a GPU, and published ones beside them, may have been measured there."""
    row = {"device": "cpu", "status": "measured", "source": "measured on A Processor, with what prepares the filter"}
    elsewhere = [{**row, "device": "Tesla T4"}, {**row, "status": "published"}]
    Journal(tmp_path / "run", {"kind": "study algorithms"}).add_all({TABLE: elsewhere})
    assert measured(tmp_path / "run", Plan((), sys.executable, 1)) == (elsewhere, [], 0)
    Journal(tmp_path / "run", {}).add_all({TABLE: [row]})
    with pytest.raises(UsageError, match=r"run was measured on A Processor, but this is .*; choose another name"):
        measured(tmp_path / "run", Plan((), sys.executable, 1))


def test_layers_of_one_shape_are_measured_once() -> None:
    twice = [(parse("3x8x8 k4 3x3")[0], None)] * 2 + [(parse("2x3x8x8 k4 3x3")[0], 2)]
    assert len(groups_of(twice, [1, 2], ["fprop", "wgrad"])) == 4


@pytest.mark.long
def test_other_types_are_measured_where_a_back_end_has_them(tmp_path: Path) -> None:
    layers = [(replace(layer, dtype="bfloat16"), batch) for layer, batch in [parse(SMALL)]]
    names = ("torch_default", "onednn", "winograd", "torch_gemm", "nnpack")
    plan = Plan(tuple(groups_of(layers, [2], ["fprop", "wgrad"])), sys.executable, 1, repeats=1, backends=names)
    rows, _, _ = measured(tmp_path / "run", plan)
    assert {row["dtype"] for row in rows} == {"bfloat16"}
    timed = [row for row in rows if row["status"] == "measured"]
    assert {row["backend"] for row in timed} <= {"torch", "onednn"} and {row["direction"] for row in timed} == {
        "fprop",
        "wgrad",
    }
    assert all(1e-5 < row["error"] < 2e-2 for row in timed), "eight bits of precision"
    for name in ("winograd", "torch_gemm", "nnpack"):
        told = [row for row in rows if row["backend"] == name]
        assert told and all(row["status"] == "cannot" and row["reason"] for row in told)
    assert not any(row["status"] in ("wrong", "failed") for row in rows)


BROKEN = """
import os
NAME, DEVICES = "broken", ("cpu",)
def version(): return "1"
def row(name, reason=None):
    return {"implementation": name, "algorithm": "direct", "layout_in": "nchw", "layout_out": "nchw", "reason": reason}
def implementations(layer, direction):
    return [row("dies"), row("raises"), row("lies"), row("pretends"), row("stays", "it has no time")]
class Runner:
    operands, workspace_bytes, implementation, operators = ("input", "filter"), 0, None, ("aten::mm",)
    def pack(self, name, tensor): return tensor
    def unpack(self, out): return out
def prepare(implementation, layer, direction):
    import torch
    runner, name = Runner(), implementation["implementation"]
    if name == "dies":
        os.abort()
    if name == "raises":
        raise RuntimeError("no memory left\\nfor this")
    def run(x, w):
        out = torch.nn.functional.conv2d(x, w, None, 1, 1)
        return out * 2 if name == "lies" else out
    runner.run = run
    return runner
"""


@pytest.mark.long
def test_a_back_end_that_fails_costs_its_own_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "convolution"
    shutil.copytree(CONVOLUTION, folder)
    (folder / "backends" / "broken.py").write_text(BROKEN)
    monkeypatch.setattr(worker, "PROGRAM", folder / "worker.py")
    rows, _, _ = measured(tmp_path / "run", plan_of(SMALL, backends=("broken", "torch_default"), repeats=1))
    told = {row["implementation"]: (row["status"], row.get("reason")) for row in rows}
    assert told["dies"] == ("failed", "its process was ended by SIGABRT")
    assert told["raises"] == ("failed", "no memory left for this")
    assert told["lies"][0] == "wrong" and "of the largest value, more than 1e-03" in str(told["lies"][1])
    assert told["pretends"] == ("failed", "a trace of the run shows no aten::mm")
    assert told["stays"] == ("cannot", "it has no time")
    assert sum(row["status"] == "measured" for row in rows) == 2


def test_a_python_without_torch_is_said(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    python.chmod(0o755)
    plan = Plan(plan_of(SMALL).groups, str(python), 1)
    with pytest.raises(UsageError, match="cannot measure: ModuleNotFoundError: No module named 'torch'"):
        measured(tmp_path / "run", plan)


@pytest.mark.long
def test_without_a_gpu_it_is_said(tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(UsageError, match="sees no GPU here"):
        measured(tmp_path / "gpu", plan_of(SMALL, device="cuda"))
    rows, _, _ = measured(tmp_path / "cpu", plan_of(SMALL, backends=("cudnn",)))
    assert [(row["status"], "GPU" in row["reason"] or "driver" in row["reason"]) for row in rows] == [("cannot", True)]


@pytest.mark.long
def test_a_layer_that_fits_nowhere_costs_its_own_group(tmp_path: Path) -> None:
    plan = plan_of("4096x1024x100000x100000 k4096 3x3 p1", SMALL, repeats=1, backends=("torch_default",))
    rows, _, _ = measured(tmp_path / "run", plan)
    assert rows[0]["status"] == "failed" and "memory" in rows[0]["reason"], rows[0]
    assert [row["status"] for row in rows[1:]] == ["measured", "measured"]


@pytest.mark.parametrize("n", [1, 2, 5, 6, 8, 14, 80])
def test_the_interval_holds_the_median_as_often_as_it_says(n: int) -> None:
    low, high = interval(n)
    outside = 2 * sum(comb(n, k) for k in range(low + 1)) / 2**n
    assert high == n - 1 - low
    if n >= 6:
        narrower = outside + 2 * comb(n, low + 1) / 2**n
        assert outside <= 0.05 < narrower
    else:
        assert low == 0
