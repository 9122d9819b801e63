"""`traceview convert`: a new capture, its path on stdout, and sentences for what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import ask

from traceview import cli


def test_prints_where_the_capture_is(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "run"
    assert cli.main(["convert", str(trace), "-o", str(target), "--threads", "1", "--memory", "500MB", "--strict"]) == 0
    assert capsys.readouterr() == (f"{target}\n", "")
    assert ask(target, "SELECT count(*), sum(dur_ns) FROM raw.kernels") == [(4, 300_000)]


def test_an_existing_folder_is_left_alone(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("x")
    assert cli.main(["convert", str(trace), "-o", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "exists already" in captured.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_input_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["convert", str(tmp_path / "none"), "-o", str(tmp_path / "run")]) == 3
    assert "does not exist" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
