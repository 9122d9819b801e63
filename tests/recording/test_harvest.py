"""Files of a command become a capture, or nothing and a reason: also where it, or traceview, was ended on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asked import ask

from traceview import store
from traceview.analysis import reports
from traceview.errors import TraceviewError
from traceview.recording.harvest import give_up, harvest
from traceview.recording.launch import Run

OPTIONS = {"wait": 3, "warmup": 1, "steps": 4}
FACTS: dict[str, Any] = {
    "rank": 0,
    "pid": 7,
    "framework": "torch",
    "framework_version": "2",
    "model": {"name": "Net"},
    "world_size": 1,
    "cost": {"bare_step_ns": None, "profiled_step_ns": None},
    "steps": {"source": "optimizer", "recorded": 4},
    "ended_by": "complete",
    "warnings": ["cannot reach https://me:hush@host"],
}
EVENT = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 10, "dur": 5}
TRACE = {"schemaVersion": 1, "traceEvents": [EVENT]}


@pytest.fixture
def said() -> list[str]:
    return []


def left(folder: Path, files: dict[str, str], said: list[str], keeps_command: bool = True) -> Run:
    """A run of `train --token hush` that left these files in `raw/`."""
    (folder / "raw").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "raw" / name).write_text(text)
    return Run(["train", "--token", "hush"], folder, OPTIONS, None, False, keeps_command, said.append)


WHOLE = {"rank-0000.meta.json": json.dumps(FACTS), "rank-0000.kineto.json": json.dumps(TRACE)}


@pytest.mark.slow
@pytest.mark.parametrize(("keeps_command", "command"), [(True, "train --token '***'"), (False, None)])
def test_a_capture_holds_no_secret(tmp_path: Path, said: list[str], keeps_command: bool, command: str | None) -> None:
    assert harvest(left(tmp_path, WHOLE, said, keeps_command), 0, 0)
    described = json.loads((tmp_path / "capture.json").read_text())
    assert described["command"] == (["train", "--token", "***"] if keeps_command else None)
    assert ask(tmp_path, "SELECT command FROM captures") == [(command,)]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name != "raw"]
    assert written and not [path for path in written if b"hush" in path.read_bytes()]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({".process-7.txt": "recording\n"}, "kill -9"),
        ({".process-7.txt": "recording\n", ".7-1.trace": "{"}, "kill -9"),
        ({".process-7.txt": "recording\n", "rank-0000.meta.json": ""}, "kill -9"),
        ({".process-7.txt": "recording\n", "rank-0000.meta.json": '{"rank": 0, "fra'}, "kill -9"),
        ({".process-7.txt": "recording\n", "rank-0000.meta.json": json.dumps(FACTS)}, "kill -9"),
        ({".process-7.txt": "", "rank-0000.meta.json": json.dumps(FACTS), "rank-0000.onednn.log": "x"}, "may be full"),
    ],
)
def test_a_process_that_was_ended_anywhere_leaves_nothing(
    tmp_path: Path, said: list[str], files: dict[str, str], reason: str
) -> None:
    assert not harvest(left(tmp_path, files, said), 0, 0)
    assert said[0].startswith("no capture: ") and reason in said[0]
    assert list((tmp_path / "raw").iterdir()) == []


@pytest.mark.slow
def test_one_of_two_processes_that_was_ended_is_a_warning(tmp_path: Path, said: list[str]) -> None:
    ended = {".process-8.txt": "recording\n", "rank-0001.meta.json": "{"}
    assert harvest(left(tmp_path, {**WHOLE, **ended}, said), 0, 0)
    assert said[0].startswith("process 8: it ended while recording")


def test_an_end_of_traceview_itself_leaves_what_can_be_converted(tmp_path: Path, said: list[str]) -> None:
    left(tmp_path, {".process-8.txt": "recording\n", "rank-0000.meta.json": "{"}, said)
    assert not give_up(tmp_path / "raw") and list((tmp_path / "raw").iterdir()) == []
    left(tmp_path, {**WHOLE, ".process-7.txt": "captured\n"}, said)
    assert give_up(tmp_path / "raw")
    assert ask(tmp_path, "SELECT count(*) FROM raw.ops") == [(1,)]


def test_what_cannot_be_converted_is_kept(tmp_path: Path, said: list[str]) -> None:
    run = left(tmp_path, {**WHOLE, "rank-0000.kineto.json": '{"schemaVersion": 1, "traceEvents": []}'}, said)
    with pytest.raises(TraceviewError, match=r"rank-0000\.kineto\.json holds no events"):
        harvest(run, 0, 0)
    assert (tmp_path / "raw" / "rank-0000.kineto.json").exists() and (tmp_path / "capture.json").exists()


@pytest.mark.long
def test_the_step_time_is_the_one_of_the_report(tmp_path: Path, said: list[str]) -> None:
    times_us = [9000, 1000, 1100, 1500]
    zeros = [sum(times_us[:number]) for number in range(4)]
    span = {"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1}
    steps = [
        {**span, "name": f"ProfilerStep#{number}", "ts": zero, "dur": dur}
        for number, (zero, dur) in enumerate(zip(zeros, times_us, strict=True))
    ]
    ops = [{**EVENT, "ts": zero + 10} for zero in zeros]
    facts = {**FACTS, "cost": {"bare_step_ns": 900_000, "profiled_step_ns": 1_300_000}}
    files = {
        "rank-0000.meta.json": json.dumps(facts),
        "rank-0000.kineto.json": json.dumps({**TRACE, "traceEvents": [*steps, *ops]}),
    }
    assert harvest(left(tmp_path, files, said), 0, 0)
    with store.open_capture(tmp_path) as connection:
        statistics = reports.run(connection, "steps").sections[0]
    names = [column.name for column in statistics.columns]
    assert statistics.rows[0][names.index("mean_ns")] == 1_200_000
    assert said == [
        "rank 0: cannot reach https://me:hush@host",
        "recorded 4 steps, 1.20 ms each (0.900 ms unprofiled; without 1 step of warm-up); "
        f"see it with: traceview report {tmp_path}",
    ]
