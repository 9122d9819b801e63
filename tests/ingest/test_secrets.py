"""Commands and environments in traces from elsewhere are blanked before they are stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected
from databases import write

from traceview import store
from traceview.ingest import secrets
from traceview.ingest.sink import MAX_NAMES

SPAN = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 10, "dur": 5}
KERNEL = {"start": 10, "end": 30, "deviceId": 0, "demangledName": 1, "globalPid": 70 << 24}


def stored(trace: Path, folder: Path) -> tuple[dict[str, Any], bytes]:
    """The row of `captures` of a trace, and all that was stored of it, as bytes."""
    store.convert([trace], folder)
    connection = connected(folder)
    row = connection.execute("SELECT command, metadata, warnings FROM captures").fetchall()[0]
    whole = connection.execute("SELECT CAST(list(e) AS VARCHAR) FROM raw.events e").fetchall()[0][0] or ""
    rest = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return dict(zip(("command", "metadata", "warnings"), row, strict=True)), whole.encode() + str(row).encode() + rest


def named(number: int, label: str) -> dict[str, Any]:
    return {"ph": "M", "name": "process_name", "pid": number, "tid": 0, "ts": 0, "args": {"name": label}}


def test_the_rule_is_the_collectors() -> None:
    assert secrets.text("--token x") == "--token ***"
    assert secrets.command(["--token", "x"]) == ["--token", "***"]
    assert secrets.document({"token": "x"}) == {"token": "***"}
    assert secrets.environment({"HOME": "x", "RANK": "1"}) == {"RANK": "1"}


def test_a_chrome_trace(tmp_path: Path) -> None:
    content = {
        "argv": ["train.py", "--password", "hush"],
        "deviceProperties": [],
        "schemaVersion": 1,
        "environment": {"API_KEY": "hush", "LR": "0.1"},
        "url": "https://me:hush@host/x",
        "traceEvents": [named(1, "python train.py --password hush --lr 1"), SPAN],
    }
    (tmp_path / "trace.json").write_text(json.dumps(content))
    row, whole = stored(tmp_path / "trace.json", tmp_path / "capture")
    assert b"hush" not in whole and b"python train.py --password *** --lr 1" in whole
    assert json.loads(row["metadata"])["argv"] == ["train.py", "--password", "***"]
    assert json.loads(row["metadata"])["environment"] == {"API_KEY": "***", "LR": "0.1"}


def test_of_more_names_of_processes_than_anyone_has_none_is_kept(tmp_path: Path) -> None:
    names = [named(number, f"train --password hush{number}") for number in range(MAX_NAMES)]
    content = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": [*names, SPAN]}
    (tmp_path / "trace.json").write_text(json.dumps(content))
    assert b"hush" not in stored(tmp_path / "trace.json", tmp_path / "capture")[1]


@pytest.mark.parametrize("separator", [";", "\0"])
def test_a_report_of_nsight_systems_holds_a_whole_environment(tmp_path: Path, separator: str) -> None:
    variables = ["NICE=hush", "CUDA_VISIBLE_DEVICES=1", "LS_COLORS=hush=1;hush", "XLA_FLAGS=--x=https://a:hush@b"]
    facts = [
        ("PROCESS_0:COMMAND", "python"),
        ("PROCESS_0:ARGUMENT_0", "--password"),
        ("PROCESS_0:ARGUMENT_1", "hush it"),
        *(("PROCESS_0:ENVIRONMENT_VARIABLE", f'{name}="{value}"') for name, _, value in map(_parted, variables)),
    ]
    tables = {
        "StringIds": [{"id": 1, "value": "gemm"}],
        "CUPTI_ACTIVITY_KIND_KERNEL": [KERNEL],
        "META_DATA_CAPTURE": [{"name": name, "value": value} for name, value in facts],
        "TARGET_INFO_SYSTEM_ENV": [{"name": "DeviceEnvironment", "value": separator.join(variables)}],
    }
    row, whole = stored(write(tmp_path / "trace.sqlite", tables), tmp_path / "capture")
    assert b"hush" not in whole
    assert row["command"] == "python --password ***"
    allowed = ["CUDA_VISIBLE_DEVICES=1", "XLA_FLAGS=--x=https://***@b"]
    assert json.loads(row["metadata"])["capture"] == {
        "PROCESS_0:COMMAND": ["python"],
        "PROCESS_0:ENVIRONMENT_VARIABLE": allowed,
        "DeviceEnvironment": allowed,
    }


def _parted(variable: str) -> tuple[str, str, str]:
    return variable.partition("=")


def test_the_command_that_nvprof_prints(tmp_path: Path) -> None:
    text = """==7== NVPROF is profiling process 7, command: python train.py --token hush
==7== Profiling application: python train.py --token hush
==7== Profiling result:
            Type  Time(%)      Time     Calls       Avg       Min       Max  Name
 GPU activities:  100.00%  2.0000ms         2  1.0000ms  1.0000ms  1.0000ms  gemm
"""
    (tmp_path / "nvprof.txt").write_text(text)
    row, whole = stored(tmp_path / "nvprof.txt", tmp_path / "capture")
    assert b"hush" not in whole and row["command"] == "python train.py --token ***"
