"""The receiver of NVTX ranges around a profiled command: built before it runs, its files taken in after it ended.

Invariant: a tool that the user has put behind NVTX stays there, and a machine without a compiler only loses ranges.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from traceview.paths import content

VARIABLE = "NVTX_INJECTION64_PATH"
SUFFIX = "nvtx.log"
_TIMEOUT_S = 90


def library() -> tuple[str | None, str | None]:
    """Return the receiver's path, or None and why not; None and None where another tool has that place."""
    if os.environ.get(VARIABLE):
        return None, None
    builder = content("collectors") / "nvtx_injection.py"
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(builder)], capture_output=True, text=True, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        return None, f"NVTX ranges are not recorded: their receiver could not be built ({error})"
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["NVTX ranges are not recorded"])[-1]
    return done.stdout.strip(), None


def adopt(raw: Path, may_be_ranks: bool) -> list[str]:
    """Take in what processes said through NVTX that no collector recorded; returns what is left out, as sentences.

    Where nothing else was recorded, each of them is a rank; beside recorded ranks there is no place for them.
    """
    said = {int(path.name.split(".")[1].removeprefix("nvtx-")): path for path in raw.glob(".nvtx-*.log")}
    if not may_be_ranks:
        return [f"process {pid} used NVTX but ran no recorded step: its ranges are left out" for pid in sorted(said)]
    for rank, pid in enumerate(sorted(said)):
        describe(raw, rank, pid)
        said[pid].replace(raw / f"rank-{rank:04}.{SUFFIX}")
    return []


def describe(raw: Path, rank: int, pid: int | None) -> None:
    """Write what a collector would have said of a process, of which only what it left is known."""
    facts: dict[str, Any] = {
        "rank": rank,
        "pid": pid,
        "framework": None,
        "framework_version": None,
        "model": None,
        "world_size": 1,
        "cost": {"bare_step_ns": None, "profiled_step_ns": None},
        "steps": {"source": None, "recorded": 0},
        "ended_by": "complete",
        "warnings": [],
    }
    (raw / f"rank-{rank:04}.meta.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
