"""Two programs never write to one folder of an experiment; a killed one bars nobody."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from traceview import cli
from traceview.errors import UsageError
from traceview.experiments import in_use
from traceview.experiments.results import JOURNAL, Journal

OWNER = """
import sys
from pathlib import Path
from traceview.experiments.results import Journal
journal = Journal(Path(sys.argv[1]), {"kind": sys.argv[2], "settings": {}, "command": ["x"]})
journal.add("tune_runs", {"pair": 1})
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def owner(folder: Path, kind: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes to this folder."""
    words = [sys.executable, "-c", OWNER, str(folder), kind]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_the_second_program_is_refused_until_the_first_is_dead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").touch()
    folder = Path("runs")
    scaling = ["study", "scaling", "-o", "runs"]
    with owner(folder, "study scaling") as process:
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for words in (
            [*scaling, "--resume"],
            [*scaling, "--", "x", "{ranks}"],
            ["study", "frameworks", "-o", "runs", "--resume"],
            ["study", "algorithms", "--layer", "3x9x9 k4 3x3", "-o", "runs"],
            ["tune", "-r", "runs", "--", "python", "train.py"],
            ["schedule", "train.py:make_model", "-o", "runs"],
        ):
            code = cli.main(words)
            said = capsys.readouterr()
            assert (code, said.out) == (2, ""), said.err
            who = f"process {process.pid}" if in_use.LOCKS.exists() else "another process"
            assert f"runs is in use by {who}; wait for it or name another folder." in said.err, words
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        with pytest.raises(UsageError, match="in use"):
            Journal(folder, {"kind": "study scaling"})
    assert process.poll() is not None
    journal = Journal(folder, {"kind": "study scaling"})
    assert journal.rows("tune_runs") == [{"pair": 1}], "a killed program bars nobody"
    assert {path.name for path in folder.rglob("*") if path.is_file()} == {"capture.json", JOURNAL}


def test_a_study_is_not_gone_on_with_by_another_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Journal(Path("runs"), {"kind": "study algorithms"})
    for words, kind in (
        (["study", "frameworks", "-o", "runs", "--resume"], "study frameworks"),
        (["study", "scaling", "-o", "runs", "--resume"], "study scaling"),
        (["tune", "--resume", "runs"], "tune"),
    ):
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        assert "was made by traceview study algorithms, not by traceview " + kind in said
