"""Overview and advice of the folder of an experiment: they name it, and the command that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import first

from traceview.cli import main
from traceview.experiments import results

ROWS = {
    "study algorithms": ("algorithm_times", {"layer": "a", "status": "measured", "wall_ns": 5}),
    "tune": ("tune_runs", {"pair": 1, "side": "base", "step_ns": 5}),
    "schedule": ("schedule_plans", {"name": "the plan", "convolutions_ns": 5}),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", first(1, ROWS))
def test_results_are_no_recording(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table, row = ROWS[kind]
    results.write(Path("run1"), {table: [row]}, {"kind": kind})
    name = kind.split()[0]
    line = f"This is what `traceview {name}` measured, not a recording of a run: `traceview report run1 {name}` shows"
    for words in (["report", "run1"], ["advise", "run1"], ["report", "run1", "idle"]):
        assert main(words) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert line in printed, words
        assert "No problem found" not in printed and "No advice" not in printed
    assert main(["report", "run1", "overview", name]) == 0
    printed = capsys.readouterr().out
    assert "No work of a device" not in printed and f"traceview report run1 {name}  " in printed
    assert printed.count("not a recording") == 1, "its own report does not send to itself"


@pytest.mark.parametrize(
    ("name", "table", "row"),
    [
        ("schedule", "schedule_plans", {"name": "the plan", "convolutions_ns": 5, "modelled_speedup": 1.9646}),
        ("tune", "tune_options", {"name": "malloc", "kind": "option", "verdict": "faster", "speedup": 1.9646}),
        ("scaling", "scaling_points", {"mode": "weak", "batch": 8, "ranks": 2, "status": "timed", "speedup": 1.9646}),
    ],
)
def test_a_ratio_is_rounded_once(
    name: str, table: str, row: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results.write(tmp_path / "r", {table: [row]}, {"kind": name})
    assert main(["report", str(tmp_path / "r"), name]) == 0
    printed = capsys.readouterr().out
    assert " 1.96 " in printed and "1.97" not in printed
