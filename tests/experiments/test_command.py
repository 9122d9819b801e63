"""A command in timing mode, in real runs: times, numbers that repeat, failures with their reasons."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from processes import files_no_larger_than, is_running

from traceview.experiments import command
from traceview.experiments.command import Limits, Timed, bounded, run, tail
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


@pytest.mark.slow
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


INFERENCE = """
import sys, torch
model = torch.nn.Linear(8, 4)
with torch.no_grad():
    for step in range(40):
        model(torch.randn(16, 8))
        sys.audit(*sys.argv[1:] or ["nothing"])
"""


PROBE = """
import sys, torch
model, probe = torch.nn.Linear(8, 64), torch.nn.Linear(64, 2)
scale = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
others = [torch.optim.SGD(probe.parameters(), float(sys.argv[1])), torch.optim.SGD([scale], float(sys.argv[2]))]
for step in range(40):
    x = torch.randn(16, 8)
    features = model(x)
    (scale * probe(features.detach())).square().mean().backward()
    features.square().mean().backward()
    for each in (optimizer, *others):
        each.step()
        each.zero_grad()
"""


@pytest.mark.slow
def test_parameters_are_those_of_all_models_and_optimizers(tmp_path: Path) -> None:
    """A network, a probe on its features, and a scale that is in no module, each with an optimizer of its own."""
    pytest.importorskip("torch")
    command = script(tmp_path, PROBE)
    rates = (("0.1", "0.1"), ("0.1", "0.1"), ("0", "0"))
    found, again, other = (timed(tmp_path, [*command, *each]) for each in rates)
    assert (again.loss, again.checksum, again.norms) == (found.loss, found.checksum, found.norms)
    assert other.loss == found.loss and other.checksum != found.checksum
    differ = [a != b for a, b in zip(found.norms, other.norms, strict=True)]
    assert differ == [False, False, True, True, True], "weight and bias of each model, and the scale"


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["traceview.step"]])
def test_parameters_that_nothing_trains_are_no_numbers(tmp_path: Path, words: list[str]) -> None:
    pytest.importorskip("torch")
    found = timed(tmp_path, [*script(tmp_path, INFERENCE), *words])
    assert (found.reason, found.steps) == (None, 3)
    assert (found.loss, found.checksum, found.norms) == (None, None, ())


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


LOADED = """
import torch
from torch.utils.data import DataLoader
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if __name__ == "__main__":
    for images in DataLoader(torch.randn(160, 8), batch_size=4, num_workers=1):
        optimizer.zero_grad()
        model(images).square().mean().backward()
        optimizer.step()
"""


@pytest.mark.slow
def test_processor_time_is_not_told_where_workers_take_some(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = timed(tmp_path, script(tmp_path, LOADED))
    assert (found.reason, found.steps) == (None, 3)
    assert found.step_ns and found.step_cpu_ns is None


BURSTS = """
import time, torch
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    optimizer.zero_grad()
    model(torch.randn(16, 8)).square().mean().backward()
    time.sleep(0.12 if step % 4 == 3 else 0.008)
    optimizer.step()
"""


@pytest.mark.long
def test_a_step_that_waits_counts_with_its_share(tmp_path: Path) -> None:
    """Every fourth step sleeps 120 ms, the others 8: a step takes 36 ms, and not 8."""
    pytest.importorskip("torch")
    found = timed(tmp_path, script(tmp_path, BURSTS), Limits(discard=2, steps=16))
    assert found.step_ns and found.step_median_ns and found.step_longest_ns
    assert found.step_ns > 36e6 and found.step_longest_ns > 120e6
    assert found.step_median_ns < found.step_ns
    assert found.step_cpu_ns and found.step_cpu_ns < found.step_ns / 2, "it sleeps"


@pytest.mark.long
def test_a_script_with_too_few_steps_says_how_many(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = timed(tmp_path, [*script(tmp_path, SMALL), "2"], Limits(discard=2, steps=4))
    assert found.step_ns is None and found.reason == "it ended after 2 steps, too few to time any; see --limit-steps"
    assert found.n_too_few == 2
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
    text = "import torch, sys\nsys.modules['traceview_inject.times'].applied('mine', 'done to 2 modules')\n" + SMALL
    found = timed(tmp_path, [*script(tmp_path, text), "50"])
    assert found.applied == {"mine": "done to 2 modules"}
    assert json.dumps(dict(found.applied))


@pytest.mark.parametrize("text", ["import os; os.kill(os.getpid(), 2)", "raise SystemExit(130)"])
def test_a_command_that_ended_on_ctrl_c_ends_the_experiment(tmp_path: Path, text: str) -> None:
    with pytest.raises(Stopped) as stopped:
        timed(tmp_path, script(tmp_path, text))
    assert stopped.value.number == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_command_that_something_else_ended_is_a_failed_run(tmp_path: Path, number: int) -> None:
    """Nothing came to us: one option may bring it about, and the others are still to be tried."""
    taken = f"import os, signal; signal.signal({int(number)}, signal.SIG_DFL)"  # A terminal that is gone is ignored.
    for words, reason in (
        (["import os", "os.kill(os.getpid(), 9)"], "the command was ended by SIGKILL"),
        ([taken, f"os.kill(os.getpid(), {number})"], f"the command was ended by {signal.Signals(number).name}"),
        ([f"raise SystemExit({128 + number})"], f"the command failed with exit code {128 + number}"),
    ):
        found = timed(tmp_path, script(tmp_path, "\n".join(words)))
        assert (found.step_ns, found.reason) == (None, reason)


pytestmark = pytest.mark.skipif(not command.PROCESSES.is_dir(), reason="no /proc")
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"


def started(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, env={**os.environ, "TRACEVIEW_DIR": str(folder)}, start_new_session=True, stdout=subprocess.PIPE
    )


def test_only_the_processes_of_that_run_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "GRACE_S", 0.3)
    mine, stubborn = started(tmp_path, "sleep", "60"), started(tmp_path, sys.executable, "-c", STUBBORN)
    other = started(tmp_path / "other", "sleep", "60")
    try:
        assert stubborn.stdout and stubborn.stdout.readline() == b"on\n"
        assert command.processes_of(tmp_path) == sorted([mine.pid, stubborn.pid])
        assert command.end(tmp_path) == 2
        assert (mine.wait(60), stubborn.wait(60)) == (-signal.SIGTERM, -signal.SIGKILL)
        assert other.poll() is None and command.end(tmp_path) == 0
    finally:
        for each in (mine, stubborn, other):
            each.kill()
            each.communicate()


@pytest.mark.slow
def test_a_run_that_hangs_is_ended_with_what_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, log = tmp_path / "hang.py", tmp_path / "log.txt"

    class Patient(threading.Timer):
        """Its time begins when the run has started something, which may take long on a busy machine."""

        def run(self) -> None:
            while not log.exists() or b"\n" not in log.read_bytes():
                time.sleep(0.05)
            super().run()

    monkeypatch.setattr(threading, "Timer", Patient)
    script.write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    found = run([sys.executable, str(script)], os.environ, Limits(1, 3, most_s=3), log)
    assert str(found.reason).startswith(command.TOO_LONG) and found.step_ns is None
    assert found.reason == "it was ended after 3 s, without an end of its own"
    child = int(log.read_text().split()[0])
    assert not is_running(child)


def test_what_a_run_leaves_behind_is_ended_after_it(tmp_path: Path) -> None:
    script = tmp_path / "leave.py"
    script.write_text(
        "import subprocess\n"
        "print(subprocess.Popen(['sleep', '62'], start_new_session=True).pid, flush=True)\n"
        "raise SystemExit(3)\n"
    )
    found = run([sys.executable, str(script)], os.environ, Limits(1, 3, most_s=60), tmp_path / "log.txt")
    child = int((tmp_path / "log.txt").read_text().split()[0])
    assert found.exit_code == 3 and not str(found.reason).startswith(command.TOO_LONG)
    assert not is_running(child)


PRINTS = """
import os, sys, time
for _ in range(40):
    os.write(1, b"0123456789abcde\\n" * 250_000)
    time.sleep(0.02)
sys.exit("no space for more")
"""


@pytest.mark.slow
def test_a_command_that_prints_without_end_takes_little_room_while_it_runs(tmp_path: Path) -> None:
    """160 MB are printed; the beginning is dropped while it goes on, the last lines are kept."""
    log, largest = tmp_path / "output" / "run.txt", 0
    with bounded(log) as output, subprocess.Popen([sys.executable, "-c", PRINTS], stdout=output, stderr=output) as run:
        while run.poll() is None:
            largest = max(largest, log.stat().st_blocks * 512)
            time.sleep(0.005)
    assert 4_000_000 < largest < 20_000_000
    kept = log.read_bytes()
    assert len(kept) < 1_000_100
    first, _, rest = kept.partition(b"\n")
    assert first.startswith(b"[the first ") and first.endswith(b" bytes are left out]")
    assert int(first.split()[2]) + len(rest) == 160_000_000 + len("no space for more\n")
    assert tail(log) == ["0123456789abcde", "0123456789abcde", "no space for more"]


def test_a_full_disk_takes_the_output_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    prints = "import os, sys, time; os.write(1, b'a' * 99_990); time.sleep(0.2); os.write(1, b'b' * 100); sys.exit(7)"
    log = tmp_path / "output" / "run.txt"
    with files_no_larger_than(100_000), bounded(log) as output:
        assert subprocess.call([sys.executable, "-c", prints], stdout=output) == 7
    assert failed == [] and log.stat().st_size <= 100_000


def test_a_command_that_removes_the_file_of_its_output_harms_nothing(tmp_path: Path) -> None:
    log = tmp_path / "run.txt"
    with bounded(log):
        log.unlink()
    assert tail(log) == []


TORCHRUN = """[rank0]: Traceback (most recent call last):
[rank0]: RuntimeError: Connection closed by peer
[rank1]:   File "train.py", line 3
[rank1]: ValueError: no such data
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
Failures:
[1]:
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 22729)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-22_21:16:01
  host      : localhost
  rank      : 1 (local_rank: 1)
  exitcode  : 7 (pid: 22730)
  error_file: <N/A>
============================================================
"""


def test_of_several_processes_the_first_that_failed_is_named(tmp_path: Path) -> None:
    """Torchrun's own last lines say nothing of why."""
    (tmp_path / "log.txt").write_text(TORCHRUN)
    expected = ["rank 1 ended first, with exit code 7", "[rank1]: ValueError: no such data"]
    assert tail(tmp_path / "log.txt") == expected
