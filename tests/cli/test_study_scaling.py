"""`traceview study scaling`: real training by one and two processes, a rank that dies, and what is asked wrongly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import traceview
from traceview import cli
from traceview.experiments import results
from traceview.experiments.results import Journal
from traceview.experiments.scaling import scaling

ROOT = Path(__file__).resolve().parents[2]
LENET = str(ROOT / "samples/training/lenet_ddp_torch.py")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "{ranks}"]


def study(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(["study", "scaling", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "torchrun", "train.py"], "nothing in the command says how many processes"),
        (["--batch", "8,16", "--", "torchrun", "--nproc_per_node", "1", "a.py"], "the command has no {batch}"),
        (["--", "x", "{ranks}", "{batch}"], "the command has {batch}; name batches"),
        (["--global-batch", "8", "--", "x", "{ranks}"], "--global-batch needs {batch}"),
        (["--global-batch", "9", "--", "x", "{ranks}", "{batch}"], "a batch of 9 cannot be divided among 2 ranks"),
        (["--resume"], "--resume needs the folder"),
        (["--ranks", "0,1"], "is not a list of ranks"),
        (["--batch", "8", "--global-batch", "8"], "not allowed with argument"),
        ([], "no command given"),
        (["--from", "a", "--batch", "1,2"], "--batch takes one number"),
    ],
)
def test_what_is_asked_wrongly_is_said_before_anything_is_run(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code, _, err = study(capsys, *words)
    except SystemExit as ended:
        code, err = ended.code, capsys.readouterr().err  # type: ignore[assignment]
    assert code == 2 and said in err
    assert not list(tmp_path.iterdir())


def test_a_recording_that_is_not_there_is_an_input_that_cannot_be_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = study(capsys, "--from", "nothing-there")
    assert (code, out) == (3, "") and "nothing-there does not exist" in err and not list(tmp_path.iterdir())


def test_what_the_budget_left_out_is_made_by_the_same_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds, and that nothing is recorded, are not in the folder."""
    asked = []

    def measure(job: scaling.Job, journal: Journal) -> int:
        asked.append((job.rounds, job.records, job.limits.most_s))
        if not journal.rows(scaling.RUNS):
            journal.add(scaling.RUNS, {**job.sizes()[0].facts(), "round": 1, "status": "timed", "step_ns": 10**7})
        return 4

    monkeypatch.setattr(scaling, "measure", measure)
    monkeypatch.chdir(tmp_path)
    options = ["--ranks", "1", "--rounds", "5", "--no-captures", "--limit-time", "20m", "-o", "runs"]
    for more in ([], ["--resume"]):
        code, _, err = study(capsys, *options, *more, "--", "train", "{ranks}")
        assert code == 0
        assert "the budget is spent: 4 runs are not made; go on with the same command and -o runs --resume." in err
    assert asked == [(5, False, 1200)] * 2


@pytest.mark.long
def test_runs_without_times_end_with_their_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "die.py").write_text("import sys; sys.exit('\\x1b]0;owned\\x07 no\\u202e data <script>')")
    code, out, err = study(capsys, "--ranks", "1,2", "-o", "runs", "--", sys.executable, "die.py", "{ranks}")
    assert code == 3 and "no run gave times" in err
    assert "failed" in out and "no" in out and not [char for char in out.replace("\n", "") if not char.isprintable()]
    code, out, _ = study(capsys, "-o", "runs", "--resume")
    assert code == 3, "what failed twice is not made again"
    with traceview.open(tmp_path / "runs") as trace:
        assert trace.execute("SELECT ranks, count(*) FROM raw.scaling_runs GROUP BY 1 ORDER BY 1").fetchall() == [
            (1, 2), (2, 2),
        ]  # fmt: skip
    code, _, err = study(capsys, "-o", "runs", "--resume", "--threads", "7")
    assert code == 2 and "threads cannot change" in err
    code, _, err = study(capsys, "-o", "runs", "--resume", "--", sys.executable, "live.py", "{ranks}")
    assert code == 2 and "die.py '{ranks}'`; begin another folder" in err


@pytest.mark.long
def test_the_page_draws_speed_ups_and_no_text_of_a_run_acts_on_it(tmp_path: Path) -> None:
    point = {"status": "measured", "mode": "weak", "batch": 8, "base_ranks": 1, "step_ns": 10**7, "verdict": "faster"}
    points = [{**point, "ranks": n, "speedup": n * 0.9, "reason": "<script>alert(1)</script>"} for n in (1, 2, 4)]
    results.write(tmp_path / "runs", {"scaling_points": points}, {"kind": "study scaling"})
    page = tmp_path / "page.html"
    assert cli.main(["page", str(tmp_path / "runs"), "-o", str(page)]) == 0
    text = page.read_text()
    assert "weak, speedup" in text and "weak, efficiency" in text and "8, 4: 3.6" in text, (
        "a panel of each, with points"
    )
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text


@pytest.mark.long
def test_training_by_one_and_two_processes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    options = ["--ranks", "1,2", "--batch", "4", "--rounds", "1", "--limit-steps", "4", "--discard", "2", "-o", "runs"]
    code, out, err = study(capsys, *options, "--", *TORCHRUN, LENET, "--batch", "{batch}", "--steps", "20")
    assert code == 0, err
    assert "2 ranks: cannot decide (1 of at least 3 rounds)" in out or "2 ranks: too noisy" in out
    with traceview.open(tmp_path / "runs") as trace:
        runs = trace.execute("SELECT ranks, batch, global_batch, steps FROM raw.scaling_runs ORDER BY 1").fetchall()
        assert runs == [(1, 4, 4, 4), (2, 4, 8, 4)]
        assert trace.execute(
            "SELECT ranks, gradient_bytes, parameters, library, status FROM raw.scaling_exchanges ORDER BY 1"
        ).fetchall() == [(1, 1724320, 431080, "gloo", "recorded"), (2, 1724320, 431080, "gloo", "recorded")]
        sizes = trace.execute("SELECT size_bytes, ranks, n FROM raw.collective_times ORDER BY place").fetchall()
    with traceview.open(tmp_path / "runs/captures/2x4") as trace:
        # On a busy machine the first ones may be warm-up.
        ((counted,),) = trace.execute("SELECT count(DISTINCT step) FROM counted_windows").fetchall()
    assert 0 < counted <= 4 and sizes == [(1622040, 2, counted), (102280, 2, counted)], "two buckets in each step"
    assert cli.main(["report", "runs/captures/2x4", "ranks"]) == 0, "a recording is a capture of its own"
    assert "matched" in capsys.readouterr().out
    code, out, err = study(capsys, "-o", "again", "--from", "runs/captures/1x4", "runs/captures/2x4")
    assert code == 0 and "2 ranks: cannot decide (one recording of each, with a profiler)" in out, err


ONE_DIES = f"""
import os, sys
sys.path.insert(0, {str(Path(LENET).parent)!r})
sys.argv = [{LENET!r}, "--batch", "2", "--steps", "40"]
import torch
seen = 0
step = torch.optim.SGD.step
def counted(*words, **more):
    global seen
    seen += 1
    if seen == 4 and os.environ["RANK"] == "1":
        os._exit(7)
    return step(*words, **more)
torch.optim.SGD.step = counted
import lenet_ddp_torch
lenet_ddp_torch.main()
"""


@pytest.mark.long
def test_a_rank_that_dies_ends_its_run_and_no_process_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(ONE_DIES)
    options = ["--ranks", "2", "--rounds", "1", "--no-captures", "--limit-time", "600s", "-o", "runs"]
    code, _, _ = study(capsys, *options, "--", *TORCHRUN, "train.py")
    assert code == 3
    row = next(
        json.loads(line)["row"]
        for line in (tmp_path / "runs/raw/rank-0000.experiment.jsonl").read_text().splitlines()
        if "scaling_runs" in line
    )
    assert row["status"] == "failed"
    assert row["reason"] == "the command failed with exit code 1: rank 1 ended first, with exit code 7"
    assert "step_ns" not in row
    assert not _running("train.py", tmp_path)


def _running(name: str, folder: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (path / "cwd").readlink() == folder and name in (path / "cmdline").read_text():
                found.append(path.name)
        except OSError:
            continue
    return found


@pytest.mark.long
def test_who_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """SIGKILL reaches the study alone; its command ends by itself."""
    (tmp_path / "quick.py").write_text("import time; time.sleep(0.3); raise SystemExit(5)")
    words = [sys.executable, "-m", "traceview", "study", "scaling", "-o", "runs"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["--ranks", "1,2,3,4,5,6", "--rounds", "1", "--", sys.executable, "quick.py", "{ranks}"]
    first = subprocess.Popen([*words, *command], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    journal = tmp_path / "runs/raw/rank-0000.experiment.jsonl"
    until = time.monotonic() + 300
    while time.monotonic() < until and not (journal.exists() and journal.read_text().count("scaling_runs") >= 2):
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    n = journal.read_text().count("scaling_runs")
    assert 2 <= n < 6
    again = subprocess.run([*words, "--resume", "--rounds", "1"], cwd=tmp_path, env=environment, capture_output=True)
    assert again.returncode == 3, again.stderr.decode()
    rows = [json.loads(line)["row"] for line in journal.read_text().splitlines() if "scaling_runs" in line]
    assert sorted(row["ranks"] for row in rows) == [1, 2, 3, 4, 5, 6]
