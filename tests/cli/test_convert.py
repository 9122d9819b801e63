"""`traceview convert`: a new capture, its path on stdout, and sentences for what cannot be."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest

from traceview import cli, store
from traceview.cli import convert


def test_prints_where_the_capture_is(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "run"
    assert cli.main(["convert", str(trace), "-o", str(target), "--threads", "1", "--memory", "500MB", "--strict"]) == 0
    assert capsys.readouterr() == (f"{target}\n", "")
    connection = store.open_capture(target)
    assert connection.execute("SELECT count(*), sum(dur_ns) FROM kernels").fetchall() == [(4, 300_000)]


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


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("2GB", 2_000_000_000), ("512 mb", 512_000_000), ("1.5GiB", 1_610_612_736), ("64K", 64_000), ("1000", 1000)],
)
def test_sizes(text: str, n_bytes: int) -> None:
    assert convert.size(text) == n_bytes


@pytest.mark.parametrize("text", ["", "GB", "0", "-1GB", "2 apples", "1e3"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no size"):
        convert.size(text)


def test_a_bar_on_a_terminal_only(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []
    real = convert._Bar.update
    monkeypatch.setattr(
        convert._Bar, "update", lambda bar, done, total: (calls.append((done, total)), real(bar, done, total))
    )
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert cli.main(["convert", str(trace), "-o", str(tmp_path / "quiet")]) == 0
    assert calls == []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert cli.main(["convert", str(trace), "-o", str(tmp_path / "seen")]) == 0
    assert calls and calls[-1] == (trace.stat().st_size, trace.stat().st_size)
