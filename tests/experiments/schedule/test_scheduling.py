"""A plan out of measured rows, what its report says, and the whole way with a small model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from processes import files_no_larger_than

from traceview import store
from traceview.analysis import reports
from traceview.cli import main
from traceview.experiments import command
from traceview.experiments.pairs import Proof
from traceview.experiments.results import JOURNAL, Journal
from traceview.experiments.schedule import outcome, proof, scheduling
from traceview.experiments.schedule.job import Answer, Job
from traceview.experiments.schedule.rows import Given, rows_of
from traceview.experiments.verdict import judge
from traceview.recording.launch import Stopped

SHAPE = {
    "batch": 4, "in_channels": 16, "height": 9, "width": 9, "out_channels": 16, "filter_height": 3, "filter_width": 3,
    "stride_h": 1, "stride_w": 1, "pad_h": 1, "pad_w": 1, "dilation_h": 1, "dilation_w": 1, "groups": 1,
    "dtype": "float32",
}  # fmt: skip


def job(**changes: Any) -> Job:
    given: dict[str, Any] = {
        "model": "m.py:f", "batch": 4, "image": (16, 9, 9), "threads": 1, "numerics": "close", "cap_bytes": None,
        "is_shared": False, "pairs": 0, "python": sys.executable, "say": lambda text: None, "seed": 1,
    }  # fmt: skip
    return Job(**{**given, **changes})


def measured(direction: str, own_ns: int, other_ns: int, workspace: int = 100) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"backend": "torch_default", "implementation": "default", "layout": layout, "time_ns": own_ns}
        for layout in ("nchw", "nhwc")
    ]
    winograd = {"backend": "winograd", "implementation": "F(4x4,3x3) by 64", "layout": "nhwc", "time_ns": other_ns}
    rows.append({**winograd, "workspace_bytes": workspace, "error": 9e-6, "algorithm": "winograd"})
    return [{"direction": direction, "own_error": 1e-6, **row} for row in rows]


ABOUT = {"torch": "2", "cpu": "x", "threads": 1}


def given() -> Given:
    """Two layers of different shapes and all that was measured of them."""
    layers = [
        {"module": name, "shape": {**SHAPE, "out_channels": filters}, "dgrad": name == "b"}
        for name, filters in (("a", 8), ("b", 16))
    ]
    told = {
        "a": measured("fprop", 100, 40) + measured("wgrad", 100, 120),
        "b": measured("fprop", 100, 30) + measured("dgrad", 90, 30, 900) + measured("wgrad", 100, 50),
    }
    change = {"x_ns": 1, "y_ns": 1}
    rows = [row for layer in layers for row in rows_of(layer, told[layer["module"]], change, ABOUT, "m")]
    return Given(layers, [("a", "b")], ABOUT, "module", "as the model ran them", rows)


def answered(**changes: Any) -> Answer:
    return scheduling.planned(job(**changes), given())


def names(answer: scheduling.Answer) -> dict[str, list[str]]:
    """Per layer the passes that do not run PyTorch's own."""
    return {
        layer["module"]: [way for way in ("fprop", "dgrad", "wgrad") if layer[way]] for layer in answer.plan["layers"]
    }


def test_each_pass_gets_what_is_best_for_it() -> None:
    answer = answered()
    assert names(answer) == {"a": ["fprop"], "b": ["fprop", "dgrad", "wgrad"]}
    assert answer.modelled_ns["the plan"] == 1 + 40 + 100 + 30 + 30 + 50, "the input is brought into the layout"
    assert answer.modelled_ns["PyTorch's own, nchw"] == 490
    assert answer.modelled_ns["winograd F(4x4)"] == 1 + 40 + 120 + 30 + 30 + 50, "the input, too"


def test_a_module_that_runs_several_times_in_a_step_counts_as_often() -> None:
    """Three times, each but the first with a gradient of its input: its times, and changes around its calls."""
    told = given()
    told.layers[1]["calls"] = {"fprop": 3, "dgrad": 2, "wgrad": 3}
    answer = scheduling.planned(job(), told)
    assert answer.modelled_ns["PyTorch's own, nchw"] == 200 + 3 * 100 + 2 * 90 + 3 * 100
    assert answer.modelled_ns["the plan"] == 1 + 40 + 100 + 3 * 30 + 2 * 30 + 3 * 50
    (fprop,) = (row for row in outcome.rows(answer) if (row["layer"], row["direction"]) == ("b", "fprop"))
    assert (fprop["time_ns"], fprop["own_ns"]) == (90, 300)


def test_caps_and_numerics_narrow_it() -> None:
    assert names(answered(cap_bytes=500)) == {"a": ["fprop"], "b": ["fprop", "wgrad"]}
    assert names(answered(cap_bytes=0)) == {"a": [], "b": []}
    assert names(answered(numerics="equal")) == {"a": [], "b": []}
    assert names(answered(cap_bytes=1 << 16, is_shared=True)) == {"a": ["fprop"], "b": ["fprop", "dgrad", "wgrad"]}
    assert names(answered(cap_bytes=500, is_shared=True)) == {"a": [], "b": []}, "it is given in pieces of 64 KiB"


def timed(step_ns: int | None, **more: Any) -> command.Timed:
    """A run of a command, as it is told."""
    known: dict[str, Any] = dict.fromkeys(command.Timed.__dataclass_fields__)
    counts = {"exit_code": 0, "norms": (), "applied": {}, "others_pct": 0.0, "started_unix_ns": 1, "total_ns": 1}
    return command.Timed(**{**known, **counts, "steps": 6, "step_ns": step_ns, **more})


def test_a_plan_that_is_not_faster_is_emptied_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, runs = answered(pairs=6), iter([100, 99, 101, 100, 100, 101, 99, 100, 100, 99, 101, 100] * 2)
    monkeypatch.setattr(command, "run", lambda *rest: timed(next(runs)))
    assert answer.modelled_ns["the plan"] < answer.modelled_ns["PyTorch's own, nchw"]
    folder = tmp_path / "results"
    journal = Journal(folder, outcome.described(job()))
    proof.prove(job(pairs=6), answer, journal)
    assert answer.verdict == "no difference seen" and answer.plan["layers"] == []
    assert answer.modelled_ns["the plan"] == answer.modelled_ns["PyTorch's own, nchw"], "an empty plan gains nothing"
    assert answer.plan["convolutions_ns"]["the plan"] == answer.modelled_ns["the plan"]
    outcome.keep(answer, journal)
    journal.finish()
    with store.open_capture(folder) as connection:
        report = reports.run(connection, "schedule", {})
    assert "confirmed within the training step where" in report.sections[2].doc, "there is no recording to speak of"
    verdict, plans, layers, reasons = (section.rows for section in report.sections)
    assert verdict[0][1].startswith("The plan is empty: PyTorch's own algorithms stay")
    assert plans[0][0] == "the plan" and plans[0][-1] == "no difference seen"
    assert [(row[0], row[1], row[3]) for row in layers][:2] == [
        ("b", "fprop", "not proved"),
        ("a", "fprop", "not proved"),
    ], "those that gain most first"
    assert next(row for row in reasons if row[:2] == ("a", "wgrad"))[2] == (
        "no faster algorithm within the error and memory limits"
    )
    many = replace(report, sections=(replace(report.sections[2], rows=layers * 4),))
    (cut,) = reports.shown(many, 30).sections
    assert all(row[7] is None for row in layers if row[3] == "not proved"), "what left the plan gains nothing"
    assert len(cut.rows) == 13 and cut.rows[-1][0] == f"({4 * len(layers) - 12} others)"


def test_rounds_are_in_random_order_and_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides: list[bool] = []

    def run(words: object, variables: dict[str, str], *rest: object) -> command.Timed:
        sides.append("TRACEVIEW_PLAN" in variables)
        if len(sides) == 6:
            raise Stopped(2)
        return timed(50 if sides[-1] else 100, applied={"plan": "yes: 2 of 2 layers"})

    monkeypatch.setattr(command, "run", run)
    answer, journal = answered(pairs=6), Journal(tmp_path / "results", {"kind": "schedule"})
    with pytest.raises(Stopped):
        proof.prove(job(pairs=6, seed=1), answer, journal)
    proof.prove(job(pairs=6, seed=1), answer, journal)
    made = sides[:5] + sides[6:]
    assert len(made) == 3 * 6 and [sum(made[at : at + 3]) for at in range(0, 18, 3)] == [1] * 6
    assert len({made[at : at + 3].index(True) for at in range(0, 18, 3)}) > 1
    assert answer.proof is not None and answer.proof.judged.speedup == pytest.approx(2) and answer.plan["layers"]
    assert answer.plan["proof"]["verdict"] == answer.verdict == "faster"


def busy(gain: float, cpu_gain: float | None, others_pct: float) -> Any:
    """Runs on a machine that others use: wall times wander, processor times do not."""
    n = iter(range(1, 1000))

    def run(words: object, variables: dict[str, str], *rest: object) -> command.Timed:
        has_plan, wander = "TRACEVIEW_PLAN" in variables, 1 + 0.001 * (next(n) * 7 % 5)
        wall = 1e6 / (gain if has_plan else 1)
        cpu_ns = cpu_gain and int(1e6 / (cpu_gain if has_plan else 1) * wander)
        times = {"step_cpu_ns": cpu_ns, "others_pct": others_pct}
        return timed(int(wall * wander), applied={"plan": "yes: 2 of 2 layers"}, **times)

    return run


@pytest.mark.parametrize(
    ("threads", "others_pct", "cpu_gain", "verdict", "clock", "is_kept"),
    [
        (1, 2.0, 1.0, "faster", "wall", True),
        (1, 95.0, 1.2, "faster", "processor", True),  # Processor time decides, whatever wall times say.
        (1, 95.0, 1.0, "no difference seen", "processor", False),
        (1, 95.0, 0.9, "slower", "processor", False),
        (2, 95.0, 1.2, "cannot decide", "wall", True),  # Kept, and marked as unproved.
        (1, 95.0, None, "cannot decide", "wall", True),  # Workers load data.
    ],
)
def test_a_busy_machine_proves_by_processor_time_or_not_at_all(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    threads: int,
    others_pct: float,
    cpu_gain: float | None,
    verdict: str,
    clock: str,
    is_kept: bool,
) -> None:
    monkeypatch.setattr(command, "run", busy(1.5, cpu_gain, others_pct))
    answer, said = answered(), list[str]()
    of_job = job(pairs=6, threads=threads, say=said.append)
    proof.prove(of_job, answer, Journal(tmp_path / "r", {"kind": "schedule"}))
    assert (answer.verdict, bool(answer.plan["layers"])) == (verdict, is_kept)
    assert answer.proof is not None and answer.proof.clock == answer.plan["proof"]["clock"] == clock
    assert answer.plan["proof"]["verdict"] == verdict
    if others_pct > 10:
        assert "other programs took the cores in 6 of 6 rounds" in said[-1]
        assert ("processor time decides" in said[-1]) == (clock == "processor")


@pytest.mark.parametrize(
    ("threads", "said"),
    [
        (1, "Without the plan a training step takes 2.00 times the processor time ("),
        (2, "The plan makes the measured convolutions 1.95 times as fast; whole steps: cannot decide."),
    ],
)
def test_processor_time_is_not_told_as_time_of_a_step_and_busy_rounds_are_of_those_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int, said: str
) -> None:
    monkeypatch.setattr(command, "run", busy(1.05, 2.0, 30.0))
    answer, journal = answered(), Journal(tmp_path / "r", outcome.described(job()))
    proof.prove(job(pairs=6, threads=threads), answer, journal)
    outcome.keep(answer, journal)
    journal.finish()
    with store.open_capture(tmp_path / "r") as connection:
        verdict = reports.run(connection, "schedule", {}).sections[0].rows
    noisy = "The machine was busy in 6 of 6 rounds: other programs took a tenth of the cores."
    assert verdict[0][1].startswith(said) and ("its wall time cannot be told" in verdict[0][1]) == (threads == 1)
    assert [row[1] for row in verdict[1:]] == [noisy]


@pytest.mark.parametrize(
    ("threads", "shares", "said"),
    [
        (1, {"a": 3.0, "b": 45.4}, "While 1 of 2 convolutions were timed, other programs took a tenth of the cores or "
         "more, at most 45 %: times are processor time, which they disturb less."),
        (2, {"a": 30.0, "b": 12.0}, "While 2 of 2 convolutions were timed, other programs took a tenth of the cores or "
         "more, at most 30 %: on an idle machine the choice may be another one."),
        (2, {"a": 9.0, "b": 0.0}, None),
        (2, {}, None),
    ],
)  # fmt: skip
def test_other_programs_beside_the_passes_are_said_without_a_proof_too(
    threads: int, shares: dict[str, float], said: str | None, tmp_path: Path
) -> None:
    journal = Journal(tmp_path / "results", outcome.described(job()))
    rows = [{**row, "threads": threads, "others_pct": shares.get(row["layer"])} for row in given().rows]
    journal.add_all({"algorithm_times": rows})
    outcome.keep(answered(), journal)
    journal.finish()
    with store.open_capture(tmp_path / "results") as connection:
        verdict = reports.run(connection, "schedule", {}).sections[0].rows
    assert verdict[0][1].endswith("whole steps: not proved end to end.")
    assert [row[1] for row in verdict[1:]] == [said] * (said is not None)


def test_what_confirming_drops_is_no_time_of_the_plan() -> None:
    answer = answered()
    before = answer.modelled_ns["the plan"]
    for layer in answer.plan["layers"]:
        layer["wgrad"] = None
    proof.remodel(answer)
    assert before < answer.modelled_ns["the plan"] < answer.modelled_ns["PyTorch's own, nchw"]
    answer.plan["layers"] = []
    proof.remodel(answer)
    assert answer.modelled_ns["the plan"] == answer.modelled_ns["PyTorch's own, nchw"]


def test_a_command_that_the_plan_does_nothing_to_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        command, "run", lambda *rest: timed(100, applied={"plan": "no: no convolution of the plan ran"})
    )
    answer, said = answered(), list[str]()
    proof.prove(job(pairs=6, say=said.append), answer, Journal(tmp_path / "r", {"kind": "schedule"}))
    assert answer.verdict == "not proved end to end" and answer.plan["layers"] and answer.proof is None
    assert "no convolution of the plan ran" in said[-1]


@pytest.mark.parametrize(
    ("plans_ns", "kept"),
    [
        ([70, 75, 90], {"a": ["fprop"], "b": ["fprop", "dgrad", "wgrad"]}),
        ([101, 103, 90], {"b": ["wgrad"]}),
        ([101, 99, 99], {}),
    ],
)
def test_of_a_plan_stays_what_makes_whole_steps_faster(
    plans_ns: list[int], kept: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer, said = answered(), list[str]()
    told = {"confirm": {"said": [], "rows": []}, "whole": {"plans_ns": plans_ns, "none_ns": 100}}
    monkeypatch.setattr(proof, "work", lambda job, task: told[task["kind"]])
    proof.confirmed(job(say=said.append), answer, Journal(tmp_path / "r", {"kind": "schedule"}))
    assert names(answer) == kept and "a training step" in said[-1]
    chosen = {(layer, way) for layer, ways in kept.items() for way in ways}
    everything = {("a", "fprop"), ("b", "fprop"), ("b", "dgrad"), ("b", "wgrad")}
    assert answer.dropped == everything - chosen


def test_the_report_says_whether_a_pass_or_whole_steps_with_it_were_no_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = {("a", "fprop"): 50, ("b", "fprop"): 98, ("b", "dgrad"): 99}
    rows = [{"module": name, "direction": way, "time_ns": ns, "own_ns": 100} for (name, way), ns in shares.items()]
    told = {"confirm": {"said": [], "rows": rows}, "whole": {"plans_ns": [101, 101, 101], "none_ns": 100}}
    monkeypatch.setattr(proof, "work", lambda job, task: told[task["kind"]])
    answer, journal = answered(), Journal(tmp_path / "r", {"kind": "schedule"})
    proof.confirmed(job(), answer, journal)
    outcome.keep(answer, journal)
    journal.finish()
    with store.open_capture(tmp_path / "r") as connection:
        sections = {each.name: each.rows for each in reports.run(connection, "schedule", {}).sections}
    why = {(row[0], row[1]): row[2] for row in sections["reasons"]}
    no_step = "whole steps with it were no faster"
    assert why["a", "fprop"] == why["b", "fprop"] == f"faster within the step, but {no_step}"
    assert why["b", "dgrad"] == "least time alone, but no faster within the step" and why["b", "wgrad"] == no_step


def test_a_pass_that_layouts_decided_is_not_called_the_fastest(tmp_path: Path) -> None:
    """A change of layout costs more than the fastest of fprop and wgrad save; of dgrad PyTorch's own is the fastest."""
    layer = {"module": "a", "shape": SHAPE, "dgrad": True}
    primitive = {"backend": "onednn", "error": 1e-6, "own_error": 1e-6, "direction": "fprop"}
    told = measured("fprop", 100, 120) + measured("dgrad", 100, 120) + measured("wgrad", 100, 72)
    for layout, ns in (("nchw", 60), ("nhwc", 40)):
        name = f"jit:avx2, {layout} to {layout}"
        told.append({**primitive, "implementation": name, "layout": layout, "time_ns": ns})
    rows = rows_of(layer, told, {"x_ns": 30, "y_ns": 30}, ABOUT, "m")
    journal = Journal(tmp_path / "r", {"kind": "schedule"})
    outcome.keep(scheduling.planned(job(), Given([layer], [], ABOUT, "module", "", rows)), journal)
    journal.finish()
    with store.open_capture(tmp_path / "r") as connection:
        sections = {each.name: each.rows for each in reports.run(connection, "schedule", {}).sections}
    reasons = {row[1]: row[2:] for row in sections["reasons"]}
    beaten = "the second is faster by itself, but ruled out by layout conversions{} or the error or memory limits"
    assert reasons["fprop"] == (beaten.format(""), "onednn jit:avx2", pytest.approx(0.67))
    assert reasons["wgrad"] == (beaten.format(", whole steps"), "winograd F(4x4)", pytest.approx(0.72))
    assert reasons["dgrad"][0] == "no faster algorithm within the error and memory limits"


def test_passes_that_were_compared_are_not_compared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    rows = [
        {"module": name, "direction": way, "time_ns": 10, "own_ns": 30 if way == "fprop" else 10}
        for name in ("a", "b")
        for way in ("fprop", "dgrad", "wgrad")
    ]
    told = {"confirm": {"said": [], "rows": rows}, "whole": {"plans_ns": [50, 50, 50], "none_ns": 100}}
    monkeypatch.setattr(proof, "work", lambda job, task: asked.append(task["kind"]) or told[task["kind"]])
    journal = Journal(tmp_path / "r", {"kind": "schedule"})
    for _ in range(2):
        answer = answered()
        proof.confirmed(job(), answer, journal)
        outcome.keep(answer, journal)
        assert names(answer) == {"a": ["fprop"], "b": ["fprop"]}
    assert asked == ["confirm", "whole", "whole"]


def test_times_within_a_step_of_other_shapes_are_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"module": "b", "direction": way, "time_ns": 10, "own_ns": 30} for way in ("fprop", "dgrad", "wgrad")]
    told = {"confirm": {"said": [], "rows": rows}, "whole": {"plans_ns": [50, 50, 50], "none_ns": 100}}
    asked: list[str] = []
    monkeypatch.setattr(proof, "work", lambda job, task: asked.append(task["kind"]) or told[task["kind"]])
    journal = Journal(tmp_path / "r", {"kind": "schedule"})
    for batch in (4, 64, 64):
        every = given()
        layers = [{**layer, "shape": {**layer["shape"], "batch": batch}} for layer in every.layers]
        batches = [{**row, "batch": batch} for row in every.rows]
        answer = scheduling.planned(job(), replace(every, layers=layers[1:], rows=batches))
        proof.confirmed(job(), answer, journal)
        outcome.keep(answer, journal)
    assert asked == ["confirm", "whole", "confirm", "whole", "whole"]


@pytest.mark.parametrize(
    ("words", "name"), [(["--batch", "8"], "batch"), (["--threads", "1"], "threads"), (["--image", "3x8x8"], "image")]
)
def test_another_model_batch_or_number_of_threads_is_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("m.py", "other.py"):
        (tmp_path / file).touch()
    Journal(tmp_path / "r", outcome.described(job(model="m.py:f", batch=4, image=(3, 9, 9), threads=None)))
    same = ["--batch", "4", "--image", "3x9x9"]
    monkeypatch.setattr(scheduling, "schedule", lambda job, journal: answered())
    for given, changed in (([*same, *words], name), (same[2:], "batch")):
        assert main(["schedule", "m.py:f", *given, "-o", "r", "--resume"]) == 2
        assert f"{changed} cannot change within r; begin another folder." in capsys.readouterr().err
    assert main(["schedule", "other.py:f", *same, "-o", "r", "--resume"]) == 2
    assert "model cannot change within r" in capsys.readouterr().err
    assert main(["schedule", "m.py:f", *same, "-o", "r", "--resume"]) == 0


def test_a_second_best_option_that_is_faster_within_the_step_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself fprop of b takes 30 with one tile, 35 with another and 60 with a third; in the step the second wins."""
    every, worked = given(), list[list[str | None]]()
    (row,) = [
        row for row in every.rows if row["out_channels"] == 16 and row["cpu_ns"] == 30 and row["direction"] == "fprop"
    ]
    for tile, ns in (("F(6x6,3x3) by 64", 35), ("F(2x2,3x3) by 64", 60)):
        every.rows.append({**row, "implementation": tile, "cpu_ns": ns})

    def work(job: Job, task: dict[str, Any]) -> dict[str, Any]:
        """A double of the process that runs training steps: 25 of 100 with the second tile, 40 with the first."""
        if task["kind"] == "whole":
            return {"plans_ns": [50, 60, 60], "none_ns": 100}
        layers = {layer["module"]: layer for layer in task["plan"]["layers"]}
        ran = {
            key: layers[key[0]][key[1]]["implementation"] for key in (("a", "fprop"), ("b", "fprop"), ("b", "dgrad"))
        }
        worked.append(list(ran.values()))
        rows = [
            {"module": name, "direction": way, "time_ns": 25 if "6x6" in tile else 40, "own_ns": 100}
            for (name, way), tile in ran.items()
        ]
        return {"said": [], "rows": rows}

    monkeypatch.setattr(proof, "work", work)
    answer = scheduling.planned(job(), every)
    assert {key: option.time_ns for key, option in answer.second.items()} == {("b", "fprop"): 35}
    proof.confirmed(job(), answer, Journal(tmp_path / "r", {"kind": "schedule"}))
    first, second = "F(4x4,3x3) by 64", "F(6x6,3x3) by 64"
    assert worked == [[first, first, first], [first, second, first]]
    layers = {layer["module"]: layer for layer in answer.plan["layers"]}
    assert (layers["a"]["fprop"]["implementation"], layers["b"]["fprop"]["implementation"]) == (first, second)
    assert answer.in_step["b", "fprop"] == (25, 100) and answer.in_step["b", "dgrad"] == (40, 100)
    told = {(row["layer"], row["direction"]): row for row in outcome.rows(answer)}
    assert (told["b", "fprop"]["implementation"], told["b", "fprop"]["time_ns"]) == (second, 35)


def test_a_proof_keeps_the_plan() -> None:
    answer = answered()
    judged = judge([2.0] * 6, [1.0, 1.01, 1.02, 1.03, 1.04, 1.05])
    answer.proof = Proof(judged, "faster", "wall", judge([1.0], [1.0]), 0)
    assert judged.interval is not None and outcome.plan_rows(answer)[0]["low"] > 1.8


EMPTY = {"traceview_plan": 1, "numerics": "close", "threads": 1}
"""A plan without its layers."""


def traceview(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traceview", "schedule", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_command_under_a_plan_has_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({**EMPTY, "layers": []}), encoding="utf-8")
    (tmp_path / "show").write_text('#!/bin/sh\necho "$HELD $TRACEVIEW_MODE"\n', encoding="utf-8")
    (tmp_path / "show").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HELD", "kept")
    done = traceview("--apply", "plan.json", "--", "show", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "kept apply\n"), done.stderr


def test_wrong_usage_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    (tmp_path / "m.py").touch()
    for name, plan in (("bare", {"traceview_plan": 1}), ("nan", {**EMPTY, "layers": float("nan")})):
        (tmp_path / f"{name}.json").write_text(json.dumps(plan), encoding="utf-8")
    for words, told in (
        ((), "name a file and what makes the model"),
        (("model.py",), "model.py is neither FILE.py:FACTORY (for example model.py:make_model) nor a capture or study"),
        (("absent.py:f",), "there is no file absent.py."),
        (("absent",), "absent is neither FILE.py:FACTORY"),
        (("m.py:f", "--resume"), "plan-results does not exist"),
        (("m.py:f", "--batch", "1e9"), "'1e9' is not a count; use 1 or more"),
        (("m.py:f", "--workspace", "9" * 400 + "GB"), "is not a size"),
        (("--apply", "absent.json", "--", "true"), "cannot read the plan absent.json: No such file or directory."),
        (("--apply", "plan.json", "--", "true"), "plan.json is not a plan of traceview schedule."),
        (("--apply", "m.py", "--", "true"), "m.py is not a plan of traceview schedule: it is not JSON."),
        (("--apply", "bare.json", "--", "true"), "bare.json cannot be applied: the plan does not say its numerics"),
        (("--apply", "nan.json", "--", "true"), "nan.json cannot be applied: the plan has no list of layers."),
        (("m.py:f",), "plan.json exists already"),
        (("m.py:f", "--image", "3x9"), "is not CxHxW"),
    ):
        try:
            code: object = main(["schedule", *words])
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr().err
        assert code in (2, 3) and told in said and "Traceback" not in said, said


def test_the_command_with_a_plan_names_its_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study").mkdir()
    answer = SimpleNamespace(plan={"layers": ["x"], "threads": 2}, verdict="faster")
    monkeypatch.setattr(scheduling, "schedule", lambda job, journal: answer)
    assert main(["schedule", "study", "--plan", "p.json"]) == 0
    said = "run with it: OMP_NUM_THREADS=2 traceview schedule --apply p.json -- python train.py (faster)"
    assert said in capsys.readouterr().err


def test_a_plan_that_cannot_be_written_leaves_the_earlier_one_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study").mkdir()
    Journal(tmp_path / "plan-results", {"kind": "schedule"})
    (tmp_path / "plan.json").write_text("earlier", encoding="utf-8")
    answer = SimpleNamespace(plan={"layers": ["x" * 100_000]}, verdict="faster")
    monkeypatch.setattr(scheduling, "schedule", lambda job, journal: answer)
    with files_no_larger_than(50_000):
        code = main(["schedule", "study", "-o", "plan-results", "--resume"])
    assert code in (1, 2, 3) and "a file of this size cannot be written here" in capsys.readouterr().err
    assert (tmp_path / "plan.json").read_text(encoding="utf-8") == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan-results", "plan.json", "study"]


MODEL = """
import torch

def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 5, padding=2),
        torch.nn.Flatten(), torch.nn.Linear(32 * 14 * 14, 10),
    )

if __name__ == "__main__":
    torch.set_num_threads(1)
    model = net()
    x = torch.randn(4, 3, 14, 14, generator=torch.Generator().manual_seed(1))
    model(x).square().mean().backward()
    print(f"{model(x).sum().item():.4f} {model[0].weight.grad.abs().sum().item():.4f}")
"""


@pytest.mark.long
def test_the_whole_way_with_a_small_model(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "m.py").write_text(MODEL, encoding="utf-8")
    done = traceview(
        "m.py:net", "--batch", "4", "--image", "3x14x14", "--pairs", "0", "--format", "json", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    plan = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert {layer["module"] for layer in plan["layers"]} <= {"0", "2"} and plan["threads"] == 1
    sections = json.loads(done.stdout)["sections"]
    assert {row["direction"] for row in sections[2]["rows"] if row["layer"] == "0"} == {"fprop", "wgrad"}
    plain = subprocess.run([sys.executable, "m.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    applied = traceview("--apply", "plan.json", "--", sys.executable, "m.py", folder=tmp_path)
    assert applied.returncode == 0, applied.stderr
    numbers = [[float(word) for word in text.split()] for text in (plain, applied.stdout)]
    assert numbers[1] == pytest.approx(numbers[0], rel=1e-3)


MANY = """
import torch

def net():
    layers = [torch.nn.Conv2d(3 + i, 4 + i, 3, padding=1) for i in range(4)]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(7 * 12 * 12, 10))
"""


def in_journal(folder: Path) -> list[dict[str, Any]]:
    """The measured passes that are on disk."""
    lines = (folder / "raw" / JOURNAL).read_text(encoding="utf-8").splitlines()[1:]
    return [told["row"] for told in map(json.loads, lines) if told["table"] == "algorithm_times"]


@pytest.mark.long
def test_what_was_measured_before_a_kill_is_not_measured_again(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "m.py").write_text(MANY, encoding="utf-8")
    words = ["m.py:net", "--batch", "2", "--image", "3x12x12", "--pairs", "0", "--format", "json"]
    command = [sys.executable, "-m", "traceview", "schedule", *words]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr
        assert any("[2/4]" in line for line in run.stderr)
        run.kill()
    folder = tmp_path / "plan-results"
    before = in_journal(folder)
    assert {row["layer"] for row in before} >= {"0", "1"} and not (tmp_path / "plan.json").exists()
    done = traceview(*words, folder=tmp_path)
    assert done.returncode == 2 and "go on with --resume" in done.stderr
    done = traceview(*words, "-o", "plan-results", "--resume", folder=tmp_path)
    assert done.returncode == 0 and "measured already" in done.stderr and "[1/4]" not in done.stderr, done.stderr
    after = in_journal(folder)
    assert after[: len(before)] == before and {row["layer"] for row in after} == {"0", "1", "2", "3"}
    again = traceview("plan-results", "--plan", "small.json", "--workspace", "0", "--format", "json", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    plan = json.loads((tmp_path / "small.json").read_text(encoding="utf-8"))
    own = [choice for layer in plan["layers"] for choice in map(layer.get, ("fprop", "dgrad", "wgrad")) if choice]
    known = {(row["backend"], row["implementation"]): row.get("workspace_bytes", 0) for row in after}
    assert plan["keys"] == "module" and all(known[it["backend"], it["implementation"]] == 0 for it in own)


STRANGE = """
import torch
from torch import nn

def frozen():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)).requires_grad_(False).eval()

class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.same = nn.Conv2d(3, 4, 3, padding="same")
        self.wide = nn.Conv2d(4, 4, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(4, 4, 2, stride=2)
        self.grouped = nn.Conv2d(4, 4, (1, 3), stride=(2, 1), groups=2)

    def forward(self, x):
        x = self.wide(self.same(x))
        return {"out": self.grouped(self.up(x)), "none": None}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("factory", "layers"),
    [
        ("frozen", {"0": ["fprop"], "1": ["fprop"]}),
        ("Odd", {"wide": ["fprop", "dgrad", "wgrad"], "grouped": ["fprop", "dgrad", "wgrad"]}),
    ],
)
def test_models_with_convolutions_that_no_plan_holds(
    tmp_path: Path, factory: str, layers: dict[str, list[str]]
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "m.py").write_text(STRANGE, encoding="utf-8")
    done = traceview(f"m.py:{factory}", "--batch", "2", "--image", "3x8x8", "--pairs", "0", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("1 convolution left out" in done.stderr) == (factory == "Odd")
    graph = json.loads((tmp_path / "plan-results" / "capture.json").read_text(encoding="utf-8"))["graph"]
    assert {layer["module"]: layer["directions"] for layer in graph["layers"]} == layers
    assert graph["edges"] == ([["wide", "grouped"]] if factory == "Odd" else [])


@pytest.mark.parametrize(
    ("implementation", "algorithm"),
    [("jit:avx512_core, nhwc to nhwc", "direct"), ("gemm:jit, nchw to nchw", "explicit_gemm")],
)
def test_what_onednn_runs_has_its_algorithm(implementation: str, algorithm: str | None) -> None:
    told = [{**row, "backend": "onednn", "implementation": implementation} for row in measured("fprop", 9, 5)[:1]]
    layer = {"module": "a", "shape": SHAPE, "dgrad": False}
    assert [row["algorithm"] for row in rows_of(layer, told, {"x_ns": 1}, ABOUT, "m")] == [algorithm]
