"""`traceview collect --tool nsys` with test doubles: a script called nsys and a library called libcuda.so.1.

The doubles note what they are asked for; the report is a small database of two processes. No real one was at hand.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from asked import ask
from databases import write

ROOT = Path(__file__).parents[2]
DOUBLE = """#!/bin/sh
# Runs the command as nsys profile does, and leaves a report where the window was opened or the whole run is recorded.
echo "$@" >>"{folder}/nsys.txt"
window=
while [ "$1" != /bin/sh ]; do
    case "$1" in --output=*) output="${{1#--output=}}";; --capture-range=*) window=1;; esac
    shift
done
NVTX_INJECTION64_PATH=/opt/nsight/injection.so "$@"
status=$?
[ -z "$window" ] || [ -e "{folder}/cuda.txt" ] || exit $status
cp "{folder}/report.sqlite" "$output.sqlite"
exit {own}
"""
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
static int note(const char *text) {
    FILE *file = fopen(getenv("DOUBLE_CUDA"), "a");
    fprintf(file, "%s\\n", text);
    fclose(file);
    return 0;
}
int cuCtxSynchronize(void) { return 0; }
int cuProfilerStart(void) { return note("start"); }
int cuProfilerStop(void) { return note("stop"); }
"""
KERNEL = {"start": 10, "end": 30, "deviceId": 0, "demangledName": 1, "globalPid": 70 << 24}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with both doubles and the report."""
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler for the double of the CUDA driver")
    (tmp_path / "bin").mkdir()
    tables = {
        "StringIds": [{"id": 1, "value": "gemm"}],
        "TARGET_INFO_SESSION_START_TIME": [{"utcEpochNs": 10**18}],
        "CUPTI_ACTIVITY_KIND_KERNEL": [KERNEL, {**KERNEL, "deviceId": 1, "globalPid": 80 << 24}],
    }
    write(tmp_path / "report.sqlite", tables)
    (tmp_path / "driver.c").write_text(DRIVER)
    # Not where programs run: a build of torch for CUDA looks for the driver there too.
    library = tmp_path / "driver" / "libcuda.so.1"
    library.parent.mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "driver.c"], check=True)
    return tmp_path


def collect(
    folder: Path, *words: object, own: str = "$status", has_driver: bool = True
) -> subprocess.CompletedProcess[str]:
    """`traceview collect --tool nsys` with the doubles in place; `own` is how the double of nsys ends."""
    tool = folder / "bin" / "nsys"
    tool.write_text(DOUBLE.format(folder=folder, own=own))
    tool.chmod(0o755)
    command = [sys.executable, "-m", "traceview", "collect", "-o", "capture", "--tool", "nsys", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    environment |= {"DOUBLE_CUDA": str(folder / "cuda.txt"), "OMP_NUM_THREADS": "1"}
    environment |= {"LD_LIBRARY_PATH": str(folder / "driver")} if has_driver else {}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    return ask(folder / "capture", query)


TORCH = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(9):
    model(torch.ones(3, 4)).sum().backward()
    optimizer.step()
"""


@pytest.mark.long
def test_the_recorded_steps_of_a_framework_open_the_window(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "train.py").write_text(TORCH)
    done = collect(folder, "--", sys.executable, "train.py")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "recorded 4 steps" in done.stderr
    assert (folder / "cuda.txt").read_text() == "start\nstop\n"
    assert "--capture-range=cudaProfilerApi --capture-range-end=stop" in (folder / "nsys.txt").read_text()
    described = json.loads((folder / "capture" / "capture.json").read_text())
    assert (described["recorded_by"], described["framework"], described["model"]["parameters"]) == ("nsys", "torch", 10)
    assert described["ranks"][0]["files"] == ["nsys.sqlite"]
    assert rows(folder, "SELECT rank, name, dur_ns FROM kernels ORDER BY rank") == [(0, "gemm", 20), (1, "gemm", 20)]
    assert sorted(path.name for path in (folder / "capture" / "raw").iterdir()) == [
        "nsys.sqlite",
        "rank-0000.meta.json",
    ]


@pytest.mark.long
def test_the_whole_run_of_any_program(folder: Path) -> None:
    done = collect(folder, "--whole", "--", "sh", "-c", "echo out; exit 3")
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert "recorded the whole run" in done.stderr and "exit code 3" in done.stderr
    assert "--capture-range" not in (folder / "nsys.txt").read_text()
    assert rows(folder, "SELECT rank, pid FROM ranks ORDER BY rank") == [(0, 70), (1, 80)]


@pytest.mark.long
def test_the_status_of_nsys_is_not_the_commands(folder: Path) -> None:
    done = collect(folder, "--whole", "--", "true", own="5")
    assert done.returncode == 0
    assert "nsys failed with exit code 5; the command itself succeeded" in done.stderr


@pytest.mark.long
def test_without_a_driver_the_reason_is_said_and_the_program_runs(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "train.py").write_text(TORCH + "print('done')")
    done = collect(folder, "--", sys.executable, "train.py", has_driver=False)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "given up: Nsight Systems records GPUs, and this process has no CUDA driver" in done.stderr
    assert not (folder / "capture").exists()


def test_an_nsys_that_does_not_run_the_command_leaves_nothing(folder: Path) -> None:
    tool = folder / "bin" / "nsys"
    tool.write_text("#!/bin/sh\nexit 6\n")
    tool.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    words = ["-o", "capture", "--tool", "nsys", "--", "true", "--token", "hush"]
    command = [sys.executable, "-m", "traceview", "collect", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, "failed with exit code 6 and did not run the command" in done.stderr) == (6, True)
    assert not (folder / "capture").exists()


@pytest.mark.long
def test_what_nsys_is_given_holds_no_secret(folder: Path) -> None:
    done = collect(folder, "--whole", "--", "sh", "-c", 'echo "$2"', "sh", "--token", "hush")
    assert (done.returncode, done.stdout) == (0, "hush\n"), done.stderr
    assert "hush" not in (folder / "nsys.txt").read_text() and "--token ***" in (folder / "nsys.txt").read_text()
    assert not [path for path in (folder / "capture").rglob("*") if path.is_file() and b"hush" in path.read_bytes()]
    done = collect(folder, "-o", "other", "--no-command", "--whole", "--", "sh", "-c", "echo named")
    assert (done.returncode, done.stdout) == (0, "named\n")
    assert "named" not in (folder / "nsys.txt").read_text()


def test_wrong_usage(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": str(tmp_path)}
    for words, reason in (["--whole"], "--whole needs --tool"), (["--tool", "nsys"], "nsys is not on the PATH"):
        command = [sys.executable, "-m", "traceview", "collect", *words, "--", "true"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
        assert not list(tmp_path.iterdir())
