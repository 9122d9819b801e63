"""Two studies beside each other: what both measured, by shape, batch, pass and algorithm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compared import table

from traceview import store
from traceview.analysis import compare
from traceview.analysis.compare import Run
from traceview.analysis.model import Report
from traceview.experiments import results
from traceview.experiments.algorithms.layers import parse

Row = dict[str, Any]


def timed(algorithm: str | None, ms: float, **more: Any) -> Row:
    layer, batch = parse("8x64x27x27 k96 5x5 s1 p2")
    row = {**layer.facts(), "batch": batch, "direction": "fprop", "algorithm": algorithm, "wall_ns": round(ms * 1e6)}
    setting = {"device": "cpu", "threads": 1, "dtype": "float32", "status": "measured", "backend": "lib"}
    return {**row, **setting, "implementation": f"{algorithm} {ms}", **more}


def study(folder: Path, *rows: Row) -> Run:
    made = results.write(folder, {"algorithm_times": rows}, {"kind": "study"})
    with store.open_capture(made) as connection:
        return compare.measure(connection, folder.name, None, True)


def of(report: Report) -> list[tuple[Any, ...]]:
    names = ("direction", "algorithm", "base_ns", "total_ns", "ratio", "fastest", "others_pct")
    return [tuple(row[name] for name in names) for row in table(report, "studied")]


@pytest.mark.slow
def test_what_both_measured_stands_side_by_side(tmp_path: Path) -> None:
    before = study(
        tmp_path / "a", timed("fft", 4), timed("direct", 8), timed("direct", 9), timed("winograd", 1),
        timed("direct", 5, threads=2),
    )  # fmt: skip
    after = study(
        tmp_path / "b", timed("fft", 6, others_pct=40.0), timed("direct", 4), timed("direct", 3, direction="wgrad"),
        timed("fft", 1, status="wrong"), timed("direct", 1, batch=16),
    )  # fmt: skip
    found = compare.compare([before, after])
    assert of(found) == [
        ("fprop", "direct", 8_000_000, 4_000_000, 0.5, "B", None),
        ("fprop", "fft", 4_000_000, 6_000_000, 1.5, "A", 40.0),
    ]
    (answer,) = table(found, "answer")
    assert "the passes of convolutions that both measured are compared below" in answer["sentence"]


@pytest.mark.slow
def test_times_are_those_that_the_study_itself_compares(tmp_path: Path) -> None:
    # Beside other programs, one thread that computed has its processor time.
    busy = {"others_pct": 80.0}
    before = study(tmp_path / "a", timed("winograd", 9, cpu_ns=3_000_000, **busy), timed("fft", 5, cpu_ns=4_000_000))
    # Two times that lie far apart are the fastest of nothing.
    wide = {"n": 2, "wall_low_ns": 1_000_000, "wall_high_ns": 3_000_000}
    after = study(tmp_path / "b", timed("winograd", 2, cpu_ns=1_000_000, **wide), timed("fft", 4, cpu_ns=4_000_000))
    assert of(compare.compare([before, after])) == [
        ("fprop", "winograd", 3_000_000, 2_000_000, pytest.approx(2 / 3), "A", 80.0),
        ("fprop", "fft", 5_000_000, 4_000_000, 0.8, "B", None),
    ]


@pytest.mark.slow
def test_published_times_of_a_processor_meet_by_their_threads(tmp_path: Path) -> None:
    said = {"status": "published", "device": "cpu"}
    runs = [
        study(tmp_path / name, *(timed("fft", ms / n, threads=n, source=f"{name}.csv", **said) for n in (1, 4)))
        for name, ms in (("a", 8), ("b", 4))
    ]
    found = [(row["base_setting"], row["setting"]) for row in table(compare.compare(runs), "studied")]
    assert sorted(found) == [("cpu, 1 thread",) * 2, ("cpu, 4 threads",) * 2]


@pytest.mark.long
def test_other_devices_meet_where_nothing_is_of_the_same(tmp_path: Path) -> None:
    here = study(tmp_path / "a", timed("fft", 4))
    there = study(tmp_path / "b", timed("fft", 1, device="TITAN X (Maxwell)", threads=None, status="published"))
    (row,) = table(compare.compare([here, there]), "studied")
    assert (row["base_setting"], row["setting"], row["ratio"]) == ("cpu, 1 thread", "TITAN X (Maxwell)", 0.25)


@pytest.mark.slow
def test_studies_of_other_layers_have_nothing_in_common(tmp_path: Path) -> None:
    found = compare.compare([study(tmp_path / "a", timed("fft", 4)), study(tmp_path / "b", timed("direct", 4))])
    assert of(found) == []
    assert table(found, "answer")[0]["sentence"].startswith("B and A have no time to compare")
