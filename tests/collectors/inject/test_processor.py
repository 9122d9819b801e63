"""Facts of the processor and the resources a process used: as the system says, None where it does not."""

from __future__ import annotations

import builtins
import mmap
import os

import pytest


@pytest.fixture
def processor():
    from traceview_inject import processor

    return processor


CPUINFO = """processor\t: 0
model name\t: Given Processor @ 2.10GHz
cpu MHz\t\t: 2100.500
flags\t\t: fpu sse4_1 avx avx2 fma

processor\t: 1
model name\t: another
"""


def test_what_the_system_tells_of_the_first_processor(processor, monkeypatch):
    found = {
        "/proc/cpuinfo": CPUINFO,
        "/sys/fs/cgroup/cpu.max": "150000 100000\n",
        "/sys/fs/cgroup/memory.max": "8589934592\n",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "/sys/devices/system/node/online": "0-1\n",
        "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5\n",
    }
    monkeypatch.setattr(processor, "Path", lambda path: Told(found.get(path)))
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert processor.facts() == {
        "cpu": "Given Processor @ 2.10GHz",
        "cpu_flags": ["sse4_1", "avx", "avx2", "fma"],
        "cpu_hz": 2_100_500_000,
        "cores": 2,
        "memory_bytes": 4_096_000,
        "limits": {"cores": 1.5, "memory_bytes": 8 * 2**30},
        "governor": "powersave",
        "numa_nodes": "0-1",
        "driver_version": "NVIDIA 550.54.15",
    }


def test_what_it_does_not_tell_is_none(processor, monkeypatch):
    monkeypatch.setattr(processor, "Path", lambda path: Told(None))
    facts = processor.facts()
    assert (facts["cpu_flags"], facts["cpu_hz"]) == (None, None)
    assert (facts["limits"], facts["driver_version"]) == (None, None)
    assert facts["cpu"] and facts["cores"] >= 1


def test_what_was_used_is_counted(processor):
    before = processor.usage()
    # Memory of its own: what the interpreter had before would need no new page.
    with mmap.mmap(-1, 4_000_000) as pages:
        pages.write(b"x" * 4_000_000)
    assert sum(range(2_000_000))
    used = processor.used_since(before)
    assert used["wall_ns"] > 0 and used["user_ns"] + used["system_ns"] > 0
    assert used["minor_faults"] >= 1
    assert used["cores"] == len(os.sched_getaffinity(0))


def test_the_machine_is_counted_as_the_system_says(processor, monkeypatch):
    """Two moments: of 100 ticks a second, cores 0 and 1 were busy for 150 more, 50 of them taken by a hypervisor."""
    stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 {} 0 0 500 0 0 0 {} 0 0\ncpu1 100 0 0 500 0 0 0 0 0 0\n"
    texts = [
        {"/proc/stat": stat.format(user, stolen), "/sys/fs/cgroup/cpu.stat": f"nr_periods 3\nthrottled_usec {held}\n",
         "/proc/pressure/memory": f"some avg10=0.00 avg60=0.00 avg300=0.00 total={stalled}\nfull total=0\n"}
        for user, stolen, held, stalled in ((100, 10, 1000, 5), (200, 60, 251_000, 40_005))
    ]  # fmt: skip
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    monkeypatch.setattr(os, "sysconf", {"SC_CLK_TCK": 100}.__getitem__)
    monkeypatch.setattr(processor, "_own_s", lambda: 1.0)
    monkeypatch.setattr(processor, "Path", lambda path: Told(texts[0].get(path)))
    before = processor.usage()
    monkeypatch.setattr(processor, "Path", lambda path: Told(texts[1].get(path)))
    used = processor.used_since(before)
    names = ("busy_ns", "stolen_ns", "own_ns", "throttled_ns", "memory_stall_ns", "cores")
    assert [used[name] for name in names] == [1_500_000_000, 500_000_000, 0, 250_000_000, 40_000_000, 2]
    # Counted from before the process's own use to behind it.
    assert used["machine_ns"] >= used["wall_ns"] > 0
    monkeypatch.setattr(processor, "Path", lambda path: Told(None))
    assert [processor.used_since(before)[name] for name in names[:2]] == [None, None]


def test_without_counting_there_is_nothing(processor, monkeypatch):
    load = builtins.__import__

    def without(name, *rest):
        if name == "resource":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert processor.usage() is None and processor.used_since(None) is None


class Told:
    """A file of the system that holds `text`, or is not there."""

    def __init__(self, text):
        self.text = text

    def read_text(self):
        if self.text is None:
            raise FileNotFoundError
        return self.text


def test_the_largest_cache_and_the_memory_that_is_left(processor, monkeypatch, tmp_path):
    caches = {"index0": "48K", "index2": "2048K", "index3": "32M", "index4": "none"}
    for name, size in caches.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "size").write_text(size + "\n")
    path = processor.Path
    told = {"/sys/fs/cgroup/memory.max": "3000000000", "/sys/fs/cgroup/memory.current": "1000000000"}

    def given(text):
        if text.endswith("/cache"):
            return tmp_path
        if text == "/proc/meminfo":
            return Told("MemTotal: 9 kB\nMemAvailable:    4000000 kB\n")
        return Told(told[text]) if text in told else path(text)

    monkeypatch.setattr(processor, "Path", given)
    assert processor.last_cache() == 32 << 20
    assert processor.available_memory() == 2_000_000_000
    told["/sys/fs/cgroup/memory.max"] = "max"
    assert processor.available_memory() == 4_096_000_000
