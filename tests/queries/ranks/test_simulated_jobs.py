"""Jobs of a simulator that is not ours, whose truth is known: what the report of ranks says of each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from given import section

from traceview import store

SLOW_HOST = ",".join(f"{rank}:1.4" for rank in range(8, 16))


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize(
    ("ranks", "options", "expected", "absent"),
    [
        (16, "slow=", "No rank makes the others wait by more than 2 %", "comes last"),
        (16, "hang=13", "Rank 13 never entered all_reduce 17 of group 0; 15 ranks wait in it", "0.0 %"),
        (8, "hang=3 cut=3", "rank 3 of the same group, whose file is cut off, may never have entered", "Rank 3 never"),
        (16, "slow=13:1.4 gone=13", "Ranks missing: 1 of 16 (13)", "is waiting"),
        (16, f"hosts=2 slow={SLOW_HOST}", "Ranks 8 to 15 (host host1) come last: the other 8 ranks wait 5.15", "Rank "),
        (16, "slow=5:1.4", "Rank 5 comes last: the other 15 ranks wait 5.180 ms per step longer", "Other"),
        (8, "load=4:3000", "What takes it longer than the others: data loading (3.000 ms per step)", "compute"),
        (8, "fewer=3:4", "Fewer steps than on the other ranks (4 instead of 6): rank 3.", "comes last"),
        (2, "steps=4 slow=1:1.004", "No rank makes the others wait by more than 2 %", "comes last"),
        (8, "hosts=2 skew=50 drift=100 slow=6:1.4", "Rank 6 comes last: the other 7 ranks wait 5.", "host1"),
    ],
    ids=["nothing", "hang", "cut file", "missing", "slow host", "straggler", "loading", "fewer", "chance", "clocks"],
)  # fmt: skip
def test_a_simulated_job(shared: Path, tmp_path: Path, ranks: int, options: str, expected: str, absent: str) -> None:
    program = [sys.executable, str(shared / "lab/simulated_job.py"), str(tmp_path / "job"), str(ranks)]
    subprocess.run([*program, *options.split()], check=True, capture_output=True)
    with store.open_capture(tmp_path / "job", store.Options()) as connection:
        said = " ".join(row["text"] for row in section(connection, "ranks/verdict"))
    assert expected in said
    assert absent not in said
