"""Plans out of captures and of what was measured before: what is taken, what is said, what has to be chosen."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from traceview.convolution import plan
from traceview.errors import InputError, UsageError
from traceview.experiments import results
from traceview.experiments.algorithms.layers import parse
from traceview.experiments.results import Journal
from traceview.experiments.schedule import scheduling
from traceview.experiments.schedule.inputs import of_capture, of_study
from traceview.experiments.schedule.job import Job
from traceview.experiments.schedule.rows import slots_of

PASSES = ("fprop", "dgrad", "wgrad")


def row(layer: str, direction: str, backend: str, ns: int, **more: Any) -> dict[str, Any]:
    """A row as `study algorithms` writes it."""
    made = parse({"conv1": "3x8x8 k4 3x3 p1", "conv2": "4x8x8 k6 3x3 p1"}[layer])[0]
    facts = made.facts() | {"layer": layer, "model": "net", "batch": 4, "device": "cpu", "threads": 1}
    told = {"direction": direction, "backend": backend, "implementation": "default", "status": "measured"}
    times = {"wall_ns": 2 * ns, "cpu_ns": ns, "error": 1e-6, "source": "measured on A Processor"}
    return {**facts, **told, **times, "layout_in": "nchw", "layout_out": "nchw", **more}


def study(folder: Path, *more: dict[str, Any]) -> Path:
    """Two layers, measured with three back-ends."""
    rows = []
    for layer in ("conv1", "conv2"):
        for direction in PASSES:
            rows += [
                row(layer, direction, "torch", 100, backend_version="2.13.0"),
                row(layer, direction, "torch", 110, layout_in="nhwc", layout_out="nhwc", layout_ns=22),
                row(layer, direction, "winograd", 40, implementation="F(4x4,3x3) by 64", layout_in="nhwc",
                    layout_out="nhwc", prepare_ns=5, workspace_bytes=9_000_000, error=8e-6, algorithm="winograd"),
                row(layer, direction, "onednn", 30, implementation="jit:avx2", layout_in="aBcd8b", layout_out="aBcd8b",
                    layout_ns=40, prepare_ns=1, workspace_bytes=0),
                row(layer, direction, "torch_fft", 5, implementation="whole-image FFT"),
            ]  # fmt: skip
    return results.write(folder, {"algorithm_times": [*rows, *more]}, {"kind": "study algorithms"})


def job(model: Path, said: list[str], **more: Any) -> Job:
    known: dict[str, Any] = {"batch": None, "threads": None, "numerics": "close", "cap_bytes": None, "pairs": 6}
    told = {"model": str(model), "image": (3, 8, 8), "is_shared": False, "python": sys.executable, "say": said.append}
    return Job(**{**known, **told, **more})


@pytest.mark.slow
def test_a_study_is_planned_without_measuring(tmp_path: Path) -> None:
    said: list[str] = []
    answer = scheduling.schedule(job(study(tmp_path / "s"), said), Journal(tmp_path / "plan", {"kind": "schedule"}))
    told = answer.plan
    assert (told["keys"], told["cpu"], told["threads"], told["torch"]) == ("shape", "A Processor", 1, "2.13.0")
    assert told["order"] == "a chain, in the order of the study" and "its first needs no dgrad" in said[0]
    assert answer.verdict == "not proved end to end"
    winograd = {"backend": "winograd", "implementation": "F(4x4,3x3) by 64"}
    first, second = told["layers"]
    assert (first["layout"], first["fprop"], first["dgrad"], first["wgrad"]) == ("nhwc", winograd, None, winograd)
    assert second["dgrad"] == winograd and second["shape"]["batch"] == 4
    # 22 ns change input and output; three of the seven channels are the input's, which is changed once.
    assert answer.modelled_ns["the plan"] == 5 * 45 + 22 * 3 // 7
    assert (
        answer.modelled_ns["onednn jit:avx2"] == 5 * (30 + 1 + 40) and answer.modelled_ns["PyTorch's own, nchw"] == 500
    )


@pytest.mark.slow
def test_caps_and_numerics_of_a_study(tmp_path: Path) -> None:
    folder, said = study(tmp_path / "s"), list[str]()
    for number, (changes, runs) in enumerate(
        [
            ({"cap_bytes": 8_000_000}, "onednn"),
            ({"cap_bytes": 0}, "onednn"),
            ({"numerics": "equal"}, "onednn"),
            ({"cap_bytes": 32_000_000}, "winograd"),
        ]
    ):
        journal = Journal(tmp_path / f"plan{number}", {"kind": "schedule"})
        answer = scheduling.schedule(job(folder, said, **changes), journal)
        chosen = [layer[way] for layer in answer.plan["layers"] for way in PASSES if layer[way]]
        assert {choice["backend"] for choice in chosen} == {runs}, changes
        if runs == "onednn":
            assert chosen[0]["implementation"] == "jit:avx2, aBcd8b to aBcd8b"


@pytest.mark.slow
def test_a_plan_is_made_again_from_its_own_results(tmp_path: Path) -> None:
    said: list[str] = []
    journal = Journal(tmp_path / "plan", {"kind": "schedule"})
    first = scheduling.schedule(job(study(tmp_path / "s"), said), journal)
    journal.finish()
    again = scheduling.schedule(job(tmp_path / "plan", said), Journal(tmp_path / "again", {"kind": "schedule"}))
    assert again.plan["layers"] == first.plan["layers"] and again.modelled_ns == first.modelled_ns


@pytest.mark.slow
def test_the_graph_of_a_model_that_was_measured_is_known(tmp_path: Path) -> None:
    folder = study(tmp_path / "s")
    given = of_study(folder, None, None, None, PASSES, print)
    layers = [{**layer, "module": name} for name, layer in zip(("a", "b"), given.layers, strict=True)]
    about = json.loads((folder / "capture.json").read_text())
    graph: dict[str, Any] = {"layers": layers, "edges": [["a", "b"], ["a", "b"]]}
    (folder / "capture.json").write_text(json.dumps({**about, "graph": graph}))
    known = of_study(folder, None, None, None, PASSES, print)
    assert (known.keys, known.edges) == ("module", [("a", "b"), ("a", "b")])
    for wrong in ({"layers": [{"module": 5}]}, {"layers": "x"}, {**graph, "edges": [[1, 2]]}, {"layers": []}, 5):
        (folder / "capture.json").write_text(json.dumps({**about, "graph": wrong}))
        assert of_study(folder, None, None, None, PASSES, lambda text: None).keys == "shape"


@pytest.mark.slow
def test_what_is_more_than_one_has_to_be_chosen(tmp_path: Path) -> None:
    more = [row("conv1", "fprop", "torch", 100, batch=8), row("conv1", "fprop", "torch", 90, threads=2)]
    folder = study(tmp_path / "s", *more, row("conv2", "fprop", "torch", 9, model="other"))
    said: list[str] = []
    with pytest.raises(UsageError, match=r"more than one network .*net, other.*--network"):
        of_study(folder, None, None, None, PASSES, said.append)
    with pytest.raises(UsageError, match=r"more than one batch .*4, 8.*--batch N"):
        of_study(folder, None, 1, "net", PASSES, said.append)
    with pytest.raises(UsageError, match="no batch 16 was measured there, but 4, 8"):
        of_study(folder, 16, 1, "net", PASSES, said.append)
    with pytest.raises(UsageError, match="more than one number of threads"):
        of_study(folder, 4, None, "net", PASSES, said.append)
    assert len(of_study(folder, 8, None, "net", PASSES, said.append).layers) == 1


@pytest.mark.slow
def test_what_cannot_be_planned_is_said(tmp_path: Path) -> None:
    folder = results.write(
        tmp_path / "bf16", {"algorithm_times": [row("conv1", "fprop", "torch", 5, dtype="bfloat16")]}, {"kind": "study"}
    )
    with pytest.raises(InputError, match="no times of float32 convolutions"):
        of_study(folder, None, None, None, PASSES, print)
    folder = results.write(
        tmp_path / "own", {"algorithm_times": [row("conv1", "fprop", "onednn", 5)]}, {"kind": "study"}
    )
    with pytest.raises(InputError, match="no times of PyTorch's own"):
        scheduling.schedule(job(folder, []), Journal(tmp_path / "plan", {"kind": "schedule"}))


def test_hostile_rows_are_no_options(tmp_path: Path) -> None:
    rows = [
        row("conv1", "fprop", "torch", 100),
        row("conv1", "fprop", "winograd", -5),
        row("conv1", "fprop", "os.system", 1),
        row("conv1", "fprop", "onednn", 7, prepare_ns=-(10**9)),
        row("conv1", "up", "winograd", 1),
        row("conv1", "fprop", "winograd", 1, height=1 << 40),
        row("conv1", "fprop", "winograd", 1, status="cannot", reason="no \x1b[2J"),
    ]
    folder = results.write(tmp_path / "s", {"algorithm_times": rows}, {"kind": "study"})
    given = of_study(folder, None, None, None, PASSES, print)
    (slot,), _ = slots_of(given.layers, given.rows)
    assert [(it.backend, it.time_ns) for it in slot.options] == [(plan.OWN, 100), ("onednn", 7)]


def test_a_capture_has_layers_and_passes(root: Path) -> None:
    said: list[str] = []
    given = of_capture(root / "samples/kineto/torch-2.13.0-alexnet-cpu.json.gz", None, 1, said.append)
    assert [layer["module"] for layer in given.layers] == ["conv1", "conv2", "conv3", "conv4", "conv5"]
    assert [layer["dgrad"] for layer in given.layers] == [False, True, True, True, True]
    assert given.edges[0] == ("conv1", "conv2") and given.keys == "shape" and not given.is_measured
    assert given.layers[0]["shape"]["batch"] == 16 and given.layers[0]["directions"] == ["fprop", "wgrad"]
    assert (
        of_capture(root / "samples/kineto/torch-2.13.0-alexnet-cpu.json.gz", 2, 1, said.append).layers[1]["shape"][
            "batch"
        ]
        == 2
    )


@pytest.mark.slow
def test_a_shared_cap_of_any_size_is_no_hang() -> None:
    options = [
        plan.Option("fprop", plan.OWN, "default", "nchw", 50),
        plan.Option("fprop", "winograd", "F", "nhwc", 5, 10**12),
    ]
    slots = [plan.Slot(str(number), tuple(options)) for number in range(100)]
    left = plan.under_shared_cap(slots, 10**17)
    assert all(len(slot.options) == 2 for slot in left)
    left = plan.under_shared_cap(slots, 50 * 10**12)
    taken = sum(max(it.workspace_bytes for it in slot.options) for slot in left)
    assert 45 * 10**12 <= taken <= 50 * 10**12
