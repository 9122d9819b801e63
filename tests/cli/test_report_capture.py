"""`traceview report REPLAY --capture TRACES`: kernels of a replay get the place that they have in another file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from traceview import cli


def event(cat: str, name: str, at: int, lasting: int, **args: object) -> dict[str, Any]:
    thread = {"pid": 0, "tid": 7} if cat == "kernel" else {"pid": 10, "tid": 10}
    return {"ph": "X", "cat": cat, "name": name, "ts": at, "dur": lasting, "args": args, **thread}


def capture(name: str) -> list[dict[str, Any]]:
    """One graph of two operators in a module, each with a launch."""
    return [
        event("python_function", "serve.py(12): forward", 1, 98),
        event("user_annotation", f"traceview.module: {name} (Attention)", 2, 96),
        event("cuda_runtime", "cudaStreamBeginCapture", 3, 1),
        event("cpu_op", "aten::mm", 10, 10, **{"Input Dims": [[4, 8], [8, 2]], "Input type": ["float", "float"]}),
        event("cuda_runtime", "cudaLaunchKernel", 12, 2, correlation=1),
        event("cpu_op", "aten::relu", 30, 10),
        event("cuda_runtime", "cudaLaunchKernel", 32, 2, correlation=2),
        event("cuda_runtime", "cudaStreamEndCapture", 60, 1),
    ]


REPLAY = [
    event("cuda_runtime", "cudaGraphLaunch", 1000, 5, correlation=9),
    event("kernel", "gemm_kernel", 1010, 40, correlation=9, device=0, stream=7, **{"graph id": 1, "graph node id": 3}),
    event("kernel", "relu_kernel", 1050, 10, correlation=9, device=0, stream=7, **{"graph id": 1, "graph node id": 4}),
]


def report(capsys: pytest.CaptureFixture[str], *args: object) -> list[dict[str, Any]]:
    assert cli.main(["report", *map(str, args), "--format", "json", "--limit", "0"]) == 0
    (section,) = json.loads(capsys.readouterr().out)["sections"]
    return list(section["rows"])


def written(path: Path, events: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


@pytest.mark.slow
def test_modules_and_lines_are_those_of_the_capture_and_times_those_of_the_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay = written(tmp_path / "replay.json", REPLAY)
    other = written(tmp_path / "capture.json", capture("attn"))
    alone = report(capsys, replay, "modules")
    assert [(row["module"], row["total_ns"]) for row in alone] == [("(no module)", 50_000)]
    told = report(capsys, replay, "modules", "--capture", other)
    assert [(row["module"], row["total_ns"]) for row in told] == [("attn", 50_000)]
    lines = report(capsys, replay, "lines", "--capture", other)
    assert [(row["line"], row["device_ns"]) for row in lines] == [("serve.py(12): forward", 50_000)]
    # The replay without its capture is as it was.
    assert report(capsys, replay, "modules") == alone


@pytest.mark.slow
def test_a_capture_of_another_graph_places_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    third = event("kernel", "third", 1070, 5, correlation=9, device=0, stream=7)
    replay = written(tmp_path / "replay.json", [*REPLAY, third])
    other = written(tmp_path / "capture.json", capture("attn"))
    assert [row["module"] for row in report(capsys, replay, "modules", "--capture", other)] == ["(no module)"]


@pytest.mark.slow
def test_decoding_with_its_capture_has_lines_for_nearly_all_of_its_time(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared / "traces/operators"
    replay, other = folder / "mi300-sglang-decode.json.gz", folder / "mi300-sglang-capture.json.gz"
    alone = {row["line"]: row["share_pct"] for row in report(capsys, replay, "lines")}
    # All that the graph holds stands at the line that launches it.
    assert len([line for line, share in alone.items() if share > 1]) == 1
    told = {row["line"]: row["share_pct"] for row in report(capsys, replay, "lines", "--capture", other)}
    assert len([line for line, share in told.items() if share > 1]) >= 5
    assert told.get("(no line)", 0) < 5


@pytest.mark.long
def test_other_verbs_that_read_a_replay_take_its_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replay = written(tmp_path / "replay.json", REPLAY)
    other = written(tmp_path / "capture.json", capture("attn"))
    query = "SELECT DISTINCT layer FROM busy"
    for words in (
        ["sql", replay, query],
        ["export", replay, "--to", "chrome", "-o", "-"],
        ["page", replay, "-o", "-"],
        ["advise", replay, "--all"],
    ):
        said = []
        for more in ([], ["--capture", other]):
            assert cli.main([*map(str, words), *map(str, more)]) == 0, words
            said.append(capsys.readouterr().out)
        if words[0] != "advise":  # It has no finding here, with the capture as without.
            assert ["attn" in text for text in said] == [False, True], words
