"""Threads against cores: more or as many."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

RULE = "threads_oversubscribed"
REASON = "the trace holds no run on a CPU whose threads and cores are recorded (traceview collect notes them)."


def steps(threads: int) -> Given:
    given = training(device=None)
    given.about = {"threads": threads, "cores": 4}
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 810)
    return given


def test_more_threads_than_cores_are_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(5), tmp_path)
    assert (found.status, found.problem, found.saving_ns) == ("found", "Threads: 5, cores: 4.", 800_000)


@pytest.mark.parametrize(
    ("processor_us", "saving_ns", "confidence"),
    [(2_400, None, "low: it is not known whether any loop"), (9_000, 800_000, "high that threads wait for cores")],
)
def test_a_second_thread_must_have_computed(
    processor_us: int, saving_ns: int | None, confidence: str, tmp_path: Path
) -> None:
    """Operators take 2.4 of 3 ms: so much processor time is that of one thread."""
    given = steps(8)
    given.about |= {"usage": {"wall_ns": 3_000_000, "user_ns": processor_us * 1000, "system_ns": 0}}
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", saving_ns)
    assert found.confidence.startswith(confidence)


@pytest.mark.long
def test_convolutions_must_take_their_time_at_the_peak(tmp_path: Path) -> None:
    given = steps(8)
    given.device("Given Processor", kind="cpu", device=None)
    given.about |= {"cpu_flags": ["avx2"], "cpu_hz": 2_000_000_000}
    for start in (0, 1000, 2000):
        conv(given, start + 850, (2, 16, 32, 32), (16, 16, 3, 3), padding=1)
        given.primitive("convolution", start + 851, start + 859, prop_kind="forward_training")
    # At the peak of four cores, not of eight threads.
    floor_ns = 2 * 2 * 16 * 16 * 9 * 32 * 32 / (4 * 32 * 2) / 1.5
    assert answer(RULE, given, tmp_path).saving_ns == round(810_000 - floor_ns)


@pytest.mark.long
def test_on_a_busy_machine_no_bound_is_stated(tmp_path: Path) -> None:
    given = steps(5)
    # 0.8 ms of operators in each step of 1 ms, and less processor time than that.
    given.about |= {"usage": {"wall_ns": 3_000_000, "user_ns": 1_500_000, "system_ns": 0}}
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", None)
    assert found.confidence.endswith("other programs took processors too")


def test_as_many_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(4), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)


def test_while_cores_are_free_no_thread_waits_for_one(tmp_path: Path) -> None:
    given = training(3, 1_000_000, device=None)
    given.about = {"threads": 64, "cores": 32}
    for begin in range(0, 3_000_000, 1_000_000):
        given.op("aten::mm", begin, begin + 800_000)
    usage = {"wall": 3000, "machine": 3000, "user": 3300, "system": 0, "own": 3300, "busy": 3400, "stolen": 0}
    given.about["usage"] = {f"{key}_ns": 1_000_000 * value for key, value in usage.items()} | {"cores": 32}
    found = answer(RULE, given, tmp_path)
    assert found.confidence.startswith("low: most of the time of the cores was free")
    assert found.saving_ns == pytest.approx(1e9 * 3400 / (32 * 3000), abs=1)
