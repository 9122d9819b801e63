"""`traceview study import`: published times become a capture that reports answer from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from traceview.cli import main

SWEEP = "batch,in_channels,height,width,out_channels,filter_height,filter_width,algorithm,backend,ms\n"


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


def test_nothing_to_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.csv").write_text("x\n1\n")
    assert main(["study", "import", str(tmp_path / "other.csv"), "-o", str(tmp_path / "new")]) == 3
    assert "no published times of convolutions in 1 files" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert main(["study", "import", str(tmp_path / "absent"), "-o", str(tmp_path / "new")]) == 3
