"""Clock, power, heat and what holds a GPU back, before and after the recorded steps.

NVIDIA's are asked of NVML, which comes with the driver. AMD's are read from the files of its driver, and what held them
back is asked of the library `amdsmi` where that can be imported.

Invariant: only GPUs that this process computes on, under the numbers that it knows them by; none is set up for it. What
a driver does not tell is None.
"""

import ctypes
import os
from contextlib import suppress
from pathlib import Path

from traceview_inject.python import now_ns

POLICIES = {"power": 0, "heat": 1}
# NVML's nvmlPerfPolicyType_t; the time is counted in nanoseconds since the driver was loaded.
REASONS = {
    0x2: "clocks set by an application", 0x4: "power limit", 0x8: "hardware slowdown", 0x10: "synchronised clocks",
    0x20: "heat (driver)", 0x40: "heat (hardware)", 0x80: "power brake", 0x100: "clocks set for a display",
}  # fmt: skip
# NVML's nvmlClocksEventReasons; that a GPU is idle is none.
LIMITS = {
    "power": ("ppt_residency_acc",),
    "heat": ("prochot_residency_acc", "socket_thm_residency_acc", "vr_thm_residency_acc", "hbm_thm_residency_acc"),
}
# AMD's counters of the samples in which a limit held, beside `accumulation_counter`, which is the number of samples.


def moment():
    """Return what the drivers tell now of each GPU of this process, as dictionaries; an empty list without any."""
    found = []
    for vendor in (_nvidia, _amd):
        with suppress(Exception):
            found += vendor()
    return found


def since(before):
    """Return a dictionary for each GPU of `before`, which is a `moment()`: how it stands now, and what was counted."""
    old = {gpu["bus"]: gpu for gpu in before or ()}
    return [_between(old[gpu["bus"]], gpu) for gpu in moment() if gpu["bus"] in old] if old else []


def _between(before, now):
    """One GPU's facts: what held it back for how long or, where samples were counted, for which share of them."""
    samples = _less(now["samples"], before["samples"])
    shares = {}
    for name, counters in LIMITS.items():
        counted = [_less(now["limits"].get(counter), before["limits"].get(counter)) for counter in counters]
        counted = [n for n in counted if n is not None]
        # Several may hold at once: the one that held most often.
        shares[name] = max(counted) / samples if samples and counted else None
    wall_ns, held_ns = now["at_ns"] - before["at_ns"], {}
    for name in LIMITS:
        held = _less(now["held_ns"].get(name), before["held_ns"].get(name))
        # The counter may have been read a moment later than the clock.
        held_ns[name] = None if held is None else min(held, wall_ns)
    kept = ("device", "name", "max_clock_hz", "memory_clock_hz", "celsius", "power_w", "power_limit_w")
    return {
        **{name: now[name] for name in kept},
        "wall_ns": wall_ns,
        "clock_hz": [before["clock_hz"], now["clock_hz"]],
        "energy_j": _less(now["energy_j"], before["energy_j"]),
        "reasons": sorted(set(before["reasons"] + now["reasons"])),
        "held_ns": held_ns,
        "held_share": shares,
    }


def _less(now, before):
    return None if None in (now, before) else now - before


def _facts(device, bus, **known):
    """A GPU's facts, None but for those known."""
    names = "name clock_hz max_clock_hz memory_clock_hz celsius power_w power_limit_w energy_j samples"
    found = {**dict.fromkeys(names.split()), "reasons": [], "held_ns": {}, "limits": {}}
    return {**found, "device": device, "bus": bus, "at_ns": now_ns(), **known}


def _loaded(name):
    """A library that this process has loaded already; raises OSError where it has not."""
    return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)


def _number(call, kind, *arguments):
    """The number that a function of C writes behind its last argument; None where it fails or is missing."""
    value = kind()
    with suppress(AttributeError):
        return None if call()(*arguments, ctypes.byref(value)) else value.value
    return None


def _nvidia():
    """GPUs whose primary context this process has: that is where every framework computes."""
    cuda = _loaded("libcuda.so.1")
    bus, handle, flags, active = ctypes.create_string_buffer(32), ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_int()
    devices = []
    for device in range(_number(lambda: cuda.cuDeviceGetCount, ctypes.c_int) or 0):
        state = cuda.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active))
        if not state and active.value and not cuda.cuDeviceGetPCIBusId(bus, len(bus), device):
            devices.append((device, bus.value))
    if not devices:
        return []
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    if nvml.nvmlInit_v2():
        return []
    try:
        found = []
        for device, place in devices:
            if not nvml.nvmlDeviceGetHandleByPciBusId_v2(place, ctypes.byref(handle)):
                found.append(_facts(device, place.decode(), **_asked(nvml, handle)))
        return found
    finally:
        nvml.nvmlShutdown()


class _Violation(ctypes.Structure):
    _fields_ = [("reference_us", ctypes.c_ulonglong), ("held_ns", ctypes.c_ulonglong)]


def _asked(nvml, handle):
    """Return what NVML tells of a GPU."""

    def ask(name, *arguments, kind=ctypes.c_uint, unit=1):
        value = _number(lambda: getattr(nvml, "nvmlDeviceGet" + name), kind, handle, *arguments)
        return None if value is None else value * unit

    name, held = ctypes.create_string_buffer(96), {}
    for fact, policy in POLICIES.items():
        told = _Violation()
        failed = nvml.nvmlDeviceGetViolationStatus(handle, policy, ctypes.byref(told))
        held[fact] = None if failed else told.held_ns
    bits = ask("CurrentClocksEventReasons", kind=ctypes.c_ulonglong)
    if bits is None:
        # Its name before driver 535.
        bits = ask("CurrentClocksThrottleReasons", kind=ctypes.c_ulonglong)
    return {
        "name": None if nvml.nvmlDeviceGetName(handle, name, len(name)) else name.value.decode("utf-8", "replace"),
        "clock_hz": ask("ClockInfo", 1, unit=1000000),
        "max_clock_hz": ask("MaxClockInfo", 1, unit=1000000),
        "memory_clock_hz": ask("ClockInfo", 2, unit=1000000),
        "celsius": ask("Temperature", 0),
        "power_w": ask("PowerUsage", unit=1e-3),
        "power_limit_w": ask("EnforcedPowerLimit", unit=1e-3),
        "energy_j": ask("TotalEnergyConsumption", kind=ctypes.c_ulonglong, unit=1e-3),
        "reasons": [reason for bit, reason in REASONS.items() if (bits or 0) & bit],
        "held_ns": held,
    }


def _amd():
    """The GPU that this thread computes on."""
    lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    path = next((line.split(None, 5)[5] for line in lines if "/libamdhip64.so" in line), None)
    if path is None:
        return []
    hip = _loaded(path)
    device, bus = _number(lambda: hip.hipGetDevice, ctypes.c_int), ctypes.create_string_buffer(32)
    if device is None or hip.hipDeviceGetPCIBusId(bus, len(bus), device):
        return []
    place = bus.value.decode().lower()
    return [_facts(device, place, **_files(place), **_counted(place))]


def _files(place, root="/sys/bus/pci/devices"):
    """Return what the files of AMD's driver tell of a GPU."""
    folder = Path(root, place)

    def read(pattern, unit):
        for path in sorted(folder.glob(pattern)):
            with suppress(OSError, ValueError):
                return int(path.read_text()) * unit
        return None

    clocks = []
    with suppress(OSError, ValueError, IndexError):
        # A line for each level: its number, its clock, and a star at the present one.
        levels = (folder / "pp_dpm_sclk").read_text().splitlines()
        clocks = [int(line.split()[1].lower().replace("mhz", "")) * 1000000 for line in levels]
    power = read("hwmon/hwmon*/power1_average", 1e-6)
    return {
        "clock_hz": read("hwmon/hwmon*/freq1_input", 1),
        "max_clock_hz": max(clocks, default=None),
        "memory_clock_hz": read("hwmon/hwmon*/freq2_input", 1),
        "celsius": read("hwmon/hwmon*/temp2_input", 1e-3),
        "power_w": read("hwmon/hwmon*/power1_input", 1e-6) if power is None else power,
        "power_limit_w": read("hwmon/hwmon*/power1_cap", 1e-6),
    }


def _counted(place):
    """Return what `amdsmi` tells of energy and of limits that held a GPU back; nothing where it cannot be imported."""
    with suppress(Exception):
        import amdsmi

        # It stays as it is afterwards: the program may use it too.
        amdsmi.amdsmi_init()
        handle = amdsmi.amdsmi_get_processor_handle_from_bdf(place)
        told = amdsmi.amdsmi_get_gpu_metrics_info(handle)
        # What is not told is the text "N/A".
        limits = {counter: told.get(counter) for counters in LIMITS.values() for counter in counters}
        energy = amdsmi.amdsmi_get_energy_count(handle)
        samples = told.get("accumulation_counter")
        return {
            "samples": samples if isinstance(samples, int) else None,
            "limits": {counter: n for counter, n in limits.items() if isinstance(n, int)},
            # In units of the resolution beside it, which is in microjoules.
            "energy_j": energy["energy_accumulator"] * energy["counter_resolution"] * 1e-6,
        }
    return {}
