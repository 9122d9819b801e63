"""The report of a scaling study: from rows that read aloud, the sentences and numbers that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from traceview import sql, store
from traceview.analysis import reports
from traceview.experiments import results
from traceview.experiments.scaling.models import PARAMETER_SERVER, RING
from traceview.paths import content

Rows = Sequence[Mapping[str, Any]]


class Study:
    """A study's capture of given rows."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.n = folder, 0

    def of(self, name: str, **rows: Rows) -> list[dict[str, Any]]:
        """The rows of a section."""
        self.n += 1
        capture = results.write(self.folder / f"{name}-{self.n}", rows, {"kind": "study scaling"})
        query = sql.load(content("queries") / "scaling" / f"{name}.sql")
        with store.open_capture(capture) as connection:
            return [dict(zip(query.columns, row, strict=True)) for row in query.run(connection)]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def point(ranks: int, batch: int, speedup: float, **more: Any) -> dict[str, Any]:
    moved = "faster" if speedup > 1.05 else "slower" if speedup < 0.95 else "no difference seen"
    verdict = "base" if ranks == 1 else moved
    row = {
        "status": "measured", "mode": "weak", "ranks": ranks, "base_ranks": 1, "batch": batch,
        "global_batch": ranks * batch, "speedup": speedup, "low": speedup - 0.05, "high": speedup + 0.05,
        "confidence": 0.97, "verdict": verdict, "runs": 6, "is_oversubscribed": False, "step_ns": 10_000_000,
    }  # fmt: skip
    return row | more


def test_sentences_give_speed_up_interval_and_efficiency(study: Study) -> None:
    points = [point(1, 16, 1), point(2, 16, 0.8), point(2, 64, 1.5), point(4, 64, 1.2)]
    assert [row["text"] for row in study.of("verdict", scaling_points=points)] == [
        "Weak scaling, batch 16 per rank: 2 ranks 0.80 times as fast as 1 (0.75 to 0.85, a 97 % interval of 6 rounds; "
        "efficiency 40 %).",
        "Weak scaling, batch 64 per rank: 2 ranks 1.50 times as fast as 1 (1.45 to 1.55, a 97 % interval of 6 rounds; "
        "efficiency 75 %); 4 ranks 1.20 times as fast as 1 (1.15 to 1.25, a 97 % interval of 6 rounds; "
        "efficiency 30 %).",
        "Efficiency is 28 to 78 %, by ranks, batch and interval.",
        "With batch 64 per rank 4 ranks are slower than 2: 0.80 times as fast (their 97 % intervals lie apart).",
    ]


def test_ranks_with_other_batches_are_called_that(study: Study) -> None:
    points = [point(1, 32, 1), point(2, 8, 1, base_ranks=2, verdict="base")]
    assert [row["text"] for row in study.of("verdict", scaling_points=points)] == [
        "Nothing is compared, as no two numbers of ranks have the same batch: 1 rank, batch 32 per rank; "
        "2 ranks, batch 8 per rank."
    ]
    (row,) = study.of("verdict", scaling_points=points[:1])
    assert row["text"] == "Nothing is compared, as there is one number of ranks: 1 rank, batch 32 per rank."
    (row,) = study.of("verdict", scaling_points=[points[0], {**points[1], "batch": None}])
    assert row["text"] == (
        "Nothing is compared, as not every batch is known (--batch or --global-batch names it): "
        "1 rank, batch 32 per rank; 2 ranks, batch not known."
    )


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([point(2, 8, 1.9)], "It scales well: efficiency 92 % or more."),
        ([point(2, 8, 1.84, low=1.5, high=2.2)], "Efficiency is 75 to 110 %, by ranks, batch and interval."),
        ([point(2, 8, 1.3), point(4, 8, 2.4)], "It scales badly: efficiency at most 68 %."),
        ([point(2, 8, 1.3, low=1.2, high=1.5)], "Efficiency is 60 to 75 %, by ranks, batch and interval."),
        ([point(4, 8, 2.0, is_oversubscribed=True)], "Not enough data to say how well it scales"),
        ([point(2, 8, 2.0, verdict="too noisy", reason="busy")], "2 ranks: too noisy (busy)."),
        ([point(2, 8, 2.0, verdict="too noisy", reason="busy")], "Not enough data to say how well it scales"),
        ([point(4, 8, 2.0, is_oversubscribed=True)], "more ranks than cores they wait for each other"),
        ([point(2, 8, 1.0)], "2 ranks no difference seen, 1.00 times as fast"),
        ([point(2, 4, 1.8, mode="strong")], "Strong scaling, batch 8 of all ranks: 2 ranks 1.80"),
    ],
)
def test_a_judgement_rests_on_ranks_with_cores_of_their_own(study: Study, points: Rows, said: str) -> None:
    assert any(said in row["text"] for row in study.of("verdict", scaling_points=points))


def test_published_points_are_no_part_of_the_verdict(study: Study) -> None:
    published = [point(2, 8, 1.9, status="published", name="AlexNet", source="a paper")]
    assert study.of("verdict", scaling_points=published) == []
    (row,) = study.of("published", scaling_points=published)
    assert (row["name"], row["speedup"], row["efficiency_pct"]) == ("AlexNet", 1.9, pytest.approx(95))


def test_break_even_is_the_smallest_measured_batch_and_an_interpolation_that_is_called_so(study: Study) -> None:
    points = [point(2, 16, 0.8), point(2, 64, 1.25), point(2, 128, 1.6), point(4, 16, 0.5), point(4, 64, 0.7)]
    two, four = study.of("breakeven", scaling_points=points)
    # By logarithms the speed-up is 1 halfway from 0.8 to 1.25: the geometric mean of 16 and 64.
    assert (two["ranks"], two["batch"], two["interpolated"]) == (2, 64, pytest.approx(32.0))
    assert two["answer"] == "faster from 64 on"
    assert (four["batch"], four["interpolated"]) == (None, None)
    assert four["answer"] == "4 ranks are not faster than 1 with any batch from 16 to 64"


def test_break_even_says_what_it_rests_on(study: Study) -> None:
    noisy = {"verdict": "too noisy"}
    points = [
        *(point(2, batch, s) for batch, s in ((8, 1.2), (16, 1.4))),
        *(point(3, batch, s) for batch, s in ((8, 0.9), (16, 1.2), (32, 0.9))),
        *(point(4, batch, s, **noisy) for batch, s in ((8, 0.9), (16, 1.2))),
    ]
    found = study.of("breakeven", scaling_points=points)
    assert [row["answer"] for row in found] == [
        "2 ranks are faster already with the smallest batch, 8",
        "faster with 16, but not with 32 again",
        "faster from 16 on, by an estimate whose verdict is: too noisy",
    ]
    assert study.of("points", scaling_points=points)[1]["efficiency_pct"] == pytest.approx(30)


def test_break_even_of_the_smallest_batch_alone_and_of_none_that_was_told_apart(study: Study) -> None:
    points = [
        *(point(2, batch, s) for batch, s in ((16, 1.33), (64, 0.75))),
        *(point(3, batch, s) for batch, s in ((16, 0.99), (64, 0.75))),
        *(point(4, batch, s, verdict="cannot decide") for batch, s in ((16, 0.9), (64, 0.9))),
    ]
    assert [row["answer"] for row in study.of("breakeven", scaling_points=points)] == [
        "faster with 16, but not with 64 again",
        "3 ranks were not shown to be faster than 1 with any batch from 16 to 64",
        "4 ranks were not shown to be faster than 1 with any batch from 16 to 64",
    ]


def test_break_even_says_which_larger_batches_were_not_told_apart(study: Study) -> None:
    same = {"verdict": "no difference seen"}
    points = [
        *(point(2, batch, s) for batch, s in ((8, 0.8), (16, 1.4))),
        *(point(2, batch, 1.02, **same) for batch in (32, 64)),
        *(point(3, batch, s, **same) for batch, s in ((8, 1.02), (16, 1.02), (32, 0.98))),
        *(point(4, batch, s) for batch, s in ((8, 1.3), (16, 0.8), (32, 1.02), (64, 1.3))),
    ]
    assert [row["answer"] for row in study.of("breakeven", scaling_points=points)] == [
        "faster from 16 on; the verdict with 32, 64 is: no difference seen",
        "faster with 8, but not with 32 again, by an estimate whose verdict is: no difference seen; "
        "the verdict with 16 is: no difference seen",
        "faster with 8, but not with 16 again; the verdict with 32 is: no difference seen",
    ]


def exchange(ranks: int, **more: Any) -> dict[str, Any]:
    row = {
        "mode": "weak", "ranks": ranks, "batch": 8, "global_batch": 8 * ranks, "library": "gloo", "calls": 2.0,
        "step_ns": 20_000_000, "communication_ns": 8_000_000, "exposed_ns": 5_000_000, "wait_ns": 1_000_000,
        "transfer_ns": 4_000_000, "gradient_bytes": 8_000_000, "parameters": 2_000_000, "status": "recorded",
    }  # fmt: skip
    return row | more


def test_communication_shares_rates_and_what_hiding_it_could_give(study: Study) -> None:
    failed = exchange(4, status="failed", reason="no memory", step_ns=None, exposed_ns=None, communication_ns=None)
    two, four = study.of(
        "communication", scaling_points=[point(2, 8, 1.5), point(4, 8, 1.5)], scaling_exchanges=[exchange(2), failed]
    )
    assert (two["exposed_pct"], two["hidden_pct"]) == (pytest.approx(25), pytest.approx(37.5))
    # 8 ms beside the 15 ms of the step in which no communication is exposed.
    assert two["ratio"] == pytest.approx(8 / 15)
    assert (two["algorithm_bytes_per_s"], two["bus_bytes_per_s"]) == (pytest.approx(2e9), pytest.approx(2e9))
    assert two["gradient_bytes"] == two["parameter_bytes"] == 8_000_000
    assert two["hidden_speedup"] == pytest.approx(1.5 / 0.75)
    assert (four["why"], four["exposed_pct"], four["hidden_speedup"]) == ("no memory", None, None)


def test_of_four_ranks_the_bus_moves_one_and_a_half_times_the_bytes(study: Study) -> None:
    times = {"kind": "all_reduce", "ranks": 4, "size_bytes": 250_000_000, "wall_ns": 25_000_000, "status": "measured"}
    (row,) = study.of("collectives", collective_times=[times])
    assert (row["algorithm_bytes_per_s"], row["bus_bytes_per_s"]) == (pytest.approx(10e9), pytest.approx(15e9))


def test_predictions_stand_beside_measurements(study: Study) -> None:
    """Computing 30 ms; 100 MB by a server of 10 GB/s take 20 ms for two ranks, by a ring half of that."""
    models = [
        {"scope": "all ranks", "model": model, "bytes_per_s": 10e9, "verdict": "cannot tell"}
        for model in (PARAMETER_SERVER, RING)
    ]
    exchanged = exchange(2, gradient_bytes=100_000_000)
    base = point(1, 8, 1, step_ns=30_000_000)
    found = study.of(
        "predictions", scaling_points=[base, point(2, 8, 1.1)], scaling_exchanges=[exchanged], scaling_models=models
    )
    assert [(row["model"], row["exchange_ns"], row["shown"], row["hidden"], row["measured"]) for row in found] == [
        (PARAMETER_SERVER, 20_000_000, 1.2, 2.0, 1.1), (RING, 10_000_000, 1.5, 2.0, 1.1),
    ]  # fmt: skip
    strong = {"mode": "strong", "global_batch": 16}
    found = study.of(
        "predictions",
        scaling_points=[point(1, 16, 1, step_ns=60_000_000, **strong), point(2, 8, 1.1, **strong)],
        scaling_exchanges=[exchange(2, gradient_bytes=100_000_000, mode="strong", global_batch=16)],
        scaling_models=models,
    )
    assert [row["shown"] for row in found] == [1.2, 1.5], "half of 60 ms, and then what is sent"


def test_recordings_have_predictions_where_they_are_compared(study: Study) -> None:
    """Computing 90 ms; 100 MB by a ring of 2 GB/s take 50 ms for two ranks and 75 ms for four."""
    recorded = {"status": "recorded", "low": None, "high": None, "verdict": "cannot decide"}
    base = point(1, 32, 1, step_ns=90_000_000, status="recorded")
    points = [base, point(2, 32, 1.29, **recorded), point(4, 32, 2.18, **recorded)]
    exchanges = [exchange(ranks, batch=32, calls=1.0, gradient_bytes=100_000_000) for ranks in (2, 4)]
    models = [{"scope": "all ranks", "model": RING, "bytes_per_s": 2e9, "verdict": "best"}]
    given = {"scaling_exchanges": exchanges, "scaling_models": models}
    found = study.of("predictions", scaling_points=points, **given)
    assert [(row["ranks"], row["shown"], row["hidden"], row["measured"]) for row in found] == [
        (2, 1.29, 2.0, 1.29), (4, 2.18, 4.0, 2.18),
    ]  # fmt: skip
    unknown = [{**row, "speedup": None} for row in points[1:]]
    assert study.of("predictions", scaling_points=[base, *unknown], **given) == [], "of no known batch"


def test_of_several_fewest_ranks_computing_is_the_step_without_exposed_communication(study: Study) -> None:
    """Computing 100 ms; 100 MB by a ring of 1 GB/s take 100, 150 and 175 ms on 2, 4 and 8 ranks, nothing hidden."""
    sent = {2: 100, 4: 150, 8: 175}
    times = {ranks: {"step_ns": (100 + ms) * 1_000_000, "exposed_ns": ms * 1_000_000} for ranks, ms in sent.items()}
    base = point(2, 8, 1, step_ns=200_000_000, base_ranks=2, verdict="base")
    points = [base, point(4, 8, 1.6, base_ranks=2), point(8, 8, 2.91, base_ranks=2)]
    exchanges = [exchange(ranks, calls=1.0, gradient_bytes=100_000_000, **more) for ranks, more in times.items()]
    models = [{"scope": "all ranks", "model": RING, "bytes_per_s": 1e9, "verdict": "best"}]
    found = study.of("predictions", scaling_points=points, scaling_exchanges=exchanges, scaling_models=models)
    assert [(row["ranks"], row["compute_ns"], row["shown"], row["measured"]) for row in found] == [
        (4, 100_000_000, 1.6, 1.6), (8, 100_000_000, 2.91, 2.91),
    ]  # fmt: skip
    strong = {"mode": "strong", "global_batch": 32}
    found = study.of(
        "predictions",
        scaling_points=[{**base, **strong, "batch": 16}, point(4, 8, 1.0, base_ranks=2, **strong)],
        scaling_exchanges=[{**exchanges[0], **strong, "batch": 16}, {**exchanges[1], **strong}],
        scaling_models=models,
    )
    assert [(row["compute_ns"], row["shown"]) for row in found] == [(50_000_000, 1.0)], "200 ms over 50 and 150"
    unrecorded = {"scaling_points": points, "scaling_exchanges": exchanges[1:], "scaling_models": models}
    assert study.of("predictions", **unrecorded) == [], "what the fewest compute is not known"


@pytest.mark.slow
def test_the_error_of_a_model_is_headed_as_the_root_of_a_mean_square(study: Study) -> None:
    models = [{"scope": "all ranks", "model": RING, "residual_pct": 5.5, "verdict": "cannot tell"}]
    capture = results.write(study.folder / "models", {"scaling_models": models}, {"kind": "study scaling"})
    with store.open_capture(capture) as connection:
        (section,) = [each for each in reports.run(connection, "scaling").sections if each.name == "models"]
    assert section.look.headings["residual_pct"] == "rms error of time"
    assert 5.5 in section.rows[0]


def test_runs_are_counted_with_the_reason_of_what_failed(study: Study) -> None:
    run = {"mode": "weak", "ranks": 2, "batch": 8, "round": 1, "step_ns": 20, "fastest_ns": 15, "status": "timed"}
    failed = {**run, "step_ns": None, "status": "failed", "reason": "1 of 2 processes gave times", "started_unix_ns": 5}
    (row,) = study.of("runs", scaling_runs=[run, {**run, "status": "noisy"}, failed])
    assert (row["runs"], row["failed"], row["noisy"]) == (3, 1, 1)
    assert (row["spread_pct"], row["why"]) == (pytest.approx(25), "1 of 2 processes gave times")
