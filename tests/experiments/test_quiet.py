"""How much of the cores others took: known counts, and a program of ours beside a program of others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from traceview.experiments import quiet
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
    rows = [f"cpu{core} 100 20 30 9999 5 1 2 0 0 0" for core in mine]
    stat.write_text("\n".join(["cpu 1 1 1 1 1 1 1 1 1 1", *rows, "cpu9999 7 7 7 7 7 7 7 7", "intr 5"]))
    assert busy_s(stat) == pytest.approx(153 * len(mine) / os.sysconf("SC_CLK_TCK"))
    assert busy_s(tmp_path / "absent") is None


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
