"""The receiver of NVTX around a command: found or not, and what processes without a collector left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from traceview.recording import nvtx


def test_another_tools_place_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/opt/nsight/libtool.so")
    assert nvtx.library() == (None, None)


def test_without_a_compiler_the_reason_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NVTX_INJECTION64_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    library, reason = nvtx.library()
    assert library is None and reason is not None and "needs a C compiler" in reason


def left(raw: Path, *pids: int) -> None:
    raw.mkdir(exist_ok=True)
    for pid in pids:
        (raw / f".nvtx-{pid}.log").write_text("x")


def test_processes_without_a_collector_are_ranks_where_nothing_else_was_recorded(tmp_path: Path) -> None:
    left(tmp_path, 30, 9)
    assert nvtx.adopt(tmp_path, may_be_ranks=True) == []
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "rank-0000.meta.json", "rank-0000.nvtx.log", "rank-0001.meta.json", "rank-0001.nvtx.log",
    ]  # fmt: skip
    assert json.loads((tmp_path / "rank-0001.meta.json").read_text())["pid"] == 30


def test_beside_recorded_ranks_they_are_left_out_and_named(tmp_path: Path) -> None:
    left(tmp_path, 7)
    assert nvtx.adopt(tmp_path, may_be_ranks=False) == [
        "process 7 used NVTX but ran no recorded step: its ranges are left out"
    ]
    assert [path.name for path in tmp_path.iterdir()] == [".nvtx-7.log"]
