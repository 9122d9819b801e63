"""Memory of two runs at two batches: what a sample takes, and the batch that fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from compared import GEMM, measured, table
from given import Given
from memories import allocated

from traceview.analysis import compare

pytestmark = pytest.mark.slow


def run(batch: int, **counters: int) -> Given:
    """One step of a product, with this many rows, and peaks of counters."""
    given = Given()
    given.device("V100", memory_bytes=10_000)
    given.span("step", "step#1", 0, 1000)
    given.op("aten::mm", 0, 20, [[batch, 64], [64, 64]], ["", ""])
    given.kernel(GEMM, 10, 110, launched=5)
    for name, value in counters.items():
        given.add("counters", start_ns=1000, device=0, name=name, value=value)
    return given


def logged(*batches: int) -> Given:
    """A log of averages of convolutions with these batches, and of the network."""
    given = Given()
    for number, batch in enumerate(batches):
        for layer, shape in ((f"conv{number}", f"{batch}x3x32x32 k8 3x3 s1 p1"), (None, None)):
            args = {"source": "log", "run": 1, "layer": layer, "type": "Convolution", "direction": "forward"}
            args |= {"ns": 1000 * batch, "n": 10, "shape": shape}
            given.add("events", category="layer_time", name=layer, args=json.dumps(args))
    return given


@pytest.mark.parametrize(
    ("batches", "verdict"), [((64,), "differs"), ((128, 128), "same"), ((128, 64), "not recorded")]
)
def test_the_batch_of_a_log_is_that_of_its_convolutions(tmp_path: Path, batches: tuple[int, ...], verdict: str) -> None:
    report = compare.compare([measured(logged(128), tmp_path / "a"), measured(logged(*batches), tmp_path / "b")])
    (condition,) = [row for row in table(report, "conditions") if row["condition"] == "batch"]
    assert condition["verdict"] == verdict


def rows(tmp_path: Path, *runs: Given) -> list[dict[str, Any]]:
    return table(compare.compare([measured(it, tmp_path / f"run-{n}") for n, it in enumerate(runs)]), "batches")


def test_a_line_through_two_peaks(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, run(4, allocated_bytes=1400), run(8, allocated_bytes=2200, reserved_bytes=4000))
    assert found == {
        "run": "B", "counter": "allocated_bytes", "base_batch": 4, "batch": 8, "base_bytes": 1400, "peak_bytes": 2200,
        "sample_bytes": 200, "fixed_bytes": 600, "memory_bytes": 10_000, "largest_batch": 47,
        "limit_moment": None, "limit_sample_bytes": None,
    }  # fmt: skip


def test_allocations_are_taken_where_there_are(tmp_path: Path) -> None:
    runs = run(4, allocated_bytes=1400), run(8, allocated_bytes=2200)
    for given, size in zip(runs, (2000, 3000), strict=True):
        given.add("allocations", device=0, address=64, size_bytes=size, how="noted", pid=1)
    (found,) = rows(tmp_path, *runs)
    assert (found["counter"], found["sample_bytes"], found["fixed_bytes"]) == ("allocations", 250, 1000)


def moments(batch: int, fixed: int) -> Given:
    """A product that holds 100 bytes per sample, and what an optimizer needs later: 10 per sample and `fixed`."""
    given = run(batch)
    given.op("aten::div", 500, 600)
    allocated(given, 10, 300, size_bytes=100 * batch, device=0)
    allocated(given, 510, 700, size_bytes=fixed + 10 * batch, device=0)
    return given


def test_a_moment_that_is_not_the_peak_today_limits_the_batch(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, moments(4, 5000), moments(8, 5000))
    assert (found["base_bytes"], found["peak_bytes"], found["sample_bytes"]) == (5040, 5080, 10)
    # By the line of the peak 500 would fit, of which the product alone takes 50,000 bytes.
    assert (found["largest_batch"], found["limit_moment"], found["limit_sample_bytes"]) == (100, "aten::mm", 100)


def test_the_peak_limits_the_batch_where_it_grows_as_fast(tmp_path: Path) -> None:
    runs = [moments(batch, 5000 + 500 * batch) for batch in (4, 8)]
    (found,) = rows(tmp_path, *runs)
    assert (found["sample_bytes"], found["largest_batch"], found["limit_moment"]) == (510, 9, None)


def test_no_batch_fits_where_the_rest_alone_is_too_large(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, moments(4, 11_000), moments(8, 11_000))
    assert found["largest_batch"] == 0 and found["limit_moment"] == "aten::div"


@pytest.mark.parametrize("other", [run(4, allocated_bytes=2200), run(8)])
def test_the_same_batch_or_no_peak_tells_nothing(other: Given, tmp_path: Path) -> None:
    assert rows(tmp_path, run(4, allocated_bytes=1400), other) == []


def test_no_line_goes_through_two_programs(tmp_path: Path) -> None:
    """One has another model, the other a line below zero at a batch of nothing, as with another optimizer."""
    wide = run(8, allocated_bytes=2200)
    wide.rows["ops"][0]["shapes"] = "[[8, 64], [64, 128]]"
    assert rows(tmp_path / "model", run(4, allocated_bytes=1400), wide) == []
    assert rows(tmp_path / "optimizer", run(4, allocated_bytes=1000), run(8, allocated_bytes=2004)) == []
    (through,) = rows(tmp_path / "nothing", run(4, allocated_bytes=1000), run(8, allocated_bytes=2000))
    assert (through["sample_bytes"], through["fixed_bytes"]) == (250, 0)


def test_where_the_peak_does_not_grow_no_batch_is_named(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, run(4, allocated_bytes=1400), run(8, allocated_bytes=1300))
    assert found["largest_batch"] is None and found["sample_bytes"] == -25
