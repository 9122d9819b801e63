"""Which sizes are run in which order, what a session goes on with, and what becomes of runs that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from processes import is_running

from traceview.errors import UsageError
from traceview.experiments.command import Limits
from traceview.experiments.results import Journal
from traceview.experiments.scaling import scaling
from traceview.experiments.scaling.command import parse
from traceview.experiments.scaling.scaling import Job, Size


def job(folder: Path, **more: Any) -> Job:
    return Job(parse(["torchrun", "--nproc_per_node", "{ranks}", "a.py", "{batch}"]), folder, print, **more)


def test_weak_keeps_the_batch_of_a_rank_and_strong_that_of_all() -> None:
    weak = job(Path(), ranks=(1, 2), batches=(8, 16)).sizes()
    assert weak == [Size(1, 8, "weak"), Size(2, 8, "weak"), Size(1, 16, "weak"), Size(2, 16, "weak")]
    assert [size.global_batch for size in weak] == [8, 16, 16, 32]
    strong = job(Path(), ranks=(1, 2, 4), batches=(8,), mode="strong").sizes()
    assert [(size.ranks, size.batch, size.global_batch) for size in strong] == [(1, 8, 8), (2, 4, 8), (4, 2, 8)]
    assert strong[1].name == "2 ranks, batch 8 of all ranks" and weak[0].name == "1 rank, batch 8 per rank"
    with pytest.raises(UsageError, match="a batch of 9 cannot be divided among 2 ranks"):
        job(Path(), batches=(9,), mode="strong").sizes()


def test_each_round_has_every_size_once_in_random_order_and_none_again(tmp_path: Path) -> None:
    """An order that alternates meets whatever comes back after two or four runs always on the same side."""
    mine = job(tmp_path, ranks=(1, 2), batches=(8,), rounds=40, seed=5)
    sizes = mine.sizes()
    every = [(number, place, size.ranks) for number, place, size in scaling._left(mine, [], sizes)]
    assert sorted((number, ranks) for number, _, ranks in every) == [
        (n, ranks) for n in range(1, 41) for ranks in (1, 2)
    ]
    first = [ranks for _, place, ranks in every if place == 1]
    assert 10 < first.count(1) < 30 and first[::2] != [first[0]] * 20 and first[1::2] != [first[1]] * 20
    assert every == [(number, place, size.ranks) for number, place, size in scaling._left(mine, [], sizes)]
    rows = [{"round": 1, **sizes[0].facts()}, {"round": 2, **sizes[1].facts()}]
    left = [(number, size.ranks) for number, _, size in scaling._left(mine, rows, sizes)]
    assert left[:2] == [(1, 2), (2, 1)] and len(left) == 78


def test_more_ranks_than_cores_are_said_before_the_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling.quiet, "n_cores", lambda: 2)
    assert "4 ranks of 1 thread share 2 cores, more than there are" in scaling.plan(job(tmp_path), 9)
    assert "more than there are" not in scaling.plan(job(tmp_path, ranks=(1, 2)), 6)
    assert scaling.plan(job(tmp_path, ranks=(1, 2)), 6).startswith("6 runs in 3 rounds, each of 23 steps at most")


def test_every_rank_has_the_same_threads_and_no_gpu_where_none_is_asked_for(tmp_path: Path) -> None:
    found = job(tmp_path, threads=3, device="cpu").environment()
    assert (found["OMP_NUM_THREADS"], found["MKL_NUM_THREADS"], found["CUDA_VISIBLE_DEVICES"]) == ("3", "3", "")
    assert "CUDA_VISIBLE_DEVICES" not in job(tmp_path).environment() or scaling.os.environ.get("CUDA_VISIBLE_DEVICES")


DIES = """
import os, subprocess, sys
print(subprocess.Popen(["sleep", "63"], start_new_session=True).pid, flush=True)
print("\\x1b[31m'); DROP TABLE runs; --" + chr(0x202e) + "<script>", flush=True)
sys.exit(int(sys.argv[1]) + 2)
"""


@pytest.mark.slow
def test_a_run_that_fails_is_a_row_with_its_reason_and_nothing_is_left_of_it(tmp_path: Path) -> None:
    (tmp_path / "die.py").write_text(DIES)
    template = parse(["python3", str(tmp_path / "die.py"), "{ranks}"])
    said: list[str] = []
    mine = Job(template, tmp_path / "runs", said.append, ranks=(1, 2), limits=Limits(1, 2, seed=None, most_s=30))
    journal = Journal(mine.folder, {"kind": scaling.KIND, "command": list(template.words)})
    assert scaling.measure(mine, journal) == 0
    rows = journal.rows(scaling.RUNS)
    made = [(row["round"], row["ranks"], row["exit_code"]) for row in rows]
    assert sorted(made) == [(1, 1, 3), (1, 2, 4), (2, 1, 3), (2, 2, 4)]
    assert all(row["status"] == "failed" and "DROP TABLE" in row["reason"] for row in rows)
    assert not journal.rows(scaling.EXCHANGES), "what gives no times is not recorded"
    for log in (mine.folder / scaling.OUTPUT).glob("run-*.txt"):
        assert not is_running(int(log.read_text().split()[0]))
    scaling.answer(journal)
    journal.finish()
    # The third round is not made after two failures, and who resumes makes none again.
    n = len(said)
    assert scaling.measure(mine, Journal(mine.folder, journal.about)) == 0 and len(said) == n + 1


def test_the_budget_leaves_runs_for_another_session(tmp_path: Path) -> None:
    (tmp_path / "die.py").write_text("import sys; sys.exit(1)")
    mine = Job(parse(["python3", str(tmp_path / "die.py"), "{ranks}"]), tmp_path / "runs", print, (1,), budget_s=0.0)
    assert scaling.measure(mine, Journal(mine.folder, {"kind": scaling.KIND})) == 3
