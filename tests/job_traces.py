"""Small traces of the ranks of a job, and what a capture holds, row for row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

from traceview.store import recorded

STEP_US = 1000


def trace(rank: int, n_steps: int = 3, shift_ns: int = 1000) -> dict[str, Any]:
    """A rank with an operator, its launch and its kernel in each step, and a clock of its own."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": f"python {rank}"}}
    ]
    for step in range(n_steps):
        at, number = 10 + STEP_US * step, 4 * step + 1
        host, device = {"ph": "X", "pid": 7, "tid": 7}, {"ph": "X", "pid": 0, "tid": 7}
        events += [
            {**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 900},
            {**host, "cat": "cpu_op", "name": "aten::mm", "ts": at + 10, "dur": 50, "args": {"External id": number}},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 20, "dur": 5,
             "args": {"correlation": number, "External id": number}},
            {**device, "cat": "kernel", "name": "volta_sgemm_128x64_nn", "ts": at + 40, "dur": 100 + rank,
             "args": {"correlation": number, "device": 0, "stream": 7, "External id": number}},
            {**device, "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": at + 300 + 10 * rank,
             "dur": 200 - 10 * rank, "args": {"correlation": number + 1, "device": 0, "stream": 20, "dtype": "Float",
             "Collective name": "allreduce", "In msg nelems": 1000, "Group size": 4, "Process Group Name": "0"}},
        ]  # fmt: skip
    return {
        "schemaVersion": 1,
        "baseTimeNanoseconds": 1_700_000_000_000_000_000 + rank * shift_ns,
        "deviceProperties": [{"id": 0, "name": "Tesla V100-SXM2-32GB", "numSms": 80}],
        "distributedInfo": {"rank": rank, "world_size": 4, "backend": "nccl"},
        "traceEvents": events,
    }


def written(folder: Path, ranks: int = 4) -> Path:
    """The traces of a job, in a new folder."""
    folder.mkdir()
    for rank in range(ranks):
        (folder / f"rank{rank}.json").write_text(json.dumps(trace(rank)))
    return folder


def rows(capture: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of a capture, in an order that does not depend on files."""
    connection = duckdb.connect()
    query = "FROM read_parquet($1, hive_partitioning = false) ORDER BY ALL"
    files = {table: [str(path) for path in paths] for table, paths in recorded.files(capture).items()}
    return {table: connection.execute(query, [paths]).fetchall() if paths else [] for table, paths in files.items()}


def left_over(folder: Path) -> list[str]:
    """Return the names in a folder that begin with a dot."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
