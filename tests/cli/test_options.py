"""What several verbs take: sizes, and a progress bar where somebody looks."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest

from traceview import cli
from traceview.cli import options


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("2GB", 2_000_000_000), ("512 mb", 512_000_000), ("1.5GiB", 1_610_612_736), ("64K", 64_000), ("1000", 1000)],
)
def test_sizes(text: str, n_bytes: int) -> None:
    assert options.size(text) == n_bytes


@pytest.mark.parametrize("text", ["", "GB", "0", "-1GB", "2 apples", "1e3"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a size"):
        options.size(text)


def test_a_bar_on_a_terminal_only(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, int, int]] = []
    real = options._Bar._show

    def seen(bar: options._Bar, phase: str, done: int, total: int, amount: str) -> None:
        calls.append((phase, done, total))
        real(bar, phase, done, total, amount)

    monkeypatch.setattr(options._Bar, "_show", seen)
    copy = tmp_path / "trace.json"
    copy.write_bytes(trace.read_bytes())
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert cli.main(["convert", str(copy), "-o", str(tmp_path / "quiet")]) == 0
    assert calls == []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert cli.main(["report", str(copy), "kernels", "-o", str(tmp_path / "report.txt")]) == 0
    n_bytes = copy.stat().st_size
    phases = list(dict.fromkeys(phase for phase, _, _ in calls))
    assert phases == ["reading", "linking kernels to operators", "classifying kernels"]
    # The bar is full when a phase is over, and not before.
    assert calls[0] == ("reading", 0, n_bytes) and ("reading", n_bytes, n_bytes) in calls
    done = [(done, total) for phase, done, total in calls if phase == "classifying kernels"]
    assert done[0][0] == 0 and done == sorted(done) and 0 < done[-1][0] < done[-1][1]
    calls.clear()
    assert cli.main(["report", str(copy), "kernels", "-o", str(tmp_path / "report.txt")]) == 0
    assert calls == []


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ([], "table"),
        (["-o", "a.json"], "json"),
        (["-o", "a.CSV"], "csv"),
        (["-o", "a.md"], "markdown"),
        (["-o", "a.parquet"], "parquet"),
        (["-o", "json"], "table"),
        (["-o", "-"], "table"),
        (["-o", "a.json", "--format", "table"], "table"),
    ],
)
def test_the_extension_says_the_format(words: list[str], form: str) -> None:
    parser = argparse.ArgumentParser()
    options.add_output_options(parser, ("table", "parquet"))
    assert options.form_of(parser.parse_args(words), {".parquet": "parquet"}) == form


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1h", 3600), ("2", 120), ("0.5", 30)])
def test_times(text: str, seconds: float) -> None:
    assert options.duration(text) == seconds


@pytest.mark.parametrize("text", ["0", "0s", "-1", "nan", "1e5", "10 minutes", ""])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a time; write for example 90s, 10m or 1h"):
        options.duration(text)
