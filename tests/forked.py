"""Cases that may end their process: each runs in a child of its own, forked by a process that has started no thread."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SECONDS = 120


def ending(case: Callable[[], str]) -> str:
    """How a case ends in a child: what it returns ("" where all is right), what it raises, or its signal."""
    sys.stdout.flush()
    told, into = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        try:
            said = case()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(into, said.encode()[:4096])
        os._exit(0)
    os.close(into)
    with os.fdopen(told, encoding="utf-8", errors="replace") as read:
        said = read.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said if not code else f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"


def run_each(cases: dict[str, Callable[[], str]]) -> None:
    """Say on stdout how each case ends."""
    for name, case in cases.items():
        print(json.dumps({"case": name, "told": ending(case)}), flush=True)


def endings(program: str, *arguments: str) -> dict[str, str]:
    """How each case of a program that calls `run_each` ended, by its name."""
    path = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", program, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"case"')]
    assert done.returncode == 0 and rows, done.stderr
    return {row["case"]: row["told"] for row in rows}
