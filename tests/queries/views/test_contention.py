"""Processor time against the time of operators: what a process got of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import training
from given import Given, rows

from traceview import sql
from traceview.paths import content

ASKED = "SELECT operators_ns, processor_ns, received_pct, is_contended FROM contention"


def run(processor_us: int | None) -> Given:
    given = training(device=None)
    for start in (0, 1000, 2000):
        given.op("aten::mm", start, start + 500)
    if processor_us is not None:
        given.about["usage"] = {"wall_ns": 3_000_000, "user_ns": processor_us * 1000, "system_ns": 0}
    return given


@pytest.mark.long
def test_less_than_four_fifths_of_the_operators_time_is_contention(tmp_path: Path) -> None:
    with run(1200).open(tmp_path / "quiet") as connection:
        assert rows(connection, ASKED) == [(1_500_000, 1_200_000, 80.0, False)]
    with run(300).open(tmp_path / "busy") as connection:
        assert rows(connection, ASKED) == [(1_500_000, 300_000, 20.0, True)]


def test_what_is_not_recorded_is_not_judged(tmp_path: Path) -> None:
    with run(None).open(tmp_path) as connection:
        assert rows(connection, "SELECT received_pct, is_contended FROM contention") == [(None, None)]


@pytest.mark.parametrize(
    ("others_ms", "stolen_ms", "is_contended"), [(0, 0, False), (390, 0, False), (410, 0, True), (0, 210, True)]
)
def test_operators_that_wait_where_nobody_else_has_the_cores_are_no_contention(
    others_ms: int, stolen_ms: int, is_contended: bool, tmp_path: Path
) -> None:
    """Operators take 500 of 1,000 ms and get 100; a child of the run (a compiler) gets 300 meanwhile, on two cores."""
    given = training(steps=1, length=1_000_000, device=None)
    given.op("aten::mm", 0, 500_000)
    usage = {"wall_ns": 1000, "machine_ns": 1000, "user_ns": 100, "system_ns": 0, "stolen_ns": stolen_ms}
    usage |= {"own_ns": 400, "busy_ns": 400 + others_ms + stolen_ms}
    given.about["usage"] = {name: value * 1_000_000 for name, value in usage.items()} | {"cores": 2}
    with given.open(tmp_path) as connection:
        assert rows(connection, "SELECT is_contended FROM contention") == [(is_contended,)]


def test_operators_of_steps_that_do_not_count_are_part_of_the_recording(tmp_path: Path) -> None:
    """The first step waits for 9 of its 10 ms: the share of the others was taken for that of the whole recording."""
    given = Given()
    for number, (start, end) in enumerate([(0, 10_000), (10_000, 11_000), (11_000, 12_000), (12_000, 13_000)]):
        given.span("step", f"step#{number + 1}", start, end)
        given.op("aten::mm", end - 900, end)
    given.about["usage"] = {"wall_ns": 13_000_000, "user_ns": 3_600_000, "system_ns": 0}
    with given.open(tmp_path) as connection:
        assert rows(connection, ASKED) == [(3_600_000, 3_600_000, 100.0, False)]


@pytest.mark.slow
def test_a_busy_machine_is_said_under_every_report(tmp_path: Path) -> None:
    footer = sql.load(content("queries") / "footer.sql")
    with run(300).open(tmp_path / "busy") as connection:
        said = [text for (text,) in footer.run(connection) if text.startswith("Processor")]
    assert said == [
        "Processor: rank 0 got 20 % of the processor time that its operators took. The machine was busy with something "
        "else: on an idle machine these times would be different."
    ]
    with run(1200).open(tmp_path / "quiet") as connection:
        assert not [text for (text,) in footer.run(connection) if text.startswith("Processor")]
