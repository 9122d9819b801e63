"""Completions of Tab, requested as a shell does; and the scripts that make a shell do so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from traceview import cli
from traceview.analysis import advice, reports
from traceview.cli import completion, names


def completions(line: str, folder: Path, root: Path) -> list[str]:
    answer = folder / "answer"
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
    }
    program = "import sys; sys.argv[0] = 'traceview'; from traceview.__main__ import program; sys.exit(program())"
    subprocess.run([sys.executable, "-c", program], env=environment, cwd=folder, timeout=600, check=True)
    return [word.strip().replace("\\", "") for word in answer.read_text().split("\n") if word.strip()]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("traceview ", [*cli.VERBS, "help"]),
        ("traceview report T --limit 3 ", reports.names()),
        ("traceview advise T --evidence ", advice.names()),
        ("traceview report T kernels --lim", ["--limit"]),
        ("traceview report tra", ["train.py"]),
        ("traceview sql T --format m", ["markdown"]),
        ("traceview sql T --format json .schema\\ memc", [".schema memcpys"]),
        ("traceview list for", ["formats"]),
        ("traceview help adv", ["advise"]),
        ("traceview collect -- python tra", ["train.py"]),
    ],
)
def test_what_tab_offers(line: str, found: list[str], tmp_path: Path, root: Path) -> None:
    (tmp_path / "train.py").touch()
    assert completions(line, tmp_path, root) == found


def test_every_table_completes() -> None:
    assert {".tables", ".schema", ".schema conv_calls", ".schema raw.kernels", "FROM steps"} <= set(names.queries())


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_script_for_the_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_ARGCOMPLETE" in script and "traceview" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_bash_completes(tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The real shell, with the program on the PATH."""
    cli.main(["completion", "bash"])
    (tmp_path / "script").write_text(capsys.readouterr().out)
    program = tmp_path / "traceview"
    program.write_text(f"#!/bin/sh\nPYTHONPATH='{root}' exec '{sys.executable}' -m traceview \"$@\"\n")
    program.chmod(0o755)
    asks = (
        f"PATH='{tmp_path}':$PATH; source '{tmp_path}/script'; COMP_WORDS=(traceview compl); COMP_CWORD=1; "
        'COMP_LINE="traceview compl"; COMP_POINT=15; COMP_TYPE=9; _python_argcomplete traceview; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asks], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["completion"], done.stderr
