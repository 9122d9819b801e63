"""traceview study: what it is asked, and a real run of a small layer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import traceview
from traceview.cli import main, studies
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
        (["algorithms", "--layer", "9" * 5000 + "x3x3 k1 1x1"], "is not a layer; write a layer as"),
        (["algorithms", "--layer", "0x3x8x8 k4 3x3"], "the batch must be between 1 and 65,536"),
        (["algorithms", "--layer", "99999999999x3x8x8 k4 3x3"], "the batch must be between 1 and 65,536"),
        (["algorithms", "--layer", "3x8x8 k4 3x3", "--threads", "40000"], "40,000 threads cannot be measured here"),
        (["algorithms", "--layer", "3x8x8 k4 3x3", "--resume"], "--resume needs the folder"),
        (
            ["algorithms", "--layer", "3x8x8 k4 3x3", "--budget", "0"],
            "'0' is not a time; write for example 90s, 10m or 1h",
        ),
    ],
)
def test_what_is_wrong_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["study", *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert said in capsys.readouterr().err


@pytest.mark.long
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


@pytest.mark.long
def test_layers_come_from_models_and_captures(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from traceview.experiments.algorithms import measuring

    seen: list[tuple[str, int, str | None]] = []

    def looked_at(plan: measuring.Plan, journal: Journal, watch: object) -> None:
        seen.extend((group.layer.name, group.batch, group.layer.model) for group in plan.groups)
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "measure", looked_at)
    (tmp_path / "net.py").write_text("from torch import nn\ndef make(): return nn.Conv2d(3, 4, 3)\n")
    words = ["study", "algorithms", "--passes", "fprop", "--model", "lenet", "--model", f"{tmp_path}/net.py:make"]
    capture = str(root / "samples/kineto/torch-2.13.0-alexnet-cpu.json.gz")
    assert main([*words, "--image", "3x9x9", "--from", capture, "-o", str(tmp_path / "a")]) == 130
    assert seen[:3] == [("conv1", 16, "lenet"), ("conv2", 16, "lenet"), ("convolution", 16, "net.py:make")]
    assert [batch for _, batch, _ in seen[3:]] == [16] * 5
    assert not (tmp_path / "a").exists(), "nothing was measured, and nothing is left"
    seen.clear()
    assert main([*words[:4], "--from", capture, "--batch", "2,8", "-o", str(tmp_path / "b")]) == 130
    assert [batch for _, batch, _ in seen] == [2] * 5 + [8] * 5
    assert main([*words[:4], "--model", "alexnett", "-o", str(tmp_path / "c")]) == 2
    assert "did you mean alexnet" in capsys.readouterr().err and not (tmp_path / "c").exists()


def test_a_busy_machine_is_said() -> None:
    assert studies.busy([2.0], "groups") is None
    said = studies.busy([2.0, 45.0], "groups")
    assert said and "too busy to tell in 1 of 2 groups" in said and "45 %" in said


def test_stopping_leaves_a_capture_to_go_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from traceview.experiments.algorithms import measuring

    def stopped(plan: object, journal: Journal, watch: object) -> None:
        journal.add("algorithm_times", {"layer": "a", "direction": "fprop", "status": "cannot", "reason": "none"})
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "measure", stopped)
    folder = tmp_path / "study"
    assert (
        main(["study", "algorithms", "--layer", "8x9x9 k16 3x3", "-o", str(folder), "--python", sys.executable]) == 130
    )
    assert "stopped; what was measured is in" in capsys.readouterr().err
    with traceview.open(folder) as trace:
        assert trace.execute("SELECT layer FROM raw.algorithm_times").fetchall() == [("a",)]


@pytest.mark.slow
def test_what_is_printed_is_the_section_of_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from traceview.cli.studies import shown
    from traceview.cli.study_algorithms import SHOWN
    from traceview.experiments import results
    from traceview.experiments.algorithms.layers import parse

    facts = parse("8x9x9 k16 3x3 p1")[0].facts() | {"layer": "conv1", "model": "net", "status": "measured"}
    facts |= {"device": "cpu", "threads": 1, "batch": 4, "direction": "fprop", "layout_in": "nchw", "flop": 100}
    rows = [
        {**facts, "backend": "torch", "implementation": "default", "wall_ns": 3000},
        {**facts, "backend": "onednn", "implementation": "gemm", "wall_ns": 2000, "algorithm": "direct"},
        {**facts, "backend": "winograd", "implementation": "F(2x2)", "status": "wrong", "reason": "its error"},
    ]
    results.write(tmp_path / "s", {"algorithm_times": rows}, {"kind": "study algorithms"})
    printed = shown(tmp_path / "s", "study", (SHOWN,))
    assert main(["report", str(tmp_path / "s"), "study"]) == 0
    line = next(line for line in printed.splitlines() if line.startswith("conv1"))
    words = ["conv1", "4", "fprop", "3.000", "2.000", "1.50", "direct", "onednn", "gemm", "nchw"]
    assert line.split()[: len(words)] == words
    assert line in capsys.readouterr().out
