"""Times made by a known model are told to be of it, with its numbers; points that cannot tell are said to be that."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from traceview.experiments.scaling.models import BEST, CANNOT, MODELS, PARAMETER_SERVER, RING, TREE, WORSE, Point, fit

MB = 1_000_000


def made(model: str, ranks: tuple[int, ...], sizes: tuple[float, ...], latency_ns: float, rate: float) -> list[Point]:
    points = []
    for n in ranks:
        for size in sizes:
            messages, moved = MODELS[model](n, size)
            points.append(Point(n, size, messages * latency_ns + moved / rate * 1e9))
    return points


@pytest.mark.parametrize("model", MODELS)
def test_a_model_finds_its_own_numbers(model: str) -> None:
    first, *others = fit(made(model, (2, 3, 4, 8), (0.4 * MB, 12 * MB, 258 * MB), 30_000, 6e9))
    assert (first.model, first.verdict, first.points) == (model, BEST, 12)
    assert first.latency_ns == pytest.approx(30_000) and first.bytes_per_s == pytest.approx(6e9)
    assert first.residual_pct == pytest.approx(0, abs=1e-6)
    assert {each.verdict for each in others} == {WORSE} and all((each.residual_pct or 0) > 5 for each in others)
    assert first.time_ns(4, 250 * MB) == pytest.approx(made(model, (4,), (250 * MB,), 30_000, 6e9)[0].time_ns)


def test_one_size_gives_a_bandwidth_and_no_latency() -> None:
    first, *others = fit(made(RING, (2, 4, 8), (10.0 * MB,), 0, 5e9))
    assert (first.model, first.verdict, first.latency_ns) == (RING, BEST, None)
    assert first.bytes_per_s == pytest.approx(5e9) and {each.verdict for each in others} == {WORSE}


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (made(RING, (2,), (1.0 * MB, 2.0 * MB, 8.0 * MB), 1000, 5e9), "all points are of 2 ranks"),
        ([Point(2, MB, 1e6), Point(4, 2 * MB, 3e6)], "2 points are too few for 2 parameters"),
        # Without the last point a ring would be as good; that one alone makes it a tree.
        ([*made(RING, (2, 4), (1.0 * MB, 8.0 * MB), 0, 1e9), Point(8, 8.0 * MB, 48e6)], "depends on a single point"),
        # Up to four ranks a tree and a chain of transfers are far apart, noise of a half hides it.
        ([Point(2, MB, 1e6), Point(4, MB, 9e6), Point(8, MB, 1e6), Point(16, MB, 30e6)], "no model fits"),
    ],
)  # fmt: skip
def test_points_that_cannot_tell(points: list[Point], said: str) -> None:
    found = fit(points)
    assert len(found) == 3 and {each.verdict for each in found} == {CANNOT}
    assert all(said in str(each.reason) for each in found)


def test_no_residual_where_no_point_is_left_over() -> None:
    assert [each.residual_pct for each in fit([Point(2, MB, 1e6)])] == [None] * 3
    assert fit([]) == [] and fit([Point(1, MB, 1e6), Point(2, MB, 0)]) == []


def test_latency_and_rate_are_never_negative() -> None:
    # Time that shrinks with bytes: only a latency is left.
    falling = [Point(2, MB, 2e6), Point(2, 2 * MB, 1.5e6), Point(4, MB, 4e6), Point(4, 2 * MB, 3e6)]
    found = {each.model: each for each in fit(falling)}
    assert found[PARAMETER_SERVER].bytes_per_s is None and (found[PARAMETER_SERVER].latency_ns or 0) > 0
    assert all((each.latency_ns or 0) >= 0 and (each.bytes_per_s or 1) > 0 for each in found.values())
    # Exactly in proportion to bytes, no latency at all.
    flat = fit(made(TREE, (2, 4), (1.0 * MB, 2.0 * MB), 0, 1e9))
    assert (flat[0].model, flat[0].latency_ns) == (TREE, pytest.approx(0, abs=1e-6))


def speedup(model: str, total_batch: int, ranks: int) -> float:
    """Strong scaling with the numbers of the AlexNet study: 200 ms at batch 256, 25 ms for 250 MB, no overlap."""
    compute_ms = 200 * total_batch / 256
    _, moved = MODELS[model](ranks, 250e6)
    return compute_ms / (compute_ms / ranks + moved / 250e6 * 25)


def test_the_models_agree_with_what_the_study_of_alexnet_says() -> None:
    """STUDIES.md, B.4: four GPUs no better than two, and at batch 128 no better than one."""
    found = {
        (batch, n): [round(speedup(model, batch, n), 2) for model in (PARAMETER_SERVER, TREE, RING)]
        for batch in (128, 256, 512)
        for n in (2, 4)
    }
    assert found == {
        (128, 2): [1.00, 1.00, 1.33], (128, 4): [0.57, 0.80, 1.60], (256, 2): [1.33, 1.33, 1.60],
        (256, 4): [1.00, 1.33, 2.29], (512, 2): [1.60, 1.60, 1.78], (512, 4): [1.60, 2.00, 2.91],
    }  # fmt: skip


def test_a_ring_fits_the_published_all_reduce(shared: Path) -> None:
    """DeepBench, 8 Titan X, NCCL 2: bus bandwidth is about 6.1 GB/s whatever the number of ranks."""
    with (shared / "studies/deepbench_titanx_maxwell_allreduce.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if not row["nodes"] and float(row["bytes"]) > 10e6]
    first, *_ = fit([Point(int(row["ranks"]), float(row["bytes"]), 1e6 * float(row["mean_ms"])) for row in rows])
    assert (first.model, first.verdict) == (RING, BEST)
    assert first.bytes_per_s is not None and 5.8e9 < first.bytes_per_s < 6.4e9
    assert (first.residual_pct or 100) < 10
