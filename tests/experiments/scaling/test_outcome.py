"""Speed-ups, efficiencies and verdicts of rounds of runs; published points; fits of what was recorded."""

from __future__ import annotations

from typing import Any

import pytest

from traceview.experiments.scaling.outcome import ALL, WITHIN, fitted, models, points, published


def run(number: int, ranks: int, batch: int, step_ms: float, **more: Any) -> dict[str, Any]:
    row = {
        "mode": "weak", "round": number, "ranks": ranks, "batch": batch, "global_batch": ranks * batch,
        "threads": 1, "cores": 2, "device": "cpu", "step_ns": int(step_ms * 1e6), "others_pct": 1.0,
    }  # fmt: skip
    return row | more


def rounds(n: int, ranks: int, batch: int, step_ms: float, **more: Any) -> list[dict[str, Any]]:
    """Rounds in which the machine is slower and slower, and one by a percent more than the others."""
    return [run(i, ranks, batch, step_ms * (1 + 0.1 * i) * (1.01 if i == 1 else 1), **more) for i in range(1, n + 1)]


def test_a_speed_up_is_of_samples_per_second_and_of_pairs_of_one_round() -> None:
    base, two, four = points([*rounds(6, 1, 32, 10), *rounds(6, 2, 32, 12.5), *rounds(6, 4, 32, 40)])
    assert (base["verdict"], base["speedup"], base["base_ranks"]) == ("base", 1.0, 1)
    assert two["speedup"] == pytest.approx(1.6) and two["verdict"] == "faster"
    assert (two["low"], two["high"]) == (pytest.approx(1.6), pytest.approx(1.6)), "rounds slow both down alike"
    assert two["confidence"] >= 0.95 and two["runs"] == 6
    # Median of the rounds: 1.35 times the first time.
    assert two["step_ns"] == pytest.approx(12.5e6 * 1.35)
    assert two["samples_per_s"] == pytest.approx(64 / (12.5e-3 * 1.35))
    assert four["speedup"] == pytest.approx(1.0) and four["verdict"] == "no difference seen"
    assert [row["is_oversubscribed"] for row in (base, two, four)] == [False, False, True]


def test_runs_of_other_sessions_are_no_pairs() -> None:
    """Two ranks were added a week after six rounds of one rank; three more rounds run both, one after the other."""

    def at(first_s: int, rows: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
        window = {"total_ns": 4 * 10**9, **more}
        return [row | {"started_unix_ns": (first_s + 10 * row["round"]) * 10**9} | window for row in rows]

    one, two, week_s = at(0, rounds(6, 1, 32, 10)), rounds(6, 2, 32, 13), 7 * 86_400
    assert points([*one, *at(5, two)])[1]["speedup"] == pytest.approx(20 / 13)
    for added in (at(week_s, two), at(5, two, cores=8)):
        _, point = points([*one, *added])
        assert (point["verdict"], point.get("speedup"), point["runs"]) == ("cannot decide", None, 0)
        assert point["reason"].startswith("its runs were not made beside those of the fewest ranks, with as many cores")
    more = [*at(week_s, rounds(9, 1, 32, 10)[6:]), *at(week_s + 5, rounds(9, 2, 32, 12.5)[6:])]
    _, point = points([*one, *at(week_s, two), *more])
    assert (point["verdict"], point["speedup"], point["runs"]) == ("faster", pytest.approx(1.6), 3)


@pytest.mark.parametrize(
    ("pause_s", "found"), [(3, ("faster", None, 3)), (7 * 86_400, ("cannot decide", "2 of at least 3 rounds", 2))]
)
def test_a_round_that_was_cut_is_a_pair_only_where_it_goes_on_soon(pause_s: int, found: tuple[Any, ...]) -> None:
    """A run of one rank takes 30 s, of four 20 s in between and of two 5 s; round 1 ends after its first run."""
    runs, now_s = [], 0
    for number in (1, 2, 3):
        for ranks, seconds in ((1, 30), (4, 20), (2, 5)):
            window = {"started_unix_ns": now_s * 10**9, "total_ns": seconds * 10**9}
            runs.append(run(number, ranks, 32, 10 * (1.25 if not now_s else 1), **window))
            now_s += seconds + (pause_s if len(runs) == 1 else 1)
    two = points(runs)[1]
    assert (two["verdict"], two["reason"], two["runs"]) == found


def test_three_rounds_give_an_interval_with_the_share_it_has_and_two_none() -> None:
    *_, three = points([*rounds(3, 1, 8, 10), *rounds(3, 2, 8, 25)])
    assert (three["verdict"], three["confidence"]) == ("slower", 0.75) and three["speedup"] == pytest.approx(0.8)
    *_, two = points([*rounds(2, 1, 8, 10), *rounds(2, 2, 8, 25)])
    assert (two["verdict"], two["low"], two["reason"]) == ("cannot decide", None, "2 of at least 3 rounds")


def test_strong_scaling_compares_equal_work_of_all_ranks() -> None:
    one = [run(i, 1, 64, 40, mode="strong", global_batch=64) for i in (1, 2, 3)]
    two = [run(i, 2, 32, 25, mode="strong", global_batch=64) for i in (1, 2, 3)]
    other = [run(i, 1, 32, 20, mode="strong", global_batch=32) for i in (1, 2, 3)]
    found = {(row["ranks"], row["global_batch"]): row for row in points([*one, *two, *other])}
    assert found[2, 64]["speedup"] == pytest.approx(1.6) and found[1, 32]["verdict"] == "base"


@pytest.mark.parametrize(
    ("noted", "is_compared"),
    [((64, 32), False), ((64, 64), True), ((16, 16), True), ((None, 32), True)],  # 16: in four pieces.
)
def test_samples_count_only_where_each_size_trains_its_share_of_them(
    noted: tuple[int | None, int], is_compared: bool
) -> None:
    one, two = points([*rounds(6, 1, 64, 40, noted_batch=noted[0]), *rounds(6, 2, 64, 25, noted_batch=noted[1])])
    assert one["verdict"] == "base" and one["samples_per_s"]
    if is_compared:
        assert two["speedup"] == pytest.approx(3.2) and two["samples_per_s"] and two["verdict"] == "faster"
        return
    assert (two["verdict"], two.get("speedup"), two["samples_per_s"]) == ("cannot decide", None, None)
    assert two["reason"] == (
        "the model of a rank got a batch of 32 where 64 was asked for, that of 1 rank 64 for 64: a script that divides "
        "the batch itself is given that of all ranks (--global-batch, and {global_batch} in the command)"
    )


def test_a_command_without_a_batch_is_compared_where_every_rank_got_the_same() -> None:
    def unasked(ranks: int, step_ms: float, noted: int) -> list[dict[str, Any]]:
        return [row | {"batch": None, "global_batch": None} for row in rounds(6, ranks, 1, step_ms, noted_batch=noted)]

    assert points([*unasked(1, 590, 256), *unasked(2, 590, 256)])[1]["speedup"] == pytest.approx(2)
    nodes = points([*unasked(1, 590, 600), *unasked(2, 590, 612)])[1]
    assert nodes["speedup"] == pytest.approx(2), "nodes of 32 graphs each"
    uneven = points([*unasked(1, 590, 100), *unasked(3, 200, 34)])[1]
    assert uneven["verdict"] == "cannot decide" and "that of 1 rank 100" in uneven["reason"]
    _, two = points([*unasked(1, 590, 256), *unasked(2, 295, 128)])
    assert (two["verdict"], two.get("speedup"), two["samples_per_s"]) == ("cannot decide", None, None)
    assert two["reason"] == (
        "the model of a rank got a batch of 128, that of 1 rank 256: a script that divides the batch itself is given "
        "that of all ranks (--global-batch, and {global_batch} in the command)"
    )


def test_without_a_batch_ranks_are_counted() -> None:
    runs = [run(i, n, 1, 10 * n) | {"batch": None, "global_batch": None} for i in (1, 2, 3) for n in (1, 2)]
    *_, two = points(runs)
    assert two["speedup"] == pytest.approx(1.0) and two["samples_per_s"] is None


def test_what_is_too_noisy_is_said_to_be() -> None:
    busy = [*rounds(3, 1, 8, 10), *rounds(3, 2, 8, 11, others_pct=35.0)]
    assert points(busy)[1]["verdict"] == "too noisy"
    assert points(busy)[1]["reason"] == "other programs took up to 35 % of the cores in 3 of 3 rounds"
    wide = [run(i, n, 8, step) for i, steps in enumerate([(10, 11), (10, 25), (10, 12)], 1) for n, step in
            zip((1, 2), steps, strict=True)]  # fmt: skip
    assert points(wide)[1]["verdict"] == "too noisy" and "the rounds differ too much" in points(wide)[1]["reason"]
    # Three quiet rounds are enough, the noisy fourth is left out.
    some = [*rounds(4, 1, 8, 10), *rounds(3, 2, 8, 11), run(4, 2, 8, 99, others_pct=35.0)]
    assert (points(some)[1]["verdict"], points(some)[1]["noisy"], points(some)[1]["runs"]) == ("faster", 1, 3)


def test_runs_without_times_keep_their_reason() -> None:
    failed = [run(1, 2, 8, 0, step_ns=None, reason="the command failed with exit code 1: no memory")]
    base, two = points([*rounds(1, 1, 8, 10), *failed])
    assert (two["verdict"], two["reason"]) == ("failed", "the command failed with exit code 1: no memory")
    assert base["verdict"] == "base" and "speedup" not in two
    *_, alone = points([run(1, 1, 8, 0, step_ns=None, reason="x"), run(1, 2, 8, 5)])
    assert alone["verdict"] == "cannot decide" and "fewest ranks gave no times" in alone["reason"]


def exchange(ranks: int, size: int, wall_ns: float) -> dict[str, Any]:
    return {
        "kind": "all_reduce", "status": "measured", "ranks": ranks, "size_bytes": size, "wall_ns": wall_ns,
        "threads": 1, "cores": 2, "device": "cpu",
    }  # fmt: skip


def test_times_of_ranks_that_share_cores_are_fitted_apart() -> None:
    times = [exchange(n, size, 2 * (n - 1) * (50_000 + size)) for n in (2, 4) for size in (100_000, 1_600_000)]
    found = models([*times, exchange(4, 100_000, 900_000)])
    assert {row["scope"] for row in found} == {ALL, WITHIN}
    nearest, *_ = found
    assert (nearest["model"], nearest["verdict"], nearest["points"]) == ("parameter server", "cannot tell", 4)
    assert nearest["reason"] == "some of these ranks share cores, which takes time too"
    within = [row for row in found if row["scope"] == WITHIN]
    assert {row["verdict"] for row in within} == {"cannot tell"} and "2 ranks" in within[0]["reason"]
    assert {row["scope"] for row in models(times[:2])} == {ALL}


def test_a_busy_machine_tells_no_model() -> None:
    times = [exchange(n, size, 2 * (n - 1) * (50_000 + size)) | {"cores": 8} for n in (2, 4) for size in (10**5, 10**6)]
    assert models(times)[0]["verdict"] == "best"
    busy = [{**row, "others_pct": 40.0} for row in times]
    assert {row["verdict"] for row in models(busy)} == {"cannot tell"}
    assert models(busy)[0]["reason"] == "other programs took up to 40 % of the cores meanwhile"
    assert models(busy)[0]["model"] == "parameter server", "the nearest still stands first, with its error"


def test_times_of_equal_size_are_one_point() -> None:
    some = [exchange(2, 100, wall) for wall in (10, 20, 900)] + [exchange(4, 100, 40)]
    assert {row["points"] for row in fitted("x", some)} == {2}


def test_published_points_have_their_sources() -> None:
    found = [row for row in published() if row["source"].startswith("TensorFlow") and "P100" in row["name"]]
    assert [round(row["speedup"], 2) for row in found] == [1.0, 1.89, 3.52, 5.97], "STUDIES.md, C.8"
    assert [row["global_batch"] for row in found] == [512, 1024, 2048, 4096]
    assert all(row["source"] and row["name"] and row["base_ranks"] == 1 for row in published())
