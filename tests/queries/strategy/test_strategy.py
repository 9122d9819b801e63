"""The best combination over times that somebody measured, under a cap and beside every single algorithm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import connected
from given import section

from traceview import cli
from traceview.experiments import results
from traceview.experiments.algorithms.layers import parse
from traceview.experiments.imports import published

Row = dict[str, Any]
SETTING = {"dtype": "float32", "device": "NVIDIA TITAN X", "status": "published", "n": 10, "model": "Net"}
STRIDED, PLAIN = "8x3x64x64 k32 5x5 s2 p2", "8x32x32x32 k32 3x3 s1 p1"
MB = 10**6


def timed(name: str, text: str, direction: str, algorithm: str | None, ms: float, **more: Any) -> Row:
    layer, batch = parse(text)
    row = {**layer.facts(), **SETTING, "layer": name, "direction": direction, "batch": batch, "algorithm": algorithm}
    row |= {"backend": "lib", "implementation": algorithm, "wall_ns": round(ms * 1e6), "flop": layer.flop(batch or 1)}
    return row | more


ROWS = (
    timed("one", STRIDED, "fprop", "implicit_gemm", 4, workspace_bytes=0),
    timed("one", STRIDED, "backward", "implicit_gemm", 9, workspace_bytes=0),
    timed("two", PLAIN, "fprop", "implicit_gemm", 5, workspace_bytes=0),
    timed("two", PLAIN, "fprop", "fft", 2, workspace_bytes=100 * MB),
    timed("two", PLAIN, "fprop", "fft", 3, workspace_bytes=50 * MB, implementation="tiled"),
    timed("two", PLAIN, "backward", "implicit_gemm", 10, workspace_bytes=0),
    timed("two", PLAIN, "dgrad", "fft", 3, workspace_bytes=90 * MB),
    timed("two", PLAIN, "wgrad", "fft", 4, workspace_bytes=110 * MB),
)


def capture(folder: Path, *rows: Row) -> Path:
    return results.write(folder / "study", {"algorithm_times": rows}, {"kind": "study"})


def planned(connection: duckdb.DuckDBPyConnection, **values: Any) -> dict[tuple[str, str], tuple[Any, ...]]:
    rows = section(connection, "strategy/choices", **values)
    return {(row["layer"], row["pass"]): (row["algorithm"], row["time_ns"]) for row in rows}


def sums(connection: duckdb.DuckDBPyConnection, **values: Any) -> dict[str, Row]:
    return {row["strategy"]: row for row in section(connection, "strategy/totals", **values)}


def test_the_plan_takes_the_fastest_of_each_pass(tmp_path: Path) -> None:
    connection = connected(capture(tmp_path, *ROWS))
    assert planned(connection) == {
        ("one", "fprop"): ("implicit_gemm", 4 * MB), ("one", "backward"): ("implicit_gemm", 9 * MB),
        ("two", "fprop"): ("fft", 2 * MB), ("two", "backward"): ("fft", 7 * MB),
    }  # fmt: skip
    found = sums(connection)
    assert list(found) == ["the plan", "implicit_gemm", "fft"]
    assert (found["the plan"]["total_ns"], found["implicit_gemm"]["total_ns"]) == (22 * MB, 28 * MB)
    assert found["implicit_gemm"]["times_as_fast"] == pytest.approx(28 / 22)


def test_an_algorithm_that_cannot_do_every_pass_has_no_sum_of_its_own(tmp_path: Path) -> None:
    """No FFT has a stride of 2: with the plan's choices there it is what it is at least."""
    fft = sums(connected(capture(tmp_path, *ROWS)))["fft"]
    assert (fft["passes"], fft["total_ns"], fft["times_as_fast"]) == ("2 of 4", None, None)
    assert (fft["filled_ns"], fft["least_times"]) == (22 * MB, 1)


@pytest.mark.parametrize(
    ("cap", "forward", "backward"),
    [
        (110 * MB, ("fft", 2 * MB), ("fft", 7 * MB)),
        (110 * MB - 1, ("fft", 2 * MB), ("implicit_gemm", 10 * MB)),
        (100 * MB - 1, ("fft", 3 * MB), ("implicit_gemm", 10 * MB)),
        (0, ("implicit_gemm", 5 * MB), ("implicit_gemm", 10 * MB)),
    ],
)
def test_under_a_cap_it_takes_what_fits(tmp_path: Path, cap: int, forward: Any, backward: Any) -> None:
    """Two gradients share one workspace, so that the larger counts."""
    found = planned(connected(capture(tmp_path, *ROWS)), cap_bytes=cap)
    assert (found["two", "fprop"], found["two", "backward"]) == (forward, backward)


def test_unknown_memory_is_not_taken_to_fit(tmp_path: Path) -> None:
    """The choice of a heuristic is the default; nobody says its memory."""
    chosen = {"backend": "cuDNN", "implementation": "by cuDNN's heuristic", "backend_version": "R4"}
    rows = (*ROWS, timed("two", PLAIN, "fprop", None, 1, **chosen), timed("one", STRIDED, "fprop", None, 1, **chosen))
    connection = connected(capture(tmp_path, *rows))
    assert planned(connection)["two", "fprop"] == ("(unknown: cuDNN R4)", 1 * MB)
    assert planned(connection, cap_bytes=0)["two", "fprop"] == ("implicit_gemm", 5 * MB)
    alone = connected(capture(tmp_path / "alone", *rows[-2:], *ROWS[3:5]))
    found = planned(alone, cap_bytes=10 * MB)
    assert found["one", "fprop"] == ("(unknown: cuDNN R4) (memory unknown)", 1 * MB)
    assert found["two", "fprop"] == ("(unknown: cuDNN R4) (memory unknown)", 1 * MB)


def test_nothing_that_fits_is_said(tmp_path: Path) -> None:
    connection = connected(capture(tmp_path, *ROWS[3:5]))
    assert planned(connection, cap_bytes=0) == {("two", "fprop"): ("(nothing fits)", None)}
    plan = sums(connection, cap_bytes=0)["the plan"]
    assert (plan["passes"], plan["total_ns"]) == ("0 of 1", None)


def test_other_devices_are_never_mixed(tmp_path: Path) -> None:
    other = [row | {"device": "NVIDIA P100", "wall_ns": 1} for row in ROWS]
    connection = connected(capture(tmp_path, *ROWS, *other))
    found = section(connection, "strategy/totals")
    plans = {row["setting"]: row["total_ns"] for row in found if row["strategy"] == "the plan"}
    assert plans == {"NVIDIA TITAN X": 22 * MB, "NVIDIA P100": 4}


@pytest.mark.slow
def test_schedule_prints_it_and_says_that_it_is_not_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = capture(tmp_path, *ROWS)
    assert cli.main(["schedule", str(folder), "--workspace", "64MB", "--plan", str(tmp_path / "plan.json")]) == 0
    shown = capsys.readouterr()
    assert "not proved" in shown.err and "nothing here is proved" in " ".join(shown.out.split())
    assert "CUDNN_CONV_WSCAP_DBG=61" in shown.out and "benchmark_limit" in shown.out
    assert not (tmp_path / "plan.json").exists()
    assert cli.main(["schedule", str(folder), "--", "python", "train.py"]) == 2
    assert "no command can prove them here" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.shared
def test_the_published_plan_of_alexnet(shared: Path, tmp_path: Path) -> None:
    """26.55 and 56.15 ms: 3.76 times as fast as im2col with GEMM, 1.26 times as fast as cuDNN R4's heuristic."""
    logs = [shared / "studies" / f"convnet-benchmarks_{name}.log" for name in (
        "6f718db_caffe_output_alexnet", "de7cfc3_caffe_output_alexnet", "cff9dc3_torch_output_raw",
    )]  # fmt: skip
    connection = connected(results.write(tmp_path / "c", published.gather(logs).rows, {"kind": "study"}))
    choices = section(connection, "strategy/choices", network="alexnet")
    by_pass = {name: sum(row["time_ns"] for row in choices if row["pass"] == name) for name in ("fprop", "backward")}
    assert {name: round(total / 1e6, 2) for name, total in by_pass.items()} == {"fprop": 26.55, "backward": 56.15}
    found = sums(connection, network="AlexNet")
    assert round(found["explicit_gemm"]["times_as_fast"], 2) == 3.76
    assert round(found["the default: cuDNN Caffe, by cuDNN's heuristic"]["times_as_fast"], 2) == 1.26
    assert list(found)[1].startswith("the default")
