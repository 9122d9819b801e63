"""A trace on stdin is read like a file and leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from cases import first

from traceview import cli
from traceview.cli import stdin
from traceview.decode.files import zstd


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files and caches, of which nothing may be left."""
    for name in ("tmp", "cache"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


TAKES_NO_TRACE = ("collect", "completion", "list", "tune", "study", "schedule")


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def left(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.parametrize("pack", first(1, [gzip.compress, bytes, zstd().compress]))
def test_a_trace_on_stdin(pack, trace, private, monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    feed(monkeypatch, pack(trace.read_bytes()))
    assert cli.main(["sql", "-", "--format", "json", "SELECT count(*) AS n, sum(dur_ns) AS t FROM kernels"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 4, "t": 300_000}]
    assert left(private) == []


@pytest.mark.long
def test_other_verbs_read_it_too(
    trace: Path, private: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["report", "-", "kernels"], ["advise", "-"], ["compare", str(trace), "-"], ["list", "categories"]):
        feed(monkeypatch, trace.read_bytes())
        assert cli.main([*words, *(["--unmatched", "-"] if words[0] == "list" else [])]) == 0
        assert capsys.readouterr().out
    feed(monkeypatch, trace.read_bytes())
    assert cli.main(["convert", "-", "-o", str(private / "made")]) == 0
    assert cli.main(["sql", str(private / "made"), "SELECT source FROM captures", "--format", "csv"]) == 0
    assert capsys.readouterr().out.endswith("source\nstdin\n")
    shutil.rmtree(private / "made")
    assert left(private / "tmp") == []


@pytest.mark.parametrize(
    ("data", "words", "code", "says"),
    [
        (b"", ["report", "-"], 3, "stdin is empty; pipe a trace into it."),
        (b"no trace at all", ["report", "-"], 3, "stdin is not a recognised trace format"),
        (b"{", ["compare", "-", "-"], 2, "can be read once only."),
        (b"{", ["sql", "-"], 2, "give the query as an argument"),
        (b"{", ["sql", "-", "-f", "-"], 2, "can be read once only."),
    ],
)
def test_what_cannot_be(
    data: bytes,
    words: list[str],
    code: int,
    says: str,
    private: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    feed(monkeypatch, data)
    assert cli.main(words) == code
    said = capsys.readouterr().err
    assert says in said and "traceview-stdin-" not in said
    assert left(private) == []


def test_a_stream_without_end_does_not_fill_the_disk(
    private: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    free = SimpleNamespace(free=6_000_000)
    monkeypatch.setattr(stdin.shutil, "disk_usage", lambda folder: free)
    with Path("/dev/zero").open() as endless:
        monkeypatch.setattr("sys.stdin", endless)
        assert cli.main(["report", "-"]) == 3
    assert "save it as a file, or set TMPDIR" in capsys.readouterr().err
    assert left(private) == []


@pytest.mark.slow
def test_a_pipe_into_the_program(trace: Path, private: Path) -> None:
    command = f"gzip -c '{trace}' | '{sys.executable}' -m traceview report - kernels --format csv --limit 1"
    env = {**os.environ, "TMPDIR": str(private / "tmp")}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout.count("ampere_sgemm")) == (0, "", 1)
    assert left(private) == []


def test_names_to_classify(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    feed(monkeypatch, b"aten::relu_\n")
    assert cli.main(["classify", "-", "--format", "csv"]) == 0
    assert capsys.readouterr().out.endswith("aten::relu_\n")


@pytest.mark.parametrize("verb", [verb for verb in cli.VERBS if verb not in TAKES_NO_TRACE])
def test_help_says_so(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([verb, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "stdin" in said


@pytest.mark.long
def test_a_page_that_compares_with_it(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    feed(monkeypatch, trace.read_bytes())
    assert cli.main(["page", str(trace), "--compare", "-", "-o", "both.html"]) == 0
    assert "stdin" in Path("both.html").read_text(encoding="utf-8")
    assert capsys.readouterr().err == ""


def test_a_dash_is_stdout_too(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["sql", str(trace), "SELECT 1 AS n", "--format", "csv", "-o", "-"]) == 0
    assert capsys.readouterr().out == "n\n1\n" and list(tmp_path.iterdir()) == []
