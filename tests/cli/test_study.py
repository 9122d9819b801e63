"""traceview study: what it is asked, and a real run of a small layer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import traceview
from traceview.cli import main
from traceview.experiments.results import Journal


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "STUDY is missing"),
        (["algorithm"], "did you mean algorithms?"),
        (["algorithms"], "name what to measure"),
        (["algorithms", "--layer", "x"], "is not a layer; write a layer as"),
        (["algorithms", "--layer", "3x8x8 k4 3x3", "--batch", "0"], "'0' is not a list of batches"),
        (["algorithms", "--layer", "3x8x8 k4 3x3", "--passes", "up"], "choose from fprop, dgrad, wgrad"),
        (["algorithms", "--layer", "3x8x8 k4 3x3", "--backends", "x"], "is not a list of back-ends"),
        (["algorithms", "--layer", "3x8x8 k4 3x3", "--python", "no-such-python"], "there is no program"),
        (["algorithms", "--layer", "3x8x8 k4 3x3", "--resume"], "--resume needs the folder"),
        (["algorithms", "--layer", "3x8x8 k4 3x3", "--budget", "-1"], "is not a number of minutes"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["study", *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert said in capsys.readouterr().err


def test_a_study_is_printed_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    folder = tmp_path / "study"
    words = ["study", "algorithms", "--layer", "8x9x9 k16 3x3 p1", "--batch", "1,2", "--passes", "fprop"]
    words += ["--threads", "1", "--repeats", "1", "-o", str(folder)]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert "The fastest of each pass" in printed.out and printed.out.count("8x9x9 k16 3x3 p1") == 2
    assert "[1/2] 8x9x9 k16 3x3 p1 fprop batch 1: best " in printed.err
    about = json.loads((folder / "capture.json").read_text())
    assert about["kind"] == "study algorithms" and about["command"][0] == "traceview"
    with traceview.open(folder) as trace:
        found = trace.execute("SELECT DISTINCT batch FROM raw.algorithm_times ORDER BY 1").fetchall()
    assert found == [(1,), (2,)]
    assert main(words) == 2
    assert "exists already; choose another name with -o, or go on with --resume" in capsys.readouterr().err
    assert main([*words, "--resume"]) == 0
    assert "[" not in capsys.readouterr().err.split("into")[1], "nothing is measured again"


def test_stopping_leaves_a_capture_to_go_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from traceview.experiments import algorithms

    def stopped(plan: object, journal: Journal, watch: object) -> None:
        journal.add("algorithm_times", {"layer": "a", "direction": "fprop", "status": "cannot", "reason": "none"})
        raise KeyboardInterrupt

    monkeypatch.setattr(algorithms, "measure", stopped)
    folder = tmp_path / "study"
    assert (
        main(["study", "algorithms", "--layer", "8x9x9 k16 3x3", "-o", str(folder), "--python", sys.executable]) == 130
    )
    assert "stopped; what was measured is in" in capsys.readouterr().err
    with traceview.open(folder) as trace:
        assert trace.execute("SELECT layer FROM raw.algorithm_times").fetchall() == [("a",)]
