"""docs/seeds.md: five studies, each with a command that runs and the figure that it gives."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from asked import connected, opened
from compared import table as rows_of
from given import section

from traceview import cli
from traceview.analysis import compare
from traceview.experiments import results
from traceview.experiments.imports import published


@pytest.fixture(scope="module")
def parts(root: Path) -> dict[int, str]:
    """The sections of the page by number."""
    text = (root / "docs/seeds.md").read_text(encoding="utf-8")
    return {int(part[0]): part for part in re.split(r"(?m)^## (?=\d)", text)[1:]}


def commands(part: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in re.findall(r"(?m)^    (traceview .*)$", part)]


def cells(part: str, first: str) -> list[str]:
    """The cells of the row that begins so."""
    (line,) = [line for line in part.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_there_are_five_and_each_has_a_command(parts: dict[int, str]) -> None:
    assert sorted(parts) == [1, 2, 3, 4, 5]
    assert all(commands(part) for part in parts.values())


def test_counts_of_the_second_are_those_of_the_report(
    parts: dict[int, str], root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    (command,) = commands(parts[2])
    assert cli.main([*command, "--format", "json"]) == 0
    sections = {each["name"]: each["rows"] for each in json.loads(capsys.readouterr().out)["sections"]}
    found = {(row["layer"], row["method"]): row for row in sections["methods"]}
    winograd = {
        round(100 / found[layer, "Winograd F(2x2,3x3)"]["direct_ratio"]) for layer in ("conv3", "conv4", "conv5")
    }
    (told,) = [line for line in parts[2].splitlines() if "F(2x2,3x3) for conv3" in line]
    assert {f"| {share} % |" in told for share in winograd} == {True}
    (told,) = [line for line in parts[2].splitlines() if "FFT for conv2" in line]
    assert f"| {100 / found['conv2', 'FFT']['direct_ratio']:.0f} % |" in told
    assert ("conv1", "FFT") not in found
    memory = {name: found["conv3", method]["workspace_bytes"] for name, method in (
        ("FFT", "FFT"), ("im2col", "explicit GEMM"), ("fused Winograd", "Winograd F(2x2,3x3), fused"))}  # fmt: skip
    assert max(memory, key=memory.__getitem__) == "FFT"
    told = ", ".join(f"{name} {size / 1e6:.3g} MB" for name, size in memory.items())
    assert cells(parts[2], "memory for conv3")[0] == told


@pytest.mark.shared
def test_the_plan_of_the_third_comes_out_of_published_times(
    parts: dict[int, str], shared: Path, tmp_path: Path
) -> None:
    logs = [path for path in (shared / "studies").glob("*.log") if re.search("6f718db|de7cfc3|cff9dc3", path.name)]
    rows = published.gather(sorted(logs)).rows
    connection = connected(results.write(tmp_path / "published", rows, {"kind": "study"}))
    found = {row["strategy"]: row["times_as_fast"] for row in section(connection, "strategy/totals", network="alexnet")}
    (default,) = [ratio for name, ratio in found.items() if name.startswith("the default")]
    assert cells(parts[3], "the plan over im2col with GEMM")[0] == f"{found['explicit_gemm']:.2f} times as fast"
    assert cells(parts[3], "the plan over what cuDNN R4's heuristic chose")[0] == f"{default:.2f} times as fast"


@pytest.mark.long
def test_the_copies_of_the_fourth(parts: dict[int, str], tmp_path: Path) -> None:
    runs = []
    for name in ("caffe", "tensorflow"):
        found = re.search(rf"(?ms)^```{name}\n(.*?)^```", parts[4])
        assert found
        (tmp_path / name).mkdir()
        runs.append(compare.measure(opened(tmp_path / name, found[1]), name, None, True))
    report = compare.compare(runs)
    for row in rows_of(report, "copies"):
        ours = cells(parts[4], row["direction"])[:2]
        assert ours == [str(round(row["calls_ratio"])), f"{row['ratio']:.1f}"]
    assert rows_of(report, "ranking")[1]["place"] is None


@pytest.mark.long
def test_the_study_of_the_first_runs(
    parts: dict[int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a small layer: each of the four ways has a time for all three passes, and the plan is no slower than any."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    study, report = commands(parts[1])
    words = ["2x4x9x9 k8 5x5 s1 p2" if " k256 " in word else word for word in study]
    assert cli.main([*words, "--repeats", "1"]) == 0
    capsys.readouterr()
    assert cli.main([*report, "--format", "json"]) == 0
    sections: dict[str, Any] = {each["name"]: each["rows"] for each in json.loads(capsys.readouterr().out)["sections"]}
    found = {row["strategy"]: row for row in sections["totals"]}
    for name in ("direct", "explicit_gemm", "fft", "winograd"):
        assert found[name]["passes"] == "3 of 3" and found[name]["times_as_fast"] >= 1


@pytest.mark.long
def test_the_study_of_the_fifth_runs(
    parts: dict[int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    (study,) = commands(parts[5])
    assert cli.main([*study, "--batch", "2", "--rounds", "1", "--steps", "6", "--discard", "2"]) == 0
    capsys.readouterr()
    assert cli.main(["report", "lenet", "frameworks", "--format", "json"]) == 0
    sections: dict[str, Any] = {each["name"]: each["rows"] for each in json.loads(capsys.readouterr().out)["sections"]}
    assert sections["times"][0]["forward_ns"] > 0
    theirs = [row for row in sections["published"] if row["framework"].startswith("torch7")]
    assert theirs and "3.6 times (1.8 and 0.5 ms)" in cells(parts[5], "forward and gradients over forward")[1]
