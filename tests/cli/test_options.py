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
    calls: list[tuple[int, int]] = []
    real = options._Bar.update
    monkeypatch.setattr(
        options._Bar, "update", lambda bar, done, total: (calls.append((done, total)), real(bar, done, total))
    )
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert cli.main(["convert", str(trace), "-o", str(tmp_path / "quiet")]) == 0
    assert calls == []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert cli.main(["convert", str(trace), "-o", str(tmp_path / "seen")]) == 0
    assert calls and calls[-1] == (trace.stat().st_size, trace.stat().st_size)


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ([], "table"),
        (["-o", "a.json"], "json"),
        (["-o", "a.CSV"], "csv"),
        (["-o", "a.md"], "markdown"),
        (["-o", "a.parquet"], "parquet"),
        (["-o", "json"], "table"),
        (["-o", "a.json", "--format", "table"], "table"),
    ],
)
def test_the_extension_says_the_format(words: list[str], form: str) -> None:
    parser = argparse.ArgumentParser()
    options.add_output_options(parser, ("table", "parquet"))
    assert options.form_of(parser.parse_args(words), {".parquet": "parquet"}) == form
