"""One fresh process of a framework's program: its command line, how it ends, and what it says of its steps.

Invariant: the program does not know traceview; what it prints is checked before it is believed, and a process without
times has a reason.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview.experiments import quiet
from traceview.experiments.command import tail
from traceview.experiments.frameworks.listed import Model
from traceview.paths import temporary_folder
from traceview.recording import messages

LIMIT_S = 1800.0
"""A process that runs longer is ended."""
MOST_BYTES = 64_000_000
"""A process that prints more is ended."""
LAST_BYTES = 1_000_000
"""The last line, with a time for each step, may be this long."""
CANNOT = 2
"""The exit code of a program that was asked for a combination that cannot be."""
POLL_S = 0.1
MOST_TEXT = 200


@dataclass(frozen=True)
class Asked:
    """Computation requested from a program."""

    model: str
    mode: str
    batch: int
    threads: int
    layout: str
    device: str
    steps: int
    discard: int

    def words(self) -> list[str]:
        """The options of the program."""
        names = ("batch", "steps", "discard", "threads", "device", "layout", "mode")
        return [word for name in names for word in (f"--{name}", str(getattr(self, name)))]


class Refused(Exception):
    """Output of the program that cannot be believed; the text says why."""


def run(command: Sequence[str], environment: Mapping[str, str], asked: Asked, model: Model) -> dict[str, Any]:
    """Run a program once; a row of the table without what only the study knows."""
    with temporary_folder("traceview-run-") as place:
        begin, started, clock = quiet.now(), time.time_ns(), time.monotonic_ns()
        code, ended = _finished([*command, *asked.words()], environment, place)
        row: dict[str, Any] = {"started_unix_ns": started, "total_ns": time.monotonic_ns() - clock}
        row["others_pct"] = quiet.others_pct(begin, quiet.now())
        if code or ended:
            said = tail(place / "stderr") or tail(place / "stdout")
            if code == CANNOT and not ended:
                return {**row, "status": "cannot", "reason": said[-1] if said else "it cannot compute this"}
            words = f": {' / '.join(said)}" if said else ""
            return {**row, "status": "failed", "reason": ended or f"the program {messages.ending(code)}{words}"}
        try:
            return {**row, **parsed(_last_line(place / "stdout"), asked, model)}
        except Refused as refused:
            return {**row, "status": "failed", "reason": str(refused)}


def _finished(command: Sequence[str], environment: Mapping[str, str], place: Path) -> tuple[int, str | None]:
    """Wait for a process and all that it started; its exit code, and why it was ended where it was."""
    with (place / "stdout").open("wb") as output, (place / "stderr").open("wb") as errors:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=dict(environment), cwd=place,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return 0, f"{command[0]} cannot be run: {error.strerror}"
        ends, ended = time.monotonic() + LIMIT_S, None
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
                    break
                if time.monotonic() > ends:
                    ended = f"it was ended after {LIMIT_S / 60:.0f} minutes"
                elif (place / "stdout").stat().st_size + (place / "stderr").stat().st_size > MOST_BYTES:
                    ended = f"it was ended after printing {MOST_BYTES // 1_000_000} MB"
                if ended:
                    break
        finally:
            # Also what it left running would take the cores of the next one.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, ended


def _last_line(file: Path) -> str:
    with file.open("rb") as lines:
        size = file.stat().st_size
        lines.seek(max(0, size - LAST_BYTES))
        content = lines.read().strip()
    last = content.rpartition(b"\n")
    if not last[1] and size > LAST_BYTES:
        raise Refused(f"its last line is longer than {LAST_BYTES // 1_000_000} MB")
    return last[2].decode("utf-8", "replace")


def parsed(line: str, asked: Asked, model: Model) -> dict[str, Any]:
    """Check and return the last line of a program's output. Raises `Refused` if it is not an answer."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise Refused("its last line is not the JSON object that says its times")
    times = said.get("step_ms")
    if not isinstance(times, list) or not times or not all(_is_time(value) for value in times):
        raise Refused("its steps have no times, or some that are not times")
    mean = statistics.fmean(times)
    if not _is_time(said.get("mean_ms")) or abs(said["mean_ms"] - mean) > 0.01 * mean:
        raise Refused("the mean that it says is not that of its steps")
    loss = _number(said.get("loss"))
    return {
        "version": _text(said.get("version")),
        "optimizer": _text(said.get("optimizer")),
        "parameters": _count(said.get("parameters")),
        "threads_seen": _count(said.get("threads")),
        "step_ns": round(1e6 * mean),
        "step_sd_ns": round(1e6 * statistics.stdev(times)) if len(times) > 1 else None,
        "median_ns": round(1e6 * statistics.median(times)),
        "steps": len(times),
        "discarded": _count(said.get("discarded")),
        "loss": loss,
        "status": "timed",
        **_differs(said, asked, model),
    }


def _differs(said: Mapping[str, Any], asked: Asked, model: Model) -> dict[str, Any]:
    """The columns that say which conditions are not as asked; empty where all are."""
    must = {name: getattr(asked, name) for name in ("model", "mode", "batch", "threads", "device", "layout")}
    must["parameters"] = model.parameters
    if asked.mode == "train":
        must["optimizer"] = model.optimizer
    # What is not said cannot be checked and counts as equal, as in `compare`.
    found = {
        name: f"{name} {_text(said[name])}, not {value}"
        for name, value in must.items()
        if said.get(name) is not None and said[name] != value
    }
    if said.get("loss") is not None and _number(said["loss"]) is None:
        found["loss"] = "its loss is not a number"
    if said.get("updated") in (True, False) and said["updated"] != (asked.mode == "train"):
        found["update"] = "its parameters changed" if said["updated"] else "its parameters did not change"
    if not found:
        return {}
    return {"status": "differs", "differs": "+".join(found), "reason": "; ".join(found.values())}


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9


def _number(value: Any) -> float | None:
    """A finite number; None for an integer of hundreds of digits."""
    return float(value) if isinstance(value, int | float) and abs(value) <= sys.float_info.max else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62 else None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)[:MOST_TEXT]
