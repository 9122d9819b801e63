"""Nsight Systems reports: recognised by their beginning, exported where nsys is, else the command to run."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases import opened, write

from traceview import readers, store
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import nsys_rep
from traceview.store import discovery

REPORT = b"NVIDIA Tegra Profiler Report 2024@5@1@113-245134905481v0.\n\x0bLocal (CLI)"
TABLES = {
    "StringIds": [{"id": 1, "value": "gemm"}],
    "TARGET_INFO_SESSION_START_TIME": [{"utcEpochNs": 1}],
    "CUPTI_ACTIVITY_KIND_KERNEL": [{"start": 1, "end": 2, "deviceId": 0, "demangledName": 1}],
}


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "trace.nsys-rep"
    path.write_bytes(REPORT)
    return path


def nsys(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name as the only one on the PATH (the real one is NVIDIA's and is not at hand)."""
    tool = folder / "bin" / "nsys"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/bin:/usr/bin")


def test_it_is_known_by_its_first_words(report: Path) -> None:
    assert [reader for reader in readers.READERS if reader.sniff(peek(report))] == [nsys_rep]


def test_without_nsys_the_command_is_said(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError) as error:
        store.convert([report], tmp_path / "capture")
    assert "nsys export --type sqlite -o trace.sqlite trace.nsys-rep" in str(error.value)
    assert "Nsight Systems 2024.5.1.113" in str(error.value)


@pytest.mark.slow
def test_with_nsys_its_export_is_read(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = write(tmp_path / "export.db", TABLES)
    nsys(tmp_path, f'while [ "$1" != -o ]; do shift; done; cp {database} "$2"', monkeypatch)
    connection = opened(report, tmp_path / "capture")
    assert connection.execute("SELECT name FROM kernels").fetchall() == [("gemm",)]
    assert connection.execute("SELECT source, format FROM captures").fetchall() == [("trace.nsys-rep", "nsys_rep")]


def test_what_nsys_says_is_passed_on(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nsys(tmp_path, "echo 'report was made by a newer version' >&2; exit 1", monkeypatch)
    with pytest.raises(InputError, match=r"made by a newer version.*2024.5.1.113"):
        store.convert([report], tmp_path / "capture")


def test_a_report_is_passed_over_beside_its_export(report: Path) -> None:
    database = write(report.with_suffix(".sqlite"), TABLES)
    assert [trace.path for trace in discovery.find(report.parent)] == [database]
