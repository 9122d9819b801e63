"""Clock, power and heat of GPUs against doubles of their drivers: no GPU is here."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from given import section

import traceview

HERE = Path(__file__).parent
COMPILER = shutil.which("cc") or shutil.which("gcc")
compiled = pytest.mark.skipif(COMPILER is None, reason="no C compiler builds the double of the driver")

TRAINS = """
import ctypes, time
ctypes.CDLL("libcuda.so.1")
import torch
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
    time.sleep(0.1)
"""


@pytest.fixture
def gpus() -> ModuleType:
    from traceview_inject import gpus

    return gpus


def driver(folder: Path) -> dict[str, str]:
    """Build NVIDIA's driver in a folder; the environment of a process that finds it."""
    folder.mkdir()
    library = folder / "libcuda.so.1"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, HERE / "gpu_driver.c"], check=True)
    (folder / "libnvidia-ml.so.1").symlink_to(library.name)
    return {"LD_LIBRARY_PATH": str(folder)}


def looked(folder: Path, body: str, **variables: str) -> Any:
    """Return what a process prints that looked twice, one JSON document."""
    start = f"import ctypes, json, sys\nsys.path.insert(0, {str(HERE.parents[2] / 'collectors' / 'inject')!r})\n"
    program = f"{start}from traceview_inject import gpus\n{body}\nprint(json.dumps(gpus.since(old)))"
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@compiled
def test_what_nvidias_driver_tells(tmp_path: Path) -> None:
    """Only the GPU that the process computes on; what is not told (heat, a function's newer name) is no failure."""
    (told,) = looked(tmp_path, "ctypes.CDLL('libcuda.so.1')\nold = gpus.moment()", **driver(tmp_path / "driver"))
    wall_ns = told.pop("wall_ns")
    assert told == {
        "device": 1,
        "name": "Given GPU",
        "clock_hz": [1_755_000_000, 1_380_000_000],
        "max_clock_hz": 1_980_000_000,
        "memory_clock_hz": 2_619_000_000,
        "celsius": 71,
        "power_w": pytest.approx(689.5),
        "power_limit_w": pytest.approx(700.0),
        "energy_j": pytest.approx(1.5, abs=1e-5),
        "reasons": ["power limit"],
        # Never more than the time between the looks.
        "held_ns": {"power": min(9_000_000, wall_ns), "heat": None},
        "held_share": {"power": None, "heat": None},
    }


@compiled
def test_a_process_that_uses_no_gpu_does_not_wake_one(tmp_path: Path) -> None:
    assert looked(tmp_path, "old = gpus.moment()\nassert old == []", **driver(tmp_path / "driver")) == []


@pytest.mark.long
@compiled
def test_a_recording_shows_what_held_its_gpu_back(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINS)
    words = [sys.executable, "-m", "traceview", "collect", "-o", "c", "--", sys.executable, "train.py"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **driver(tmp_path / "driver")}
    done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with traceview.open(tmp_path / "c") as capture:
        (found,) = section(capture.connection, "environment/gpus")
    assert (found["device"], found["name"], found["reasons"]) == (1, "Given GPU", "power limit")
    assert (found["first_clock_hz"], found["last_clock_hz"]) == (1_755_000_000, 1_380_000_000)
    # 9 ms of the recorded steps, which sleep for at least 200 ms.
    assert 0 < found["power_held_pct"] < 4.5 and found["heat_held_pct"] is None


class Smi(ModuleType):
    """AMD's library after as many looks: 1,000 samples a look, heat held in 100 by one sensor, in 40 by another."""

    looks = 0

    def amdsmi_init(self) -> None:
        self.looks += 1

    def amdsmi_get_processor_handle_from_bdf(self, place: str) -> str:
        return place

    def amdsmi_get_gpu_metrics_info(self, handle: str) -> Mapping[str, object]:
        n = 7 + self.looks
        told = {"accumulation_counter": 1000 * n, "ppt_residency_acc": 250 * n, "socket_thm_residency_acc": 100 * n}
        return {**told, "hbm_thm_residency_acc": 40 * n, "vr_thm_residency_acc": "N/A"}

    def amdsmi_get_energy_count(self, handle: str) -> Mapping[str, float]:
        return {"energy_accumulator": 1_000_000 * (5 + self.looks), "counter_resolution": 15.3, "timestamp": 1}


def test_what_amds_driver_tells(gpus: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = "0000:c1:00.0"
    files = {"power1_average": "301000000\n", "power1_cap": "750000000\n", "freq1_input": "1650000000\n"}
    files |= {"freq2_input": "1300000000\n", "temp2_input": "64000\n"}
    (tmp_path / place / "hwmon" / "hwmon3").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / place / "hwmon" / "hwmon3" / name).write_text(text)
    (tmp_path / place / "pp_dpm_sclk").write_text("0: 132Mhz\n1: 1650Mhz *\n2: 2100Mhz\n")
    smi = Smi("amdsmi")
    monkeypatch.setitem(sys.modules, "amdsmi", smi)
    monkeypatch.setattr(gpus, "_nvidia", list)
    read = gpus._files
    seen = lambda: [gpus._facts(0, place, **read(place, tmp_path), **gpus._counted(place))]  # noqa: E731
    monkeypatch.setattr(gpus, "_amd", seen)
    (told,) = gpus.since(gpus.moment())
    assert told["clock_hz"] == [1_650_000_000, 1_650_000_000] and told["max_clock_hz"] == 2_100_000_000
    assert (told["memory_clock_hz"], told["celsius"]) == (1_300_000_000, 64)
    assert (told["power_w"], told["power_limit_w"]) == (pytest.approx(301), pytest.approx(750))
    assert told["energy_j"] == pytest.approx(15.3)
    assert told["held_share"] == {"power": 0.25, "heat": 0.1}
    assert told["held_ns"] == {"power": None, "heat": None}


def test_without_amds_library_its_files_are_enough(
    gpus: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    monkeypatch.setattr(gpus, "_nvidia", list)
    monkeypatch.setattr(gpus, "_amd", lambda: [gpus._facts(0, "x", **gpus._files("x", tmp_path), **gpus._counted("x"))])
    (told,) = gpus.since(gpus.moment())
    assert told["clock_hz"] == [None, None] and told["held_share"] == {"power": None, "heat": None}


def test_a_driver_that_fails_is_no_failure_of_the_program(gpus: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object, **options: object) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", failing)
    assert gpus.moment() == [] and gpus.since([]) == []
