"""How much of the cores others took: known counts, and a program of ours beside a program of others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from traceview.experiments import command, quiet
from traceview.experiments.quiet import Moment, busy_s, is_quiet, now, others_pct

LOOP = "import time\nwhile time.process_time() < 0.6: pass"


def test_what_others_took_is_what_was_busy_and_not_ours() -> None:
    begin, end = Moment(0.0, 10.0, 1.0), Moment(10.0, 22.0, 9.0)
    assert others_pct(begin, end) == pytest.approx(100 * 4 / (10 * quiet.n_cores()))
    assert others_pct(Moment(0, None, 0), end) is None, "not counted is not quiet"
    assert is_quiet(9.9) and not is_quiet(10.0)


def test_busy_is_counted_for_the_cores_of_this_process(tmp_path: Path) -> None:
    mine = sorted(os.sched_getaffinity(0))
    stat = tmp_path / "stat"
    rows = [f"cpu{core} 100 20 30 9999 5 1 2 40 0 0" for core in mine]
    stat.write_text("\n".join(["cpu 1 1 1 1 1 1 1 1 1 1", *rows, "cpu9999 7 7 7 7 7 7 7 7", "intr 5"]))
    # 100 + 20 + 30 + 1 + 2, and 40 that the hypervisor gave to others.
    assert busy_s(stat) == pytest.approx(193 * len(mine) / os.sysconf("SC_CLK_TCK"))
    assert busy_s(tmp_path / "absent") is None


@pytest.mark.slow
def test_a_child_is_ours_once_it_has_ended() -> None:
    begin = now()
    subprocess.run([sys.executable, "-c", LOOP], check=True)
    ours = now()
    assert ours.own_s - begin.own_s > 0.4
    other = subprocess.Popen([sys.executable, "-c", LOOP])
    begin = now()
    time.sleep(0.5)
    taken = others_pct(begin, now())
    other.wait()
    assert taken is None or taken > 100 * 0.1 / quiet.n_cores()


def moment(wall_s: float, busy_s: float | None, own_s: float) -> dict[str, float | None]:
    return {"wall_s": wall_s, "busy_s": busy_s, "own_s": own_s, "cores": 4}


@pytest.mark.parametrize(
    ("window", "share"),
    [
        ([moment(10, 100, 50), moment(12, 106, 54)], pytest.approx(100 * 2 / (2 * 4))),
        ([moment(10, 100, 50), moment(10.2, 101, 50)], None),  # Too short to count.
        ([moment(10, None, 50), moment(12, None, 54)], None),
        ([moment(10, 100, 50)], None),
        (None, None),
        ([{"wall_s": "x"}, {}], None),
        ({"wall_s": 1}, None),
    ],
)
def test_busyness_is_that_of_the_timed_steps(window: object, share: float | None) -> None:
    assert quiet.within(window) == share


@pytest.mark.long
def test_a_neighbour_is_seen_while_steps_are_timed(tmp_path: Path) -> None:
    """Loading the program takes seconds, its steps half a second: what runs beside the steps counts in full."""
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text("""
import pathlib, sys, time, torch
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
pathlib.Path(sys.argv[1]).touch()
for step in range(20):
    model(torch.randn(16, 8)).square().mean().backward()
    time.sleep(0.05)
    optimizer.step()
""")
    begun = tmp_path / "begun"
    loop = f"""
import pathlib, time
while not pathlib.Path({str(begun)!r}).exists(): time.sleep(0.02)
while time.process_time() < 60: pass
"""
    neighbours = [subprocess.Popen([sys.executable, "-c", loop]) for _ in os.sched_getaffinity(0)]
    try:
        words = [sys.executable, str(tmp_path / "train.py"), str(begun)]
        found = command.run(words, dict(os.environ), command.Limits(4, 10), tmp_path / "log.txt")
    finally:
        for each in neighbours:
            each.kill()
            each.wait()
    assert found.others_pct is not None and found.others_pct > 60 and not found.is_quiet
