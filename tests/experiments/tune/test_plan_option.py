"""A plan of `traceview schedule` as an option of `tune`: what is kept, and that it works beside other options."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from traceview.errors import UsageError
from traceview.experiments import command
from traceview.experiments.results import Journal
from traceview.experiments.tune import plan_option, tuning
from traceview.experiments.tune.options import Facts, environment, named
from traceview.experiments.tune.tuning import Job

SCRIPT = """
import torch
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(8 * 14 * 14, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = model(torch.randn(8, 3, 16, 16)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SHAPE = {
    "batch": 8, "in_channels": 3, "height": 16, "width": 16, "out_channels": 8, "filter_height": 3, "filter_width": 3,
    "stride_h": 1, "stride_w": 1, "pad_h": 0, "pad_w": 0, "dilation_h": 1, "dilation_w": 1, "groups": 1,
    "dtype": "float32",
}  # fmt: skip
WINOGRAD = {"backend": "winograd", "implementation": "F(4x4,3x3) by 64"}
LAYER = {"module": "0", "shape": SHAPE, "layout": "nhwc", **dict.fromkeys(("fprop", "dgrad", "wgrad"), WINOGRAD)}


def job(folder: Path, **more: object) -> Job:
    return Job(["python", "train.py"], folder, lambda text: None, **more)  # type: ignore[arg-type]


PLAN = {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": [LAYER]}


def test_a_plan_is_an_option_beside_the_others_and_kept_with_the_results(tmp_path: Path) -> None:
    given = tmp_path / "given {x}.json"
    given.write_text(json.dumps(PLAN))
    facts = Facts("torch", "2.13.0", "cpu", 2, {})
    mine = job(tmp_path / "runs", tried=("malloc", "channels_last"), skipped=("malloc",), plan=str(given))
    plan_option.keep(mine.folder, mine.plan)
    given.unlink()
    chosen, others = tuning._options(mine, facts, {})
    assert [option.name for option in chosen] == ["plan", "channels_last"] and not others
    told = environment(chosen, facts, {})
    assert json.loads(Path(told["TRACEVIEW_PLAN"]).read_text()) == PLAN
    assert Path(told["TRACEVIEW_PLAN_RUNTIME"], "runtime.py").exists()
    on_gpu, cannot = tuning._options(mine, replace(facts, device="cuda"), {})
    assert [option.name for option in on_gpu] == ["channels_last"]
    assert [(option.name, reason) for option, reason in cannot] == [("plan", "it is for runs on a CPU")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not a plan"),
        ("[1]", "is not a plan"),
        ("{}", r"is not a plan of traceview schedule\.$"),
        ("[" * 100_000, "is not a plan"),
        ('{"traceview_plan": 1, "layers": []}', "did not show a plan to be faster. With --pairs 0 it leaves that to"),
    ],
)
def test_what_is_not_a_plan_is_refused_before_anything_is_run(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(UsageError, match=said):
        plan_option.keep(tmp_path / "runs", str(tmp_path / "plan.json"))
    with pytest.raises(UsageError, match="No such file"):
        plan_option.keep(tmp_path / "runs", "absent.json")
    with pytest.raises(UsageError, match=said):
        plan_option.option(tmp_path)
    assert not (tmp_path / "runs").exists()


@pytest.mark.long
def test_a_plan_works_beside_other_options(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    facts, limits, words = Facts("torch", "2.13.0", "cpu", 2, {}), command.Limits(1, 3), [sys.executable, "train.py"]
    options = [plan_option.option(tmp_path), *named(["channels_last", "fused_optimizer"])]
    plain = {**os.environ, "OMP_NUM_THREADS": "1"}
    base = command.run(words, plain, limits, tmp_path / "base.txt", tmp_path)
    best = command.run(words, environment(options, facts, plain), limits, tmp_path / "best.txt", tmp_path)
    assert (base.reason, best.reason) == (None, None)
    assert {name: text[:4] for name, text in best.applied.items()} == dict.fromkeys(
        ("plan", "channels_last", "fused_optimizer"), "yes:"
    )
    assert base.checksum != best.checksum and best.loss == pytest.approx(base.loss, rel=1e-4)


@pytest.mark.long
@pytest.mark.parametrize(
    ("layer", "threads", "said"),
    [
        ({**LAYER, "shape": {**SHAPE, "batch": 16}}, 1, r"no: .* ran as before, \d+ with another shape"),
        (LAYER, 2, r"no: .* ran as before, \d+ with another number of threads"),
        ({**LAYER, **dict.fromkeys(("fprop", "dgrad", "wgrad"))}, 1, "yes: 1 of 1"),
    ],
)
def test_a_plan_of_which_nothing_ran_has_no_effect(
    tmp_path: Path, layer: dict[str, object], threads: int, said: str
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "plan.json").write_text(json.dumps({**PLAN, "threads": threads, "layers": [layer]}))
    variables = environment([plan_option.option(tmp_path)], Facts("torch", "2.13.0", "cpu", 2, {}), os.environ)
    limits, words = command.Limits(1, 3), [sys.executable, "train.py"]
    found = command.run(words, {**variables, "OMP_NUM_THREADS": "1"}, limits, tmp_path / "output.txt", tmp_path)
    assert found.reason is None and re.match(said, found.applied["plan"]), found.applied


@pytest.mark.long
def test_the_plan_is_applied_with_the_rest_of_the_best(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    parts = [
        {"place": place, "kind": "option", "name": name, "in_best": True, "verdict": "cannot decide"}
        for place, name in enumerate(("plan", "channels_last"), 1)
    ]
    whole = {"place": 3, "kind": "combination", "name": "plan+channels_last", "in_best": True, "verdict": "faster"}
    runs = tmp_path / "runs"
    Journal(runs, {"kind": "tune", "framework": "torch"}).answer({"tune_options": [*parts, whole]})
    (tmp_path / "train.py").write_text(
        SCRIPT + "print(torch.nn.Conv2d._conv_forward.__module__, model[0].weight.is_contiguous())"
    )
    with pytest.raises(UsageError, match=r"plan\.json: No such file"):
        tuning.apply(runs, [sys.executable, str(tmp_path / "train.py")])
    (tmp_path / "given.json").write_text(json.dumps(PLAN))
    plan_option.keep(runs, str(tmp_path / "given.json"))
    assert tuning.apply(runs, [sys.executable, str(tmp_path / "train.py")]) == 0
    assert capfd.readouterr().out == "traceview_convolution.runtime False\n"


def test_what_is_no_file_is_no_plan_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    for name, said in (
        ("pipe", "is not a regular file"),
        ("zero", "is not a regular file"),
        ("nowhere", "No such file"),
    ):
        with pytest.raises(UsageError, match=f"{name}.*{said}"):
            plan_option.read(tmp_path / name)
