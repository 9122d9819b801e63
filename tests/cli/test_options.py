"""Options of several verbs: formats, memory, and a progress bar where somebody looks."""

from __future__ import annotations

import argparse
import io
import re
import signal
from pathlib import Path

import pytest

from traceview import cli, store
from traceview.cli import options
from traceview.errors import UsageError


@pytest.mark.slow
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
    assert done and all(0 <= part < total for part, total in done)
    assert any(part for part, _ in done), "it is told while views are made, for each query that reads some"
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
        (["-o", "a.log"], "table"),
        (["-o", "-"], "table"),
        (["-o", "a.json", "--format", "table"], "table"),
    ],
)
def test_the_extension_says_the_format(words: list[str], form: str) -> None:
    parser = argparse.ArgumentParser()
    options.add_output_options(parser, ("table", "parquet"))
    assert options.form_of(parser.parse_args(words), {".parquet": "parquet"}) == form


@pytest.mark.parametrize("name", ["a.html", "a.JSON.gz", "a.xlsx", "a.tsv", "a.pdf", "a.parquet"])
def test_an_extension_of_another_format_is_refused(name: str) -> None:
    parser = argparse.ArgumentParser()
    options.add_output_options(parser)
    said = f"cannot write {Path(name).suffix.lower()} to {name}; use a name that ends in .csv, .json, .md, .txt."
    with pytest.raises(UsageError, match=re.escape(said)):
        options.form_of(parser.parse_args(["-o", name]))
    assert options.form_of(parser.parse_args(["-o", name, "--format", "table"])) == "table"


def test_ctrl_c_is_seen_where_the_query_ends_before_who_waits_for_it(trace: Path) -> None:
    def at_once(number: int, _frame: object) -> None:
        raise RuntimeError(f"Query interrupted by {number}")

    before = signal.signal(signal.SIGINT, at_once)
    try:
        for _ in range(20):
            with pytest.raises(KeyboardInterrupt), options.interruptible(store.open_capture(trace)):
                signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("words", [["report"], ["sql", "FROM ops"]])
def test_too_little_memory_is_a_sentence(trace: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    verb, *query = words
    assert cli.main([verb, str(trace), *query, "--memory", "1"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("traceview: not enough memory") and "--memory.\n" in said and "Error" not in said
