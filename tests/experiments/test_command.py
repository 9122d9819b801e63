"""A command in timing mode, in real runs: times, numbers that repeat, failures with their reasons."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from traceview.experiments.command import Limits, Timed, check_end, run
from traceview.recording.launch import Stopped

ROOT = Path(__file__).resolve().parents[2]
LENET = [sys.executable, str(ROOT / "samples/training/lenet_torch.py"), "--steps", "40", "--batch", "4"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
FEW = Limits(discard=1, steps=3)


def timed(folder: Path, command: list[str], limits: Limits = FEW, **environment: str) -> Timed:
    return run(command, {**ENVIRONMENT, **environment}, limits, folder / "log.txt")


@pytest.fixture(scope="module")
def lenet(tmp_path_factory: pytest.TempPathFactory) -> Timed:
    pytest.importorskip("torch")
    return timed(tmp_path_factory.mktemp("lenet"), LENET)


def test_steps_are_timed_and_the_program_ends_after_them(lenet: Timed) -> None:
    assert (lenet.exit_code, lenet.reason, lenet.steps) == (0, None, 3)
    assert lenet.step_ns and lenet.step_cpu_ns and 0 < lenet.step_cpu_ns < 10**9
    assert lenet.total_ns > 4 * lenet.step_ns
    assert lenet.facts["framework"] == "torch" and lenet.facts["device"] == "cpu"
    assert lenet.loss == pytest.approx(2.3, abs=0.3), "ten classes, hardly trained"
    assert len(lenet.norms) == 8


@pytest.mark.long
def test_equal_seeds_give_equal_numbers_and_other_seeds_others(lenet: Timed, tmp_path: Path) -> None:
    again = timed(tmp_path, LENET)
    assert (again.loss, again.checksum, again.norms) == (lenet.loss, lenet.checksum, lenet.norms)


def script(folder: Path, text: str) -> list[str]:
    (folder / "train.py").write_text(text)
    return [sys.executable, str(folder / "train.py")]


SMALL = """
import sys, torch
model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(int(sys.argv[1])):
    loss = model(torch.randn(16, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step", step, loss.item(), flush=True)
"""


@pytest.mark.long
def test_the_loss_is_the_one_that_gradients_were_asked_of_last(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    command = [*script(tmp_path, SMALL), "50"]
    found = timed(tmp_path, command)
    printed = [line.split() for line in (tmp_path / "log.txt").read_text().splitlines() if line.startswith("step")]
    assert [line[1] for line in printed] == ["0", "1", "2"], "the fourth step ended before its line was printed"
    assert found.loss is not None and found.loss != float(printed[-1][2])
    others = timed(tmp_path, command, Limits(1, 3, seed=2))
    assert others.checksum != found.checksum and others.loss != found.loss
    whole = timed(tmp_path, [*command[:-1], "4"], Limits(1, 3, ends=False))
    printed = [line.split() for line in (tmp_path / "log.txt").read_text().splitlines() if line.startswith("step")]
    assert whole.loss == float(printed[-1][2]) == found.loss, "the same steps, also where the script ends by itself"


@pytest.mark.long
def test_a_script_with_too_few_steps_says_how_many(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = timed(tmp_path, [*script(tmp_path, SMALL), "2"], Limits(discard=2, steps=4))
    assert found.step_ns is None and found.reason == "it ended after 2 steps, too few to time any; see --limit-steps"
    some = timed(tmp_path, [*script(tmp_path, SMALL), "4"], Limits(discard=2, steps=40))
    assert some.steps == 2 and some.step_ns


def test_a_failing_command_is_a_reason_with_its_last_lines(tmp_path: Path) -> None:
    command = script(tmp_path, "import sys\nprint('before')\nsys.exit('no such data')\n")
    found = timed(tmp_path, command)
    assert found.exit_code == 1 and found.step_ns is None
    assert found.reason == "the command failed with exit code 1: before / no such data"
    killed = timed(tmp_path, script(tmp_path, "import os\nos.kill(os.getpid(), 9)\n"))
    assert (killed.exit_code, killed.reason) == (-9, "the command was ended by SIGKILL")


def test_a_command_that_asks_something_is_told_that_there_is_no_answer(tmp_path: Path) -> None:
    found = timed(tmp_path, script(tmp_path, "input('batch size? ')"))
    assert found.exit_code == 1 and "EOFError" in (found.reason or "")


def test_of_a_very_long_output_the_end_is_kept(tmp_path: Path) -> None:
    words = script(tmp_path, "import sys\nfor at in range(300): print(at, 'x' * 5_000)\nsys.exit(f'it ends {at}')")
    assert timed(tmp_path, words).reason == "the command failed with exit code 1: " + " / ".join(
        [f"{at} {'x' * 196}" for at in (298, 299)] + ["it ends 299"]
    )
    whole = sum(len(f"{at} ") + 5001 for at in range(300)) + len("it ends 299\n")
    kept = (tmp_path / "log.txt").read_bytes()
    assert kept.startswith(b"[the first %d bytes are left out]\n" % (whole - 1_000_000)) and kept.endswith(
        b"it ends 299\n"
    )
    assert len(kept) < 1_000_100


def test_a_program_without_a_framework_has_no_steps(tmp_path: Path) -> None:
    found = timed(tmp_path, script(tmp_path, "print('done')\n"))
    assert found.exit_code == 0 and found.reason and found.reason.startswith("no step was seen to end")


@pytest.mark.long
def test_nothing_is_recorded_while_steps_are_timed(tmp_path: Path) -> None:
    """Neither a profiler nor oneDNN's own account runs."""
    pytest.importorskip("torch")
    shown = "print(torch.autograd._profiler_enabled(), 'ONEDNN_VERBOSE' in __import__('os').environ, "
    text = SMALL.replace("print(", shown)
    timed(tmp_path, [*script(tmp_path, text), "50"])
    lines = [line for line in (tmp_path / "log.txt").read_text().splitlines() if "step" in line]
    assert lines and all(line.startswith("False False step") for line in lines)


@pytest.mark.long
def test_what_an_option_says_it_did_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = "import torch, sys\nsys.modules['traceview_times'].applied('mine', 'done to 2 modules')\n" + SMALL
    found = timed(tmp_path, [*script(tmp_path, text), "50"])
    assert found.applied == {"mine": "done to 2 modules"}
    assert json.dumps(dict(found.applied))


@pytest.mark.parametrize(("code", "number"), [(-2, 2), (-15, 15), (130, 2), (143, 15)])
def test_a_command_that_was_ended_from_outside_ends_the_experiment(code: int, number: int) -> None:
    with pytest.raises(Stopped) as stopped:
        check_end(code)
    assert stopped.value.number == number
    for other in (0, 1, -9, -11):
        check_end(other)
