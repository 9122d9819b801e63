"""Threads against cores, all processes of a host together: fewer or as many."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, write

from traceview.analysis import advice
from traceview.store import views

RULE = "threads_idle"
REASON = "the trace holds no run on a CPU whose threads and cores are recorded (traceview collect notes them)."


def steps(threads: int, cores: int = 4, busy_us: float = 800) -> Given:
    given = training(device=None)
    given.about = {"threads": threads, "cores": cores}
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 10 + busy_us)
    return given


def test_fewer_threads_than_cores_are_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(3), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 200_000)
    assert found.problem == (
        "Threads: 3, cores: 4. Operators take 0.800 ms of a step, "
        "0.600 ms with 4 threads in this process if that scales linearly."
    )


def test_where_code_is_compiled_in_the_steps_it_is_a_guess(tmp_path: Path) -> None:
    given = steps(3)
    given.op("_compile.compile_inner (dynamo_timed)", 820, 990)
    assert answer(RULE, given, tmp_path).confidence.startswith("low: code was compiled within the steps")


@pytest.mark.long
def test_the_bound_is_all_work_of_the_step_scaled_linearly(tmp_path: Path) -> None:
    """Work of several host threads, nested and beside each other, counts once and wholly; the rest stays."""
    given = steps(1, cores=2)
    for start in (0, 1000, 2000):
        given.op("aten::addmm", start + 800, start + 900)
        given.op("aten::copy_", start + 820, start + 860)
    found = answer(RULE, given, tmp_path)
    assert (found.saving_ns, found.step_ns) == ((800 + 90) * 1000 / 2, 1_000_000)
    assert found.confidence.endswith("that the work scales linearly is assumed")


@pytest.mark.long
def test_the_time_of_the_processor_is_evidence(tmp_path: Path) -> None:
    given = steps(1, cores=2)
    given.about["usage"] = {"wall_ns": 3_000_000, "user_ns": 2_700_000, "system_ns": 270_000}
    assert answer(RULE, given, tmp_path).evidence == ("rank 0: 1 threads, 0.99 cores busy on average",)


@pytest.mark.parametrize(
    ("computes_ms", "others_ms", "worker_ms", "saving_ms"),
    [(1000, 0, 0, 200), (1000, 0, 700, 75), (1000, 600, 0, 1000 / 7), (300, 0, 0, 75)],
)
def test_threads_gain_what_is_free_of_the_cores_and_of_computing_only(
    computes_ms: int, others_ms: int, worker_ms: int, saving_ms: float, tmp_path: Path
) -> None:
    """One thread takes 1,000 or 300 of two cores' 2,000 ms; a worker goes on step by step, others all the time."""
    given = training(steps=2, length=500_000, device=None)
    given.about = {"threads": 1, "cores": 2}
    for start in (0, 500_000):
        given.op("aten::mm", start, start + 400_000)
    usage = {"wall_ns": 1000, "machine_ns": 1000, "user_ns": computes_ms, "system_ns": 0}
    usage |= {"own_ns": computes_ms + worker_ms, "busy_ns": computes_ms + worker_ms + others_ms, "stolen_ns": 0}
    given.about["usage"] = {name: value * 1_000_000 for name, value in usage.items()} | {"cores": 2}
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == pytest.approx(saving_ms * 1e6, abs=1)
    assert found.confidence.startswith("medium: threads, cores and how busy these were are recorded")


@pytest.mark.long
@pytest.mark.parametrize(("processor_us", "status"), [(1950, "found"), (1900, "cannot tell")])
def test_threads_that_waited_for_a_processor_tell_of_a_busy_machine(
    tmp_path: Path, processor_us: int, status: str
) -> None:
    """Operators take 2.4 of 3 ms; below four fifths of that in processor time they waited."""
    given = steps(1, cores=2)
    given.about["usage"] = {"wall_ns": 3_000_000, "user_ns": processor_us * 1000, "system_ns": 0}
    found = answer(RULE, given, tmp_path)
    assert found.status == status
    if status == "found":
        assert found.confidence.startswith("medium")
    else:
        assert "the machine was busy" in found.reason


@pytest.mark.long
def test_without_processor_time_the_confidence_is_low(tmp_path: Path) -> None:
    assert answer(RULE, steps(1, cores=2), tmp_path).confidence.startswith("low: whether the machine was busy")


@pytest.mark.long
def test_as_many_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(4), tmp_path).status == "not found"


@pytest.mark.long
def test_zero_threads_are_one_per_core(tmp_path: Path) -> None:
    assert answer(RULE, steps(0), tmp_path).status == "not found"


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(3, busy_us=210), tmp_path / "above").status == "found"
    assert answer(RULE, steps(3, busy_us=190), tmp_path / "below").status == "not found"


@pytest.mark.long
def test_processes_of_one_host_share_its_cores(tmp_path: Path) -> None:
    other = steps(1)
    other.rank = 1
    write(tmp_path, steps(3), other)
    with views.connect(tmp_path) as connection:
        assert advice.run(connection, advice.load([RULE]))[0].status == "not found"


@pytest.mark.long
def test_each_process_of_a_host_gets_its_share_of_the_cores(tmp_path: Path) -> None:
    """Eight cores give either process four: four times as many for the one, a third more for the other."""
    other = steps(3, cores=8)
    other.rank = 1
    write(tmp_path, steps(1, cores=8), other)
    with views.connect(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load([RULE]))
        rows = advice.load([RULE])[0].run(connection)
    assert (found.rank, found.n_ranks, found.saving_ns) == (0, 2, 600_000)
    assert [(row[0], row[3]) for row in rows] == [(0, 600_000), (1, 200_000)]


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)


def used(given: Given, **ms: int) -> Given:
    """A recording that took this much time of the processor and of the machine."""
    given.about["usage"] = {f"{key}_ns": 1_000_000 * value for key, value in ms.items()} | {"cores": 2}
    return given


def test_time_between_steps_is_not_spread_over_them(tmp_path: Path) -> None:
    """Ten steps of 10 ms in a second, in which one thread of two cores computes throughout."""
    given = Given()
    given.about = {"threads": 1, "cores": 2}
    for begin in range(0, 1_000_000, 100_000):
        given.span("step", f"ProfilerStep#{begin // 100_000}", begin, begin + 10_000)
        given.op("aten::mm", begin, begin + 10_000)
    used(given, wall=1000, machine=1000, user=100, system=0, own=100, busy=100, stolen=0)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 5_000_000)


def test_the_time_that_is_left_is_that_without_the_saving(tmp_path: Path) -> None:
    """Operators last for 400 ms of a step and compute for 150 of these."""
    given = training(2, 500_000, device=None)
    given.about = {"threads": 1, "cores": 2}
    for begin in (0, 500_000):
        given.op("aten::mm", begin, begin + 400_000)
    used(given, wall=1000, machine=1000, user=300, system=0, own=300, busy=300, stolen=0)
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == 75_000_000 and "take 400.000 ms of a step, 325.000 ms with 2 threads" in found.problem
