"""Facts of the machine (processor, memory, limits, driver), and resources used meanwhile: by this process time and page
faults, by others the cores' time, and what the hypervisor, the container's limit and lack of memory took.

Invariant: what the system does not tell is None.
"""

import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

from traceview_inject.python import now_ns

# Instruction sets between which libraries choose; the rest of the processor's flags decides nothing.
FLAGS = (
    "sse4_1", "sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni",
    "amx_tile", "amx_int8", "amx_bf16", "asimd", "sve", "sve2", "bf16",
)  # fmt: skip
COUNTS = {
    "user_ns": "ru_utime",
    "system_ns": "ru_stime",
    "minor_faults": "ru_minflt",
    "major_faults": "ru_majflt",
    "voluntary_switches": "ru_nvcsw",
    "involuntary_switches": "ru_nivcsw",
}


def facts():
    """Name, instruction sets, clock and cores, memory, limits of the container and the GPU's driver, as a dictionary
    for `rank-NNNN.meta.json`.
    """
    told = _told()
    flags = (told.get("flags") or told.get("Features") or "").split()
    return {
        "cpu": told.get("model name") or platform.processor() or platform.machine(),
        "cpu_flags": [flag for flag in FLAGS if flag in flags] if flags else None,
        "cpu_hz": _clock(told),
        "cores": _cores(),
        "memory_bytes": _memory(),
        "limits": _limits(),
        "governor": _word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "numa_nodes": _word("/sys/devices/system/node/online"),
        "driver_version": _driver(),
    }


def usage():
    """The time now and what was used so far: by the process, all threads together, and of the cores that it may use.

    None where the system does not count. It is for before the steps: to look at all processes takes time, and what the
    process itself used is read last.
    """
    machine = _machine()
    own = _own()
    return own and {**machine, **own}


def _own():
    """The time now and what this process has used so far."""
    try:
        import resource
    except ImportError:
        return None
    counted = resource.getrusage(resource.RUSAGE_SELF)
    found = {"wall_ns": now_ns()}
    for name, field in COUNTS.items():
        value = getattr(counted, field)
        found[name] = round(value * 1e9) if name.endswith("_ns") else value
    return found


def _machine():
    """The time now, nanoseconds that the cores of this process gave to all, and what kept their threads waiting."""
    own = _own_s()
    busy, stolen = _busy()
    seconds = {"busy_ns": busy, "stolen_ns": stolen, "own_ns": own, "throttled_ns": _throttled_s()}
    seconds["memory_stall_ns"] = _stalled_s()
    found = {name: None if value is None else round(value * 1e9) for name, value in seconds.items()}
    return {**found, "machine_ns": now_ns()}


def used_since(before):
    """Return the resources used since `before`, which is a `usage()`; None where that is None. It is for after the
    steps: what the process itself used is read first.
    """
    own = _own()
    if not before or not own:
        return None
    now = {**_machine(), **own}
    used = {name: None if None in (now[name], before[name]) else now[name] - before[name] for name in now}
    return {**used, "cores": _allowed()}


def resident():
    """Bytes of memory of the machine that this process holds now, and held at most so far; None where not told."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    said = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS:", "VmHWM:"))}
    return {"bytes": int(said["VmRSS"]) * 1024, "most_bytes": int(said["VmHWM"]) * 1024} if len(said) == 2 else None


def n_workers():
    """Processes that this one has started to work for it, such as those that load data."""
    multiprocessing = sys.modules.get("multiprocessing")
    return len(multiprocessing.active_children()) if multiprocessing else 0


def moment():
    """Wall time, and seconds of processor time that the cores of this process and all processes of its run have used by
    now; None of both where the system does not count. Time that a hypervisor took is time of others.
    """
    return {"wall_s": now_ns() / 1e9, "busy_s": _busy()[0], "own_s": _own_s(), "cores": _allowed()}


def _busy():
    """Seconds that the cores of this process were busy, and those of them that a hypervisor took; None of both."""
    with suppress(OSError, AttributeError, ValueError):
        mine, ticks, taken = os.sched_getaffinity(0), 0, 0
        for line in Path("/proc/stat").read_text().splitlines():
            name, *values = line.split()
            if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in mine:
                user, nice, system, _, _, interrupts, soft, stolen, *_ = map(int, values)
                ticks += user + nice + system + interrupts + soft + stolen
                taken += stolen
        return ticks / os.sysconf("SC_CLK_TCK"), taken / os.sysconf("SC_CLK_TCK")
    return None, None


def _throttled_s():
    """Seconds for which the container's limit of cores held its threads back, of all cores together."""
    with suppress(OSError, ValueError, KeyError):
        lines = Path("/sys/fs/cgroup/cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["throttled_usec"]) / 1e6
    return None


def _stalled_s():
    """Seconds in which some process of the machine waited for memory (pressure stall information)."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/pressure/memory").read_text().splitlines()[0].rpartition("total=")[2]) / 1e6
    return None


def _word(path):
    """The word that a file of the system holds; None where there is no such file."""
    with suppress(OSError):
        return Path(path).read_text().strip() or None
    return None


def _own_s():
    """Add up this process and all that run for the same folder or descend from such, and those they outlived."""
    told = b"TRACEVIEW_DIR=" + os.fsencode(os.environ.get("TRACEVIEW_DIR", ""))
    parents, ticks, mine = {}, {}, {os.getpid()}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            # After the name of the program, which may hold spaces and parentheses.
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            pid = int(folder.name)
            parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
            with suppress(OSError):
                if told in (folder / "environ").read_bytes().split(b"\0"):
                    mine.add(pid)
    if not ticks:
        return None
    n_known = 0
    while n_known < len(mine):
        n_known = len(mine)
        mine |= {pid for pid, parent in parents.items() if parent in mine}
    return sum(ticks.get(pid, 0) for pid in mine) / os.sysconf("SC_CLK_TCK")


def _allowed():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _told():
    """The first processor's lines of /proc/cpuinfo by name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _clock(told):
    """The highest clock that the system names, in Hz; else the present one."""
    with suppress(OSError, ValueError):
        return 1000 * int(Path("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").read_text())
    with suppress(KeyError, ValueError):
        return round(1e6 * float(told["cpu MHz"]))
    return None


def _cores():
    """Cores that this process may use: those it is bound to, or as many as its container's share comes to."""
    cores, quota = _allowed(), _quota()
    return cores if quota is None else max(1, min(cores, round(quota)))


def _quota():
    """The container's share in cores; None without a limit."""
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return int(quota) / int(period)
    return None


def _limits():
    """Cores and bytes of memory that the container limits, those of the two; None where the system does not tell."""
    try:
        told = {"cores": _quota(), "memory_bytes": Path("/sys/fs/cgroup/memory.max").read_text().strip()}
    except (OSError, AttributeError):
        return None
    if told["memory_bytes"] in (None, "max"):
        told["memory_bytes"] = None
    return {name: float(value) if name == "cores" else int(value) for name, value in told.items() if value is not None}


def _memory():
    """Bytes of the machine's memory."""
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def last_cache():
    """Bytes of the largest cache of a core; None where the system does not tell."""
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        word = _word(str(path)) or ""
        if word[:-1].isdigit() and word[-1] in "KM":
            sizes.append(int(word[:-1]) << (10 if word[-1] == "K" else 20))
    return max(sizes, default=None)


def available_memory():
    """Bytes that a program may still take, of the machine and of the container's limit; None where that is not told."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = 1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
        limit, used = (_word("/sys/fs/cgroup/memory." + name) for name in ("max", "current"))
        return free if limit in (None, "max") else min(free, int(limit) - int(used))
    return None


def _driver():
    """Version of NVIDIA's or AMD's kernel driver, where one is loaded."""
    with suppress(OSError, IndexError, StopIteration):
        first = Path("/proc/driver/nvidia/version").read_text().splitlines()[0]
        return "NVIDIA " + next(word for word in first.split() if word[0].isdigit() and "." in word)
    with suppress(OSError):
        return "amdgpu " + Path("/sys/module/amdgpu/version").read_text().strip()
    return None
