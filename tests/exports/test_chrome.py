"""Chrome JSON: read back it is the same run, and other tools find the profiler's own categories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from timelines import HOSTILE, written

from traceview import store
from traceview.analysis import timeline
from traceview.store import Options

ANSWERS = """
SELECT 'kernels' AS what, count(*) AS n, sum(dur_ns) AS a, string_agg(concat_ws(' ', name, dur_ns, op_name, algorithm,
    direction, layer, step, stream, grid_x), '|' ORDER BY start_ns, name) AS b FROM kernels
UNION ALL SELECT 'copies', count(*), sum(size_bytes), string_agg(direction, '|' ORDER BY start_ns) FROM memcpys
UNION ALL SELECT 'ops', count(*), sum(self_ns), string_agg(concat_ws(' ', name, shapes), '|' ORDER BY start_ns, dur_ns
    DESC, name) FROM ops
UNION ALL SELECT 'calls', count(*), sum(total_ns), CAST(sum(flop) AS VARCHAR) FROM conv_calls
UNION ALL SELECT 'steps', count(*), sum(dur_ns), CAST(sum(busy_ns) AS VARCHAR) FROM steps
"""


def _back(tmp_path: Path, data: bytes) -> list[Any]:
    (tmp_path / "back.json").write_bytes(data)
    capture = store.convert([tmp_path / "back.json"], tmp_path / "back")
    return store.open_capture(capture).execute(ANSWERS).fetchall()


@pytest.mark.long
def test_read_back_it_is_the_same_run(tmp_path: Path, run: Any, file: Any) -> None:
    before = run.execute(ANSWERS).fetchall()
    assert {row[0]: row[1] for row in before} == {"kernels": 2, "copies": 1, "ops": 3, "calls": 1, "steps": 1}
    assert _back(tmp_path, file("chrome")) == before


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["a100-convnet-train-nccl", pytest.param("mi300-resnet18-train", marks=pytest.mark.long)]
)
def test_public_traces_read_back_are_the_same_run(tmp_path: Path, shared: Path, captures: Any, name: str) -> None:
    connection = store.open_capture(captures.folder_of(shared / f"traces/kineto/{name}.json.gz"))
    before = connection.execute(ANSWERS).fetchall()
    timeline.choose(connection)
    assert before[0][1] > 1000
    assert _back(tmp_path, written(connection, "chrome")) == before


def test_what_is_derived_stands_beside_the_profilers_own(file: Any) -> None:
    events = json.loads(file("chrome"))["traceEvents"]
    kernel = next(event for event in events if event["name"] == "implicit_convolve_sgemm")
    assert (kernel["cat"], kernel["ts"], kernel["dur"]) == ("kernel", 150.0, 40.0)
    assert kernel["args"]["grid"] == [2, 1, 1]
    derived = kernel["args"]["traceview"]
    assert (derived["category"], derived["algorithm"], derived["step"]) == ("conv", "implicit_gemm", 3)
    own = {event["cat"] for event in events if event.get("cat", "").startswith("traceview.")}
    assert own == {"traceview.step", "traceview.conv_call", "traceview.idle", "traceview.critical"}


@pytest.mark.slow
def test_one_rank_has_its_own_devices_and_framework(tmp_path: Path) -> None:
    for rank in range(3):
        device = {"id": 0, "name": f"GPU {rank}", "totalGlobalMem": 1}
        kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2,
                  "args": {"device": 0, "stream": 7}}  # fmt: skip
        facts = {"schemaVersion": 1, "deviceProperties": [device], "distributedInfo": {"rank": rank, "world_size": 3}}
        text = json.dumps({**facts, "traceEvents": [kernel], "traceview": {"framework": "JAX"}})
        (tmp_path / f"rank{rank}.json").write_text(text)
    connection = store.open_capture(tmp_path, Options(ranks=frozenset({1})))
    timeline.choose(connection)
    written_back = json.loads(written(connection, "chrome"))
    assert [device["name"] for device in written_back["deviceProperties"]] == ["GPU 1"]
    assert written_back["traceview"]["framework"] == "JAX"


def test_arrows_lead_from_the_call_to_its_kernel(file: Any) -> None:
    events = json.loads(file("chrome"))["traceEvents"]
    ends = {event["id"]: event["ts"] for event in events if event["ph"] == "f"}
    starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s"}
    assert sorted((starts[number], ends[number]) for number in starts) == [(120.0, 150.0), (140.0, 180.0)]


def test_hostile_names_are_text(file: Any) -> None:
    data = file("chrome")
    assert all(byte >= 32 or byte == 10 for byte in data)
    assert HOSTILE in {event["name"] for event in json.loads(data)["traceEvents"]}


def test_counters_and_labels(file: Any) -> None:
    events = json.loads(file("chrome"))["traceEvents"]
    counters = {event["name"]: event["args"]["value"] for event in events if event["ph"] == "C"}
    assert counters == {"allocated_bytes gpu 0": 1024, "reserved_bytes gpu 0": 2048}
    labels = {event["args"]["name"] for event in events if event["name"] in ("process_name", "thread_name")}
    assert {"rank 0 GPU 0", "rank 0 process 70", "stream 1", "stream 1 (overlapping 1)", "steps"} <= labels
