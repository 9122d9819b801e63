"""`traceview study import`: published times become a capture that reports answer from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from traceview.cli import main
from traceview.experiments import results
from traceview.experiments.algorithms.layers import parse

SWEEP = "batch,in_channels,height,width,out_channels,filter_height,filter_width,algorithm,backend,ms\n"


@pytest.mark.long
def test_a_capture_that_reports_answer_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sweep.csv").write_text(
        SWEEP + "4,64,28,28,32,3,3,winograd,mine,0.25\n4,64,28,28,32,3,3,fft,mine,0.5\n"
    )
    (tmp_path / "other.csv").write_text("x\n1\n")
    target = tmp_path / "published"
    assert main(["study", "import", str(tmp_path), "-o", str(target)]) == 0
    said = capsys.readouterr()
    assert said.out == f"{target}\n"
    assert "sweep.csv: 2 times" in said.err and "other.csv was passed over: a CSV without the shapes" in said.err
    assert main(["report", str(target), "study", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    sections = {section["name"]: section["rows"] for section in report["sections"]}
    assert [(row["algorithm"], row["wins"]) for row in sections["wins"]] == [("winograd", 1), ("fft", 0)]
    assert main(["study", "import", str(tmp_path / "sweep.csv"), "-o", str(target)]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.slow
def test_published_times_stand_beside_what_was_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer, _ = parse("64x28x28 k32 3x3")
    row = {**layer.facts(), "batch": 1, "direction": "fprop", "algorithm": "direct", "status": "measured", "wall_ns": 9}
    study = results.write(tmp_path / "study", {"algorithm_times": [row]}, {"kind": "study", "framework": "PyTorch"})
    (tmp_path / "sweep.csv").write_text(SWEEP + "4,64,28,28,32,3,3,winograd,mine,0.25\n")
    for _ in range(2):
        assert main(["study", "import", str(tmp_path / "sweep.csv"), "--into", str(study)]) == 0
    assert json.loads((study / "capture.json").read_text())["framework"] == "PyTorch"
    capsys.readouterr()
    assert main(["report", str(study), "study", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    rows = next(section["rows"] for section in report["sections"] if section["name"] == "published")
    assert [(row["algorithm"], row["status"], row["batch"]) for row in rows] == [
        ("direct", "measured", 1),
        ("winograd", "published", 4),
    ]
    (tmp_path / "empty").mkdir()
    assert main(["study", "import", str(tmp_path / "sweep.csv"), "--into", str(tmp_path / "empty")]) == 3
    assert "holds no results of traceview tune, schedule or study" in capsys.readouterr().err


def test_nothing_to_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.csv").write_text("x\n1\n")
    assert main(["study", "import", str(tmp_path / "other.csv"), "-o", str(tmp_path / "new")]) == 3
    assert "no published times of convolutions in 1 file (other.csv: a CSV without" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert main(["study", "import", str(tmp_path / "absent"), "-o", str(tmp_path / "new")]) == 3
