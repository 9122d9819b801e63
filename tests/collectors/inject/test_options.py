"""Variables that are looked after, and arguments that are changed where an object is made."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import first

from traceview.experiments.tune import options
from traceview.experiments.tune.options import Facts

MAPS = "7f00 r-xp 0 0 0 /usr/lib/libgomp.so.1\n7f01 r-xp 0 0 0 /usr/lib/libc.so.6\n7f02 rw-p 0 0 0 [heap]\n"
LINUX = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what is in a process /proc tells")
PROGRAM = """
import json, os, resource, sys
sys.path.insert(0, sys.argv[1])
import torch
# Where the first parallel region binds its threads.
torch.ones(1 << 20).add_(1)
def faults(mib, count):
    def turn():
        return [torch.empty(mib << 18).fill_(1.0) for _ in range(count)]
    for _ in range(10):
        turn()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(3):
        turn()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
large = faults(40, 2)
huge = next(int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.startswith("AnonHugePages"))
from traceview_inject import options, times
options.look_after(os.environ.get("TRACEVIEW_TRY_VARIABLES", ""))
found = {"large": large, "huge_kb": huge, "cores": len(os.sched_getaffinity(0))}
print(json.dumps({**found, "said": times.SEEN}))
"""


def given(name: str = "GLIBC_TUNABLES", value: str | None = "a=1", **more: str) -> dict[str, object]:
    return {"set": {name: value}, "read_by": None, "not_with": None, **more}


@pytest.mark.parametrize(
    ("option", "environment", "started_with", "answer"),
    [
        (given("OMP_X", "2", read_by="libgomp"), {"OMP_X": "2"}, "", "yes: OMP_X=2, read by libgomp.so.1"),
        (given("OMP_NUM_THREADS", "1"), {"OMP_NUM_THREADS": "16"}, "", "no: the script sets OMP_NUM_THREADS=16"),
        (given("OMP_NUM_THREADS", "1"), {}, "", "no: OMP_NUM_THREADS is not set"),
        (given("KMP_X", "0", read_by="libiomp5"), {"KMP_X": "0"}, "", "no: nothing in the process reads it"),
        (given("X", None), {}, "", "yes: X unset"),
        (given("X", None), {"X": "1"}, "", "no: the script sets X=1"),
        (given("LD_PRELOAD", "/a.so"), {"LD_PRELOAD": "/b.so:/a.so"}, "", "yes: LD_PRELOAD=/a.so"),
        (given(value="a=1"), {"GLIBC_TUNABLES": "a=1"}, "HOME=/h", "no: GLIBC_TUNABLES is not set"),
        (given(value="a=1"), {}, "GLIBC_TUNABLES=a=1", "yes: GLIBC_TUNABLES=a=1"),
        (given(value="a=1", not_with="libgomp"), {}, "GLIBC_TUNABLES=a=1", "no: libgomp.so.1 is in the process"),
    ],
)  # fmt: skip
def test_what_became_of_variables(inject, option, environment, started_with, answer) -> None:
    from traceview_inject import options

    assert options.state(option, environment, MAPS, started_with.split("\0")) == answer


def test_without_a_system_that_tells_nothing_is_claimed_of_libraries(inject) -> None:
    from traceview_inject import options

    assert options.state(given("A", "1", read_by="libgomp"), {"A": "1"}, "", [""]) == "yes: A=1"


class Base:
    def __init__(self, things, size=1, *, fused=None):
        self.things, self.size, self.fused = list(things), size, fused
        if size == 13:
            raise ValueError("an unlucky size")


def test_arguments_are_changed_and_a_class_that_refuses_gets_the_programs_own(inject) -> None:
    from traceview_inject import options

    class Derived(Base):
        def __init__(self, things, fused=None):
            super().__init__(things, fused=fused)

    said: list[str] = []

    def fuse(made, arguments):
        return ({"fused": True}, said.append) if not arguments["fused"] else said.append(options.THE_SAME)

    def grow(made, arguments):
        return ({"size": 13}, said.append) if arguments["size"] == 2 else None

    for kind in (Base, Derived):
        options.change_arguments(kind, fuse)
    options.change_arguments(Base, grow)
    assert Base([1]).fused is True and said == ["yes: Base made with fused=True"]
    assert Derived([1]).fused is True and said[1:] == ["yes: Derived made with fused=True"], "once, not for each class"
    assert Base([1], 3, fused=True).size == 3 and said[2:] == [options.THE_SAME]
    refused = Base((number for number in range(3)), 2)
    assert (refused.things, refused.size, refused.fused) == ([0, 1, 2], 2, None), "a generator is not used up"
    assert said[3:] == ["no: Base takes no other arguments here: an unlucky size"] * 2
    with pytest.raises(TypeError):
        Base()


def ran(inject: Path, names: list[str]) -> dict:
    """Run the program with these options and return what it saw."""
    facts = Facts("torch", "2.13", "cpu", len(os.sched_getaffinity(0)), options.installed())
    base = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "MALLOC_"))}
    environment = options.environment(options.named(names), facts, base)
    command = [sys.executable, "-c", PROGRAM, str(inject)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


PLAIN_PAGES = 20_000
"""So many page faults of 4 KB at least take the program's large blocks, where nothing holds or enlarges them."""


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize(
    "names",
    first(
        2,
        [
            ["malloc_keeps", "threads_bound", "wait_passive"],
            ["onednn_widest"],
            ["malloc_thresholds", "gomp_bound"],
            ["huge_pages", "huge_pages_torch", "wait_active", "onednn_avx2"],
        ],
    ),
    ids="-".join,
)
def test_options_of_the_environment_take_effect_in_a_real_process(inject, names: list[str]) -> None:
    pytest.importorskip("torch")
    if "glibc_2_35" not in options.installed() or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs glibc 2.35 and two cores")
    found = ran(inject, names)
    assert found["said"] and all(text.startswith("yes: ") for text in found["said"].values()), found["said"]
    if "onednn_widest" in names:
        assert found["large"] > PLAIN_PAGES and found["cores"] >= 2
    if "malloc_keeps" in names:
        assert found["large"] < 100
    if {"threads_bound", "gomp_bound"} & set(names):
        assert found["cores"] == 1, "the first thread is bound to one core"
    if "huge_pages" in names and "huge_pages" in options.installed():
        assert found["huge_kb"] > 0 and found["large"] < PLAIN_PAGES / 10


BINDS = """
import ctypes, json, os, sys
sys.path.insert(0, sys.argv[1])
ctypes.CDLL(sys.argv[2])
os.environ["OMP_PLACES"] = "cores"
from traceview_inject import options, times
options.look_after(json.dumps({"bound": {"set": {"OMP_PLACES": "cores"}, "read_by": "libgomp", "not_with": None}}))
print(times.SEEN["bound"])
"""


@LINUX
def test_threads_that_have_no_places_are_not_called_bound(inject) -> None:
    spec = importlib.util.find_spec("torch")
    folders = spec.submodule_search_locations if spec else None
    library = next((path for folder in folders or () for path in Path(folder).glob("lib/libgomp*.so*")), None)
    if library is None:
        pytest.skip("needs GNU's OpenMP library, as PyTorch brings it")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    for more, answer in (({}, "no: the OpenMP library knows no places"), ({"OMP_PLACES": "cores"}, "yes: OMP_PLACES")):
        command = [sys.executable, "-c", BINDS, str(inject), str(library)]
        done = subprocess.run(command, env=plain | more, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(answer), done.stdout


@LINUX
@pytest.mark.parametrize("name", ["jemalloc", "tcmalloc"])
def test_another_allocator_is_in_the_process(inject, name: str) -> None:
    pytest.importorskip("torch")
    if name not in options.installed():
        pytest.skip(f"{name} is not installed (LD_LIBRARY_PATH may name its folder)")
    found = ran(inject, [name])
    assert found["said"][name].startswith("yes: LD_PRELOAD=") and f"lib{name}" in found["said"][name]
    assert found["large"] < 100
