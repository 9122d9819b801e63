"""Rows become an ordinary capture; a journal outlives whatever ends its program."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import traceview
from traceview import cli
from traceview.errors import InputError, UsageError
from traceview.experiments import results
from traceview.experiments.results import JOURNAL, Journal, described, write

RUNS = [{"pair": number, "side": "base", "step_ns": 1_000_000 * number} for number in (1, 2, 3)]
ABOUT = {"kind": "tune", "command": ["python", "train.py", "--token", "abc"], "framework": "torch"}


def steps(folder: Path) -> list[int]:
    with traceview.open(folder) as trace:
        return [row[0] for row in trace.execute("SELECT step_ns FROM raw.tune_runs ORDER BY pair").fetchall()]


@pytest.mark.slow
def test_rows_are_a_capture(tmp_path: Path) -> None:
    folder = write(tmp_path / "runs", {"tune_runs": RUNS}, ABOUT)
    assert steps(folder) == [1_000_000, 2_000_000, 3_000_000]
    with traceview.open(folder) as trace:
        assert trace.execute("SELECT count(*) FROM raw.tune_options").fetchall() == [(0,)]
        assert trace.execute("SELECT command FROM raw.captures").fetchall() == [("python train.py --token '***'",)]
    assert not list(folder.glob("rank-0000/tune_options.parquet")), "no file for an optional table without rows"
    assert (folder / "rank-0000" / "kernels.parquet").exists()
    assert traceview.report(folder, "quality").to_arrow().num_rows > 0


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    with pytest.raises(UsageError, match="exists already"):
        write(tmp_path / "mine", {"tune_runs": RUNS}, ABOUT)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["file"]


@pytest.mark.slow
def test_a_journal_can_be_read_while_it_grows_and_gone_on_with_after_a_crash(tmp_path: Path) -> None:
    first = Journal(tmp_path / "runs", ABOUT)
    first.add("tune_runs", RUNS[0])
    assert steps(tmp_path / "runs") == [1_000_000]
    file = tmp_path / "runs" / "raw" / JOURNAL
    with file.open("a") as half:
        half.write('{"table": "tune_runs", "ro')
    again = Journal(tmp_path / "runs", ABOUT)
    assert [row["pair"] for row in again.rows("tune_runs")] == [1]
    again.add("tune_runs", RUNS[1])
    assert steps(tmp_path / "runs") == [1_000_000, 2_000_000]
    assert all(json.loads(line) for line in file.read_text().splitlines())


@pytest.mark.long
def test_a_journal_without_a_run_yet_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    journal = Journal(folder, ABOUT)
    assert steps(folder) == []
    journal.answer({"tune_options": [{"name": "malloc", "verdict": "cannot decide"}]})
    assert steps(folder) == [] and results.is_begun(folder) and not results.is_begun(tmp_path)
    (folder / "raw" / JOURNAL).write_text('{"traceview": "experiment", "kind": "tune"}\nnothing of ours\n')
    with pytest.raises(InputError, match="cannot be used"):
        steps(folder)


def test_answers_replace_earlier_ones(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs", ABOUT)
    journal.add_all({"tune_runs": RUNS})
    journal.answer({"tune_options": [{"name": "malloc", "verdict": "cannot decide"}]})
    journal.answer({"tune_options": [{"name": "malloc", "speedup": float("nan"), "verdict": "faster"}]})
    journal.finish()
    with traceview.open(tmp_path / "runs") as trace:
        found = trace.execute("SELECT name, speedup, verdict FROM raw.tune_options").fetchall()
        assert found == [("malloc", None, "faster")]
    assert described(tmp_path / "runs")["kind"] == "tune"


def test_a_table_of_traces_takes_no_rows_of_experiments(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        results.write(tmp_path / "runs", {"kernels": [{"name": "x"}]}, ABOUT)
    assert not (tmp_path / "runs").exists()


def test_what_is_no_experiment_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no results of traceview tune, schedule or study"):
        described(tmp_path)


OWNER = """
import sys
from pathlib import Path
from traceview.experiments.results import Journal
journal = Journal(Path(sys.argv[1]), {"kind": sys.argv[2], "settings": {}, "command": ["x"]})
journal.add("tune_runs", {"pair": 1})
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def owner(folder: Path, kind: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes to this folder."""
    words = [sys.executable, "-c", OWNER, str(folder), kind]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_the_second_program_is_refused_until_the_first_is_dead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").touch()
    folder = Path("runs")
    scaling = ["study", "scaling", "-o", "runs"]
    with owner(folder, "study scaling") as process:
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for words in (
            [*scaling, "--resume"],
            [*scaling, "--", "x", "{ranks}"],
            ["study", "frameworks", "-o", "runs", "--resume"],
            ["study", "algorithms", "--layer", "3x9x9 k4 3x3", "-o", "runs"],
            ["tune", "-o", "runs", "--", "python", "train.py"],
            ["schedule", "train.py:make_model", "-o", "runs"],
        ):
            code = cli.main(words)
            said = capsys.readouterr()
            assert (code, said.out) == (2, ""), said.err
            who = f"process {process.pid}" if results.LOCKS.exists() else "another process"
            assert f"runs is in use by {who}; wait for it or name another folder." in said.err, words
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        with pytest.raises(UsageError, match="in use"):
            Journal(folder, {"kind": "study scaling"})
    assert process.poll() is not None
    journal = Journal(folder, {"kind": "study scaling"})
    assert journal.rows("tune_runs") == [{"pair": 1}], "a killed program bars nobody"
    assert {path.name for path in folder.rglob("*") if path.is_file()} == {"capture.json", JOURNAL}


def test_a_study_is_not_gone_on_with_by_another_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Journal(Path("runs"), {"kind": "study algorithms"})
    for words, kind in (
        (["study", "frameworks", "-o", "runs", "--resume"], "study frameworks"),
        (["study", "scaling", "-o", "runs", "--resume"], "study scaling"),
        (["tune", "-o", "runs", "--resume"], "tune"),
    ):
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        assert "was made by traceview study algorithms, not by traceview " + kind in said
