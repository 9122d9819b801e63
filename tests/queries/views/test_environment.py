"""Conditions of a capture: who recorded them, and what nobody did."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected
from compared import measured, table
from given import Given, conv, rows, section

from traceview.analysis import compare, reports
from traceview.experiments import machine, results

QUERY = "SELECT condition, value, recorded_by FROM environment WHERE value IS NOT NULL ORDER BY position"


def test_what_collect_noted_comes_before_the_trace(tmp_path: Path) -> None:
    given = Given()
    given.command = ["python", "train.py"]
    given.device("AMD EPYC", kind="cpu")
    given.about = {
        "cpu": "AMD EPYC 9B14", "cpu_flags": ["avx2", "avx512f"], "cpu_hz": 2_600_000_000, "cores": 2,
        "memory_bytes": 24_000_000_000, "limits": {"cores": 1.5}, "platform": "Linux-6", "driver_version": None,
        "blas": "oneMKL 2024.2", "compiler": "GCC 13.3", "onednn_built": "3.12.0", "threads": 2,
        "numa_nodes": "0-1,3",
        "model": {"name": "AlexNet", "parameters": 62_378_344, "batch": 16, "parameter_dtypes": "float32",
            "input": {"shape": [16, 3, 227, 227], "dtype": "float32", "memory_format": "nchw"}},
    }  # fmt: skip
    found = {name: (value, by) for name, value, by in rows(given.open(tmp_path), QUERY)}
    assert {name: value for name, (value, by) in found.items() if by == "traceview"} == {
        "CPU": "AMD EPYC 9B14", "cores": "2", "CPU clock": "2.60 GHz", "instruction sets": "avx2 avx512f",
        "memory": "24.0 GB", "container": "1.5 cores", "BLAS": "oneMKL 2024.2", "oneDNN": "3.12.0",
        "compiler": "GCC 13.3", "system": "Linux-6", "threads": "2", "command": "python train.py", "model": "AlexNet",
        "NUMA nodes": "3",
        "parameters": "62,378,344", "batch": "16", "precision": "float32", "input": "16x3x227x227 float32 nchw",
    }  # fmt: skip


def test_a_damaged_number_of_numa_nodes_leaves_the_rest(tmp_path: Path) -> None:
    given = Given()
    given.about = {"cores": 2, "numa_nodes": "0-2147483647"}
    assert ("cores", "2", "traceview") in rows(given.open(tmp_path), QUERY)


@pytest.mark.slow
def test_a_trace_says_less_and_the_rest_is_not_recorded(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB", memory_bytes=42_000_000_000, clock_hz=1_410_000_000)
    conv(given, 0, (8, 3, 32, 32), (4, 3, 3, 3))
    given.kernel("implicit_convolve_sgemm", 5, 8, launched=2)
    connection = given.open(tmp_path)
    assert rows(connection, QUERY) == [
        ("GPU", "NVIDIA A100-SXM4-40GB", "the trace"),
        ("GPU memory", "42.0 GB", "the trace"),
        ("GPU clock", "1.41 GHz", "the trace"),
        ("batch", "8", "the trace"),
        ("precision", "float", "the trace"),
    ]
    shown = {row["condition"]: row["value"] for row in section(connection, "environment/conditions")}
    assert shown["driver"] == shown["command"] == shown["dataset"] == "not recorded"


@pytest.mark.slow
def test_an_experiment_notes_the_machine_it_ran_on(tmp_path: Path) -> None:
    facts = machine.facts()
    assert facts["cores"] >= 1 and facts["platform"] and "pid" not in facts
    journal = results.Journal(tmp_path / "study", {"kind": "study", "command": ["traceview"], "machine": facts})
    shown = dict(rows(connected(journal.finish()), "SELECT condition, value FROM environment"))
    assert (shown["system"], shown["cores"]) == (facts["platform"], str(facts["cores"]))
    # Published times are not of the machine that reads them.
    bare = results.write(tmp_path / "bare", {}, {"kind": "study"})
    assert rows(connected(bare), QUERY) == []
    # Every report of the experiment says where it was measured.
    lines = reports.footer(connected(tmp_path / "study"))
    assert lines[0].startswith("Conditions: ") and facts["platform"] in lines[0]


@pytest.mark.long
def test_conditions_of_two_runs_stand_side_by_side(tmp_path: Path) -> None:
    runs = []
    for name, cores in (("a", 2), ("b", 4)):
        given = Given()
        given.command = ["python", "train.py"]
        given.about = {"cpu": "AMD EPYC", "cores": cores}
        given.op("aten::mm", 0, 10)
        runs.append(measured(given, tmp_path / name))
    found = {row["condition"]: (row["base_value"], row["value"], row["is_same"]) for row in table(
        compare.compare(runs), "environment"
    )}  # fmt: skip
    assert found["cores"] == ("2", "4", False) and found["CPU"] == ("AMD EPYC", "AMD EPYC", True)
    assert "GPU" not in found
