"""The command that runs under Nsight Systems, and how its exit status is kept. No real nsys was at hand."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from traceview.errors import UsageError
from traceview.recording import nsight

ALWAYS = ["--trace=cuda,nvtx,cudnn,cublas,osrt", "--sample=none", "--cpuctxsw=none", "--cuda-graph-trace=node"]
SHELL = ["/bin/sh", "-c", nsight._KEEP_STATUS]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file called nsys as the only program on the PATH."""
    path = tmp_path / "bin" / "nsys"
    path.parent.mkdir()
    path.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(path.parent))
    return str(path)


def test_the_steps_are_bounded_by_the_collector(tool: str) -> None:
    assert nsight.command(["python", "train.py", "-x"], Path("/a/raw"), is_whole=False) == [
        tool, "profile", *ALWAYS, "--capture-range=cudaProfilerApi", "--capture-range-end=stop", "--export=sqlite",
        "--output=/a/raw/nsys", *SHELL, "/a/raw", "python", "train.py", "-x",
    ]  # fmt: skip


def test_the_whole_run_needs_no_collector(tool: str) -> None:
    assert nsight.command(["./a.out"], Path("/100%/raw"), is_whole=True) == [
        tool, "profile", *ALWAYS, "--export=sqlite", "--output=/100%%/raw/nsys", *SHELL, "/100%/raw", "./a.out",
    ]  # fmt: skip


def test_without_nsys_it_is_said_where_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"not on the PATH.*nsight-systems-cli.*Without --tool nsys"):
        nsight.command(["python"], tmp_path, is_whole=False)


@pytest.mark.parametrize(
    ("body", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9), ('test "$1" = "a b"', 0)]
)
def test_the_status_is_the_commands_own(tmp_path: Path, body: str, status: int) -> None:
    environment = nsight.hide(["/bin/sh", "-c", body, "sh", "a b"], {"PATH": os.environ["PATH"]}, tmp_path)
    done = subprocess.run([*SHELL, str(tmp_path), "shown"], env=environment)
    assert done.returncode == (status if status >= 0 else 128 - status)
    assert nsight.status(tmp_path, own=1) == status


def test_nsys_is_shown_no_secrets_and_the_command_gets_them_all(tmp_path: Path) -> None:
    given = {
        "PATH": os.environ["PATH"],
        "OMP_NUM_THREADS": "7",
        "XLA_FLAGS": "--x=https://me:hush@host",
        "API_KEY": "it's\n$hush",
        "status": "s",
        "BASH_FUNC_f%%": "() { :; }",
    }
    body = "import os, sys; print(sys.argv[1:], sorted(os.environ.items()))"
    words = [sys.executable, "-S", "-c", body, "hush 'a'", "--b\n"]
    shown = nsight.hide(words, given, tmp_path)
    assert shown == {"PATH": given["PATH"], "OMP_NUM_THREADS": "7"}
    assert (tmp_path / ".command").stat().st_mode & 0o777 == 0o600
    done = subprocess.run([*SHELL, str(tmp_path)], env=shown, capture_output=True, text=True)
    own = sorted(name for name in ("PWD", "LC_CTYPE") if f"('{name}'" in done.stdout)  # Of the shell and of Python.
    got = [pair for pair in ast.literal_eval(done.stdout.partition("] ")[2]) if pair[0] not in own]
    assert (done.stdout.partition("] ")[0], got) == ("[\"hush 'a'\", '--b\\n'", sorted(given.items()))
    assert [path.name for path in tmp_path.iterdir()] == [".status"]


def test_a_command_that_was_not_run_has_no_status(tmp_path: Path) -> None:
    assert nsight.status(tmp_path, own=1) is None
    assert nsight.status(tmp_path, own=-15) == -15


def test_what_nsys_left(tmp_path: Path) -> None:
    for name in ("nsys.sqlite", "nsys.nsys-rep", "rank-0000.meta.json"):
        (tmp_path / name).touch()
    assert nsight.reports(tmp_path) == ["nsys.nsys-rep", "nsys.sqlite"]
