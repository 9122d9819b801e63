"""Recordings that are there, of one, two and four ranks, as a scaling study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from advised import training
from given import conv, section

from traceview.errors import InputError, UsageError
from traceview.experiments.scaling import captures, scaling

OF_A_RECORDING = scaling.exchanged
RECORDED = {
    "one": (1, 10, []),
    "two": (2, 12, [800_000, 8_000_000]),
    "four": (4, 16, [800_000, 8_000_000]),
}


def exchanged(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return facts in place of those of the recording: a ring of 1 GB/s."""
    ranks, step_ms, sizes = RECORDED[path.name]
    found = {"ranks_found": ranks, "slowest_ns": step_ms * 1_000_000, "step_ns": step_ms * 900_000}
    found |= {"batch": 8, "noted_batch": None}
    times = [
        {"kind": "all_reduce", "ranks": ranks, "size_bytes": size, "wall_ns": 2 * (ranks - 1) * size // ranks}
        | {"library": "nccl"}
        for size in sizes
    ]
    return found, times


@pytest.fixture(autouse=True)
def _recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "exchanged", exchanged)


def note(monkeypatch: pytest.MonkeyPatch, **batches: int) -> None:
    """Let recordings have noted these batches of a rank."""

    def noted(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        found, times = exchanged(path)
        return found | dict.fromkeys(("batch", "noted_batch"), batches[path.name]), times

    monkeypatch.setattr(scaling, "exchanged", noted)


def rows(*names: str, batch: int | None = None, is_strong: bool = False) -> dict[str, list[dict[str, Any]]]:
    return captures.rows([Path(name) for name in names], batch, is_strong)


def test_steps_of_the_slowest_rank_are_compared_and_nothing_is_claimed() -> None:
    found = rows("one", "two", "four")
    points = [row for row in found["scaling_points"] if row["status"] == "recorded"]
    assert [(row["ranks"], row["batch"], row["verdict"]) for row in points] == [
        (1, 8, "base"), (2, 8, "cannot decide"), (4, 8, "cannot decide"),
    ]  # fmt: skip
    assert [row["speedup"] for row in points] == [1.0, pytest.approx(2 * 10 / 12), pytest.approx(4 * 10 / 16)]
    assert points[1]["reason"] == "one recording of each, with a profiler"
    assert found["scaling_models"][0]["model"] == "ring" and found["scaling_models"][0]["verdict"] == "best"
    assert set(found["scaling_exchanges"][0]) <= {
        "mode", "ranks", "batch", "global_batch", "step_ns", "capture", "status",
    }  # fmt: skip


def test_where_ranks_may_have_shared_cores_no_model_is_called_best(monkeypatch: pytest.MonkeyPatch) -> None:
    on_gloo = [{**row, "library": "gloo"} for row in exchanged(Path("two"))[1]]
    monkeypatch.setattr(scaling, "exchanged", lambda path: (exchanged(path)[0], on_gloo))
    models = rows("one", "two")["scaling_models"]
    assert {row["verdict"] for row in models} == {"cannot tell"}


def test_a_batch_of_all_ranks_is_divided_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    note(monkeypatch, one=16, two=8)
    points = rows("one", "two", batch=16, is_strong=True)["scaling_points"]
    assert [(row["mode"], row["batch"], row["global_batch"]) for row in points[:2]] == [
        ("strong", 16, 16), ("strong", 8, 16),
    ]  # fmt: skip
    assert points[1]["speedup"] == pytest.approx(10 / 12)


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(UsageError, match="one: another capture is of 1 rank, batch 8 per rank too"):
        rows("one", "one")
    with pytest.raises(UsageError, match="a batch of 9 cannot be divided among 2 ranks"):
        rows("two", batch=9, is_strong=True)


def test_steps_of_unknown_batches_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "exchanged", lambda path: (exchanged(path)[0] | {"batch": None}, exchanged(path)[1]))
    _, two = rows("one", "two")["scaling_points"][:2]
    reason = "the batch is not known; --batch or --global-batch names it"
    assert (two["ranks"], two["speedup"], two["verdict"], two["reason"]) == (2, None, "cannot decide", reason)
    assert rows("one", "two", batch=8)["scaling_points"][1]["speedup"] == pytest.approx(2 * 10 / 12)


def test_recordings_that_noted_other_shares_of_the_named_batch_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    note(monkeypatch, one=256, two=128)
    _, two = rows("one", "two", batch=256)["scaling_points"][:2]
    assert (two["ranks"], two.get("speedup"), two["verdict"]) == (2, None, "cannot decide")
    assert two["reason"].startswith(
        "the model of a rank got a batch of 128 where 256 was asked for, that of 1 rank 256"
    )
    _, two = rows("one", "two", batch=256, is_strong=True)["scaling_points"][:2]
    assert two["speedup"] == pytest.approx(10 / 12)


def test_batches_of_convolutions_are_no_other_shares_of_the_named_batch() -> None:
    """They may be the pieces in which gradients are added up: 8 samples each, 32 passes, then 16 and 8."""
    points = rows("one", "two", "four", batch=256, is_strong=True)["scaling_points"]
    assert [row["speedup"] for row in points[:3]] == [1.0, pytest.approx(10 / 12), pytest.approx(10 / 16)]


def test_recordings_of_models_with_other_filters_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the three recorded no shapes of convolutions."""
    filters = {"one": [[6, 1, 5, 5]], "two": [[6, 1, 5, 5], [16, 6, 5, 5]], "four": None}
    monkeypatch.setattr(
        scaling, "exchanged", lambda path: (exchanged(path)[0] | {"filters": filters[path.name]}, exchanged(path)[1])
    )
    _, two, four = rows("one", "two", "four", batch=8)["scaling_points"][:3]
    assert (two.get("speedup"), two["samples_per_s"], two["verdict"]) == (None, None, "cannot decide")
    assert two["reason"] == "the convolutions of 2 ranks have other filters than those of 1: other models"
    assert four["speedup"] == pytest.approx(4 * 10 / 16)


@pytest.mark.parametrize(("noted", "batch", "noted_batch"), [({}, 8, None), ({"model": {"batch": 4}}, 4, 4)])
def test_the_batch_is_the_noted_one_else_that_of_the_convolutions(
    tmp_path: Path, noted: dict[str, Any], batch: int, noted_batch: int | None
) -> None:
    given = training()
    given.about = noted
    for start in (0, 1000, 2000):
        conv(given, start + 10, (8, 1, 28, 28), (6, 1, 5, 5))
        conv(given, start + 30, (8, 6, 24, 24), (16, 6, 5, 5))
        conv(given, start + 50, (64, 1, 28, 28), (6, 1, 5, 5))
    with given.open(tmp_path) as connection:
        found = section(connection, "experiments/scaling_exchanges")[0]
    assert (found["batch"], found["noted_batch"]) == (batch, noted_batch)
    assert found["filters"] == [[6, 1, 5, 5], [16, 6, 5, 5]]


def test_the_batch_is_that_of_all_passes_whose_gradients_a_step_adds_up(tmp_path: Path) -> None:
    given = training()
    given.about = {"model": {"batch": 8}}
    for start in (0, 1000, 2000):
        for at in (start, start + 400):
            conv(given, at + 10, (8, 1, 28, 28), (6, 1, 5, 5))
            given.span("phase", "backward", at + 100, at + 300)
    with given.open(tmp_path) as connection:
        found = section(connection, "experiments/scaling_exchanges")[0]
    assert (found["batch"], found["noted_batch"]) == (16, 16)


def test_a_recording_without_steps_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its whole time is no step."""
    monkeypatch.setattr(scaling, "exchanged", OF_A_RECORDING)
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 7}
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [event]}))
    with pytest.raises(InputError, match=r"trace.json holds no steps to compare"):
        captures.rows([trace], 8, False)
