"""Threads against cores, all processes of a host together: fewer or as many."""

from __future__ import annotations

from pathlib import Path

from advised import answer, training
from given import Given, write

from traceview import advice, capture

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
    assert (found.status, found.problem, found.saving_ns) == ("found", "Threads: 3, cores: 4.", 200_000)


def test_as_many_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(4), tmp_path).status == "not found"


def test_zero_threads_are_one_per_core(tmp_path: Path) -> None:
    assert answer(RULE, steps(0), tmp_path).status == "not found"


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(3, busy_us=210), tmp_path / "above").status == "found"
    assert answer(RULE, steps(3, busy_us=190), tmp_path / "below").status == "not found"


def test_processes_of_one_host_share_its_cores(tmp_path: Path) -> None:
    other = steps(1)
    other.rank = 1
    write(tmp_path, steps(3), other)
    with capture.connect(tmp_path) as connection:
        assert advice.run(connection, advice.load([RULE]))[0].status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)
