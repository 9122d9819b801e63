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
