"""`traceview collect` around real programs: they run as without it, and leave a capture, or a sentence why not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from asked import ask

ROOT = Path(__file__).parents[2]
LENET = ROOT / "samples" / "training" / "lenet_torch.py"
PYTHON = sys.executable


def environment() -> dict[str, str]:
    """One thread, so that nothing spins; the package from this checkout."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


def collect(
    folder: Path, *words: object, text: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `traceview collect WORDS` in `folder`."""
    command = [PYTHON, "-m", "traceview", "collect", *map(str, words)]
    return subprocess.run(
        command, cwd=folder, env=environment() | variables, input=text, capture_output=True, text=True, timeout=600
    )


def script(folder: Path, body: str, name: str = "program.py") -> Path:
    """A program in `folder`."""
    path = folder / name
    path.write_text(body)
    return path


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("import sys; sys.exit(0)", 0),
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit('a message')", 1),
        ("raise ValueError('a reason')", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    ],
)
def test_exit_code_is_kept_and_said(tmp_path, body, code):
    path = script(tmp_path, f"print('out')\nimport sys; print('err', file=sys.stderr)\n{body}")
    bare = subprocess.run([PYTHON, path], capture_output=True, text=True)
    done = collect(tmp_path, "--", PYTHON, path)
    assert done.stdout == bare.stdout
    assert bare.stderr in done.stderr
    assert done.returncode == (137 if code == "SIGKILL" else code)
    ending = f"was ended by {code}" if isinstance(code, str) else f"exit code {code}"
    assert (ending in done.stderr) == bool(code)
    assert ("before a step was recorded" if code == "SIGKILL" else "imported no framework") in done.stderr
    assert not list(tmp_path.glob("traceview-capture-*"))


def test_arguments_input_and_main_are_the_scripts_own(tmp_path):
    body = """
import argparse, sys
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int)
parser.add_argument("-o")
parser.add_argument("rest", nargs="*")
print(parser.parse_args(), sys.argv, __name__, sys.stdin.read())
"""
    path = script(tmp_path, body)
    words = [PYTHON, path, "--steps", "7", "-o", "x", "--", "-a", "b"]
    bare = subprocess.run(words, input="typed", capture_output=True, text=True)
    done = collect(tmp_path, "--steps", "2", "--", *words, text="typed")
    assert done.returncode == 0
    assert done.stdout == bare.stdout


def test_much_output_on_both_streams_is_the_scripts_own(tmp_path):
    body = """
import sys
for number in range(20_000):
    print("out", number, "x" * 80)
    print("err", number, "y" * 80, file=sys.stderr)
sys.stdout.buffer.write(bytes(range(256)))
"""
    path = script(tmp_path, body)
    bare = subprocess.run([PYTHON, path], capture_output=True)
    words = [PYTHON, "-m", "traceview", "collect", "--", PYTHON, path]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, bare.stdout)
    assert done.stderr.startswith(bare.stderr)


@pytest.mark.long
def test_a_module_that_trains_is_captured_and_named_after_itself(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "package").mkdir()
    script(tmp_path, "", "package/__init__.py")
    body = f"import runpy\nrunpy.run_path({str(LENET)!r}, run_name='__main__')"
    script(tmp_path, body, "package/fit.py")
    words = (PYTHON, "-m", "package.fit", "--steps", "9", "--batch", "4")
    done = collect(tmp_path, "--", *words, PYTHONPATH=f"{ROOT}{os.pathsep}{LENET.parent}")
    assert (done.returncode, "recorded 4 steps" in done.stderr) == (0, True), done.stderr
    (capture,) = tmp_path.glob("traceview-capture-fit-*")
    assert json.loads((capture / "capture.json").read_text())["command"][1:3] == ["-m", "package.fit"]


def test_modules_run_as_modules(tmp_path):
    (tmp_path / "package").mkdir()
    script(tmp_path, "", "package/__init__.py")
    script(tmp_path, "import sys; print(__name__, __package__, sys.argv[1:], sys.path[0])", "package/train.py")
    words = [PYTHON, "-m", "package.train", "--fast"]
    bare = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert collect(tmp_path, "--", *words).stdout == bare.stdout


def test_wrong_usage(tmp_path):
    assert collect(tmp_path).returncode == 2
    assert collect(tmp_path, "--steps", "0", "--", "true").returncode == 2
    assert collect(tmp_path, "--wait", "-1", "--", "true").returncode == 2
    script(tmp_path, "", "taken")
    done = collect(tmp_path, "-o", "taken", "--", "true")
    assert (done.returncode, "exists already" in done.stderr) == (2, True)


def test_a_command_that_is_not_there(tmp_path):
    done = collect(tmp_path, "-o", "capture", "--", "no-such-program")
    assert (done.returncode, "cannot run no-such-program" in done.stderr) == (127, True)
    assert not (tmp_path / "capture").exists()


@pytest.mark.parametrize("words", [["true"], [PYTHON, "-S", "-c", "pass"], [PYTHON, "-I", "-c", "pass"]])
def test_commands_that_load_no_collector(tmp_path, words):
    done = collect(tmp_path, "--", *words)
    assert (done.returncode, "-S, -I and -E" in done.stderr) == (0, True)


@pytest.mark.long
def test_an_empty_folder_may_be_the_output_and_a_relative_one_outlives_chdir(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    body = f"""
import os, runpy, sys
os.chdir("elsewhere")
sys.argv = ["x", "--steps", "9"]
sys.path.append({str(LENET.parent)!r})
runpy.run_path({str(LENET)!r}, run_name="__main__")
"""
    done = collect(tmp_path, "-o", "here", "--", PYTHON, script(tmp_path, body))
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("traceview: recorded 4 steps")
    assert not list((tmp_path / "elsewhere").iterdir())
    described = json.loads((tmp_path / "here" / "capture.json").read_text())
    assert described["command"] == [PYTHON, str(tmp_path / "program.py")]
    assert (described["exit_code"], described["model"]["parameters"]) == (0, 431_080)
    # Two convolutions forward and by filter, the second one by image too.
    first, second = 2 * 20 * 25 * 24 * 24, 2 * 50 * 20 * 25 * 8 * 8
    assert described["conv_flop"] == 64 * (2 * first + 3 * second)
    assert described["ranks"][0]["files"] == ["rank-0000.kineto.json", "rank-0000.onednn.log"]
    assert not list((tmp_path / "here" / "raw").glob(".*"))
    assert (tmp_path / "here" / "rank-0000" / "ops.parquet").exists()


@pytest.mark.long
def test_each_worker_of_a_launcher_is_a_rank(tmp_path):
    pytest.importorskip("torch")
    launcher = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words = [LENET.with_name("lenet_ddp_torch.py"), "--steps", "9", "--batch", "8"]
    done = collect(tmp_path, "-o", "capture", "--", *launcher, *words, GLOO_SOCKET_IFNAME="lo")
    assert (done.returncode, "4 steps of 2 processes" in done.stderr) == (0, True), done.stderr
    assert done.stdout.startswith("lenet: 431080 parameters, batch 8 x 2, cpu, nchw\nstep 9: loss ")
    steps = "SELECT rank, count(*) FROM steps GROUP BY 1 ORDER BY 1"
    assert ask(tmp_path / "capture", steps) == [(0, 4), (1, 4)]
    averaged = "SELECT rank, sum(size_bytes), count(DISTINCT group_size) FROM exchanges GROUP BY 1 ORDER BY 1"
    assert ask(tmp_path / "capture", averaged) == [(rank, 4 * 431_080 * 4, 1) for rank in (0, 1)]
    described = json.loads((tmp_path / "capture" / "capture.json").read_text())
    assert (described["world_size"], [rank["rank"] for rank in described["ranks"]]) == (2, [0, 1])


@pytest.mark.parametrize(
    ("number", "told", "cut"),
    [
        pytest.param(signal.SIGINT, "KeyboardInterrupt", "cut short: exit", id="SIGINT"),
        pytest.param(signal.SIGTERM, "", "cut short: SIGTERM", id="SIGTERM", marks=pytest.mark.long),
    ],
)
def test_a_signal_that_ends_training_leaves_a_readable_capture(tmp_path, number, told, cut):
    pytest.importorskip("torch")
    body = f"""
import runpy, sys
from torch.optim.optimizer import register_optimizer_step_post_hook
count = 0
def stepped(*rest):
    global count
    count += 1
    if count == 9:
        print("nine steps", flush=True)
register_optimizer_step_post_hook(stepped)
sys.argv = ["x", "--steps", "2000"]
sys.path.append({str(LENET.parent)!r})
runpy.run_path({str(LENET)!r}, run_name="__main__")
"""
    words = [PYTHON, "-m", "traceview", "collect", "-o", "capture", "--steps", "100000", "--"]
    process = subprocess.Popen(
        [*words, PYTHON, script(tmp_path, body)],
        cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert "nine steps\n" in iter(process.stdout.readline, "")
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 128 + number, err
    assert told in err and f"was ended by {number.name}" in err and cut in err
    steps = ask(tmp_path / "capture", "SELECT count(*) FROM steps")
    assert steps[0][0] >= 1


def test_a_signal_to_traceview_alone_reaches_the_command(tmp_path):
    body = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *rest: sys.exit(9))
print("up", flush=True)
time.sleep(600)
"""
    process = subprocess.Popen(
        [PYTHON, "-m", "traceview", "collect", "--", PYTHON, script(tmp_path, body)],
        cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    process.terminate()
    _, err = process.communicate(timeout=600)
    assert (process.returncode, "exit code 9" in err) == (9, True)


@pytest.mark.long
def test_a_killed_process_is_a_sentence(tmp_path):
    pytest.importorskip("torch")
    body = f"""
import os, runpy, sys
sys.path.append({str(LENET.parent)!r})
from torch.optim.optimizer import register_optimizer_step_post_hook
count = 0
def stepped(*rest):
    global count
    count += 1
    if count == 6:
        os._exit(5)
register_optimizer_step_post_hook(stepped)
runpy.run_path({str(LENET)!r}, run_name="__main__")
"""
    done = collect(tmp_path, "-o", "capture", "--", PYTHON, script(tmp_path, body))
    assert (done.returncode, "exit code 5" in done.stderr) == (5, True)
    assert "os._exit, kill -9 or a crash" in done.stderr
    assert not (tmp_path / "capture").exists()


@pytest.mark.long
def test_too_short_a_run_says_what_to_do(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "capture").mkdir()
    done = collect(tmp_path, "-o", "capture", "--", PYTHON, LENET, "--steps", "2")
    assert (done.returncode, "ended after 2 steps" in done.stderr, "--wait 0" in done.stderr) == (0, True, True)
    assert list((tmp_path / "capture").iterdir()) == []
