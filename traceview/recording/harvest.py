"""Files of a profiled command: its notes and raw traces become a described, converted capture, or a reason why not."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from traceview import __version__
from traceview.errors import TraceviewError
from traceview.ingest import secrets
from traceview.lazy import duckdb
from traceview.paths import content, from_here
from traceview.recording import messages, nsight, nvtx
from traceview.recording.launch import Run

CAPTURE_SCHEMA = 1


def harvest(run: Run, started_ns: int, exit_code: int | None) -> bool:
    """Describe and convert the raw traces, or say why there are none; whether there is a capture.

    `exit_code` is None while the command runs on.

    Raises `TraceviewError` where the raw traces are there and cannot be converted.
    """
    raw = run.capture / "raw"
    notes = _notes(raw)
    is_bare = all(state == "python" for _, state, _ in notes) and not recorded_ranks(raw)
    left_out = nvtx.adopt(raw, is_bare)
    if nsight.reports(raw) and not list(raw.glob("rank-*.meta.json")):
        nvtx.describe(raw, 0, None)
    clear(raw)
    ranks = recorded_ranks(raw)
    if not ranks:
        _empty(raw)
        run.say(f"no capture: {messages.why_none(notes, run.options, run.output is None, exit_code)}")
        return False
    lost = [f"process {pid}: {messages.LOST[state]}{detail}" for pid, state, detail in notes if state in messages.LOST]
    said = [f"rank {rank['rank']}: {text}" for rank in ranks for text in rank["warnings"]]
    described = {
        **_description(run, ranks),
        "started_unix_ns": started_ns,
        "ended_unix_ns": time.time_ns(),
        "exit_code": exit_code,
        "warnings": lost + left_out + said,
        "ranks": ranks,
    }
    for warning in described["warnings"]:
        run.say(warning)
    _convert(run, described)
    return True


def give_up(raw: Path) -> bool:
    """Leave only what is whole where there is no time for more; whether that is anything."""
    if not raw.is_dir():
        return False
    clear(raw)
    is_kept = bool(recorded_ranks(raw))
    if not is_kept:
        _empty(raw)
    return is_kept


def _empty(raw: Path) -> None:
    """Remove the facts and logs of processes that were ended before their traces were whole."""
    for path in raw.iterdir():
        path.unlink()


def _convert(run: Run, described: dict[str, Any]) -> None:
    """Write `capture.json` and the tables."""
    from traceview import store

    _write(run.capture, described)
    store.convert_raw(run.capture)
    work, times = _asked(run.capture, "work", "step_time")
    _write(run.capture, described | {"conv_flop": work[0][0] if work else None})
    summary = messages.summary(described["ranks"], run.options, times)
    run.say(f"{summary}; see it with: traceview report {from_here(run.capture)}")


def _notes(raw: Path) -> list[tuple[int, str, str]]:
    """How far each Python program came: its process id, the state it reached, and what there is to say of that."""
    notes = []
    for path in sorted(raw.glob(".process-*")):
        state, _, detail = path.read_text(encoding="utf-8", errors="replace").partition("\n")
        notes.append((int(path.stem.rpartition("-")[2]), state, detail.strip()))
    return notes


def clear(raw: Path) -> None:
    """Clear away the notes and what was left half written."""
    for path in sorted(raw.glob(".*")):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def recorded_ranks(raw: Path) -> list[dict[str, Any]]:
    """The facts of each process whose trace is there, in order of rank; without a framework a log is all there is."""
    found = []
    for path in sorted(raw.glob("rank-*.meta.json")):
        stem = path.name.removesuffix(".meta.json")
        others = [other.name for other in raw.glob(f"{stem}.*") if other != path] + nsight.reports(raw)
        facts = _facts(path)
        if facts and (facts["framework"] is None or any(not name.endswith(".log") for name in others)):
            found.append(facts | {"files": sorted(others)})
    return found


def _facts(path: Path) -> dict[str, Any]:
    """Return the facts that a process wrote; nothing where it was ended before it could."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _description(run: Run, ranks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the command and how it was run: the head of `capture.json`."""
    return {
        "schema": CAPTURE_SCHEMA,
        "tool": f"traceview {__version__}",
        "command": secrets.command(run.command) if run.keeps_command else None,
        "folder": Path.cwd().name,
        "recorded_by": run.tool,
        "options": run.options,
        "framework": ranks[0]["framework"],
        "framework_version": ranks[0]["framework_version"],
        "model": ranks[0]["model"],
        "world_size": max(len(ranks), *(rank["world_size"] for rank in ranks)),
        "cost": ranks[0]["cost"],
    }


def _asked(capture: Path, *names: str) -> list[list[Any]]:
    """The rows of `queries/NAME.sql`; none where the capture cannot be asked: a run that went well is not to fail."""
    from traceview import sql, store

    queries = [sql.load(content("queries") / f"{name}.sql") for name in names]
    with suppress(TraceviewError, duckdb.Error), store.open_capture(capture) as connection:
        return [query.run(connection) for query in queries]
    return [[] for _ in queries]


def _write(capture: Path, described: dict[str, Any]) -> None:
    draft = capture / ".capture.json"
    draft.write_text(json.dumps(secrets.document(described), indent=1) + "\n", encoding="utf-8")
    draft.replace(capture / "capture.json")


def remove_if_empty(capture: Path, is_ours: bool) -> None:
    """Leave no empty capture behind, and a folder that was there before as it was (`is_ours`: it was not)."""
    for folder in [capture / "raw", *([capture] if is_ours else [])]:
        with suppress(OSError):
            folder.rmdir()
