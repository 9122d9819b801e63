"""Changes of trace events that no answer may notice, and losses that every answer must name.

Used by test_properties.py. Numbers keep their digits: a decimal number is text between two `@` until it is written.
Invariant: a change follows from the trace alone.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

Event = dict[str, Any]
_WRITTEN = re.compile(r'"@(-?[0-9.eE+-]+)@"')
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_KERNELS = {"kernel", "Kernel"}
_ON_DEVICE = {*_KERNELS, "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "Memcpy", "Memset"}


class Raw:
    """A trace as it is written."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        self.whole = json.loads(text, parse_float=lambda digits: f"@{digits}@")
        self.around: Event = self.whole if isinstance(self.whole, dict) else {}
        self.events: list[Event] = self.around["traceEvents"] if self.around else self.whole

    def write(self, path: Path) -> Path:
        """A file of it as it is now."""
        path.write_text(_WRITTEN.sub(r"\1", json.dumps(self.whole)))
        return path

    def add(self, event: Event, key: str, amount: Decimal) -> None:
        """A time of an event is later, or longer, by microseconds, and as exact as before."""
        if isinstance(event.get(key), int | str):
            event[key] = f"@{Decimal(str(event[key]).strip('@')) + amount}@"


def permuted(trace: Raw) -> None:
    """Events are in another order, but for those that begin together: which of them is inside is told by it alone."""
    numbers = list(range(len(trace.events)))
    random.Random(7).shuffle(numbers)
    begins = [(str(event.get("pid")), str(event.get("tid")), str(event.get("ts"))) for event in trace.events]
    together: dict[tuple[str, ...], list[int]] = {}
    for number in range(len(numbers)):
        together.setdefault(begins[number], []).append(number)
    order = [together[begins[number]].pop(0) for number in numbers]
    trace.events[:] = [trace.events[number] for number in order]


def shifted(trace: Raw, nanoseconds: int = 12_345_678_901) -> None:
    """Every clock goes ahead; the zero of a trace that has one goes back, so that it is as late as before."""
    for event in trace.events:
        trace.add(event, "ts", Decimal(nanoseconds) / 1000)
    if "baseTimeNanoseconds" in trace.around:
        trace.around["baseTimeNanoseconds"] -= nanoseconds


def shifted_far(trace: Raw) -> None:
    """By 52 days."""
    shifted(trace, 2**52)


def renamed(trace: Raw) -> None:
    """Processes and threads of the host have other ids, in the other order."""
    host = [event for event in trace.events if event.get("cat") not in (None, *_ON_DEVICE, "Trace")]
    pids = {event.get("pid") for event in host}
    known = pids | {event.get("tid") for event in host}
    numbers = sorted(value for value in known if isinstance(value, int) and not isinstance(value, bool))
    new = {value: 40_000 + at for at, value in enumerate(reversed(numbers))}
    for event in trace.events:
        if event.get("pid") not in pids or event.get("cat") in _ON_DEVICE:
            continue
        for key in ("pid", "tid"):
            if not isinstance(event.get(key), bool):
                event[key] = new.get(event.get(key), event.get(key))


def in_other_units(trace: Raw) -> None:
    """Viewers are to show nanoseconds; that says nothing about the file."""
    trace.around["displayTimeUnit"] = "ns" if trace.around.get("displayTimeUnit") == "ms" else "ms"


UNNOTICED: tuple[Callable[[Raw], None], ...] = (permuted, shifted, shifted_far, renamed, in_other_units)


def overlapping(trace: Raw) -> None:
    """Each kernel ends a nanosecond later."""
    for event in trace.events:
        if event.get("cat") in _KERNELS:
            trace.add(event, "dur", Decimal("0.001"))


def without(trace: Raw, chosen: Callable[[Event], bool], one_in: int = 1) -> int:
    """Some events of a kind are gone; how many."""
    found = [event for event in trace.events if chosen(event)][::one_in]
    gone = {id(event) for event in found}
    trace.events[:] = [event for event in trace.events if id(event) not in gone]
    return len(found)


def is_launch(event: Event) -> bool:
    """It started a kernel."""
    return event.get("cat") in ("cuda_runtime", "cuda_driver", "Runtime") and "aunch" in str(event.get("name"))


def is_kernel(event: Event) -> bool:
    """It is a kernel on a device."""
    return event.get("cat") in _KERNELS


def is_mark(event: Event) -> bool:
    """It is a step that the framework marked."""
    return event.get("cat") not in ("cpu_op", "Operator") and bool(re.match("ProfilerStep", str(event.get("name"))))


def differences(before: Any, after: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every leaf that differs: where it is, and both values."""
    if isinstance(before, dict) and isinstance(after, dict) and list(before) == list(after):
        for key in before:
            yield from differences(before[key], after[key], f"{where}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            name = one.get("name", at) if isinstance(one, dict) else at
            yield from differences(one, other, f"{where}/{name}")
    elif before != after or type(before) is not type(after):
        yield where, before, after


def is_near(before: Any, after: Any, share: float) -> bool:
    """Both are the same, or numbers (also in the same sentence) that differ by at most this share of them; numbers of a
    sentence may differ by one of their last digit too."""
    if isinstance(before, str) and isinstance(after, str):
        numbers = zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=False)
        is_same = _NUMBER.sub("0", before) == _NUMBER.sub("0", after)
        return is_same and all(_is_near_digits(one, other, share) for one, other in numbers)
    if isinstance(before, float) and isinstance(after, float | int):
        return math.isclose(before, after, rel_tol=share)
    if isinstance(before, int) and not isinstance(before, bool) and isinstance(after, int | float) and before > 1000:
        # Ends of events are rounded to whole nanoseconds, so that a shifted clock moves a difference by one.
        return math.isclose(before, after, rel_tol=share, abs_tol=1)
    return type(before) is type(after) and bool(before == after)


def _is_near_digits(before: str, after: str, share: float) -> bool:
    one, other = (Decimal(digits.replace(",", "")) for digits in (before, after))
    last = Decimal(1).scaleb(int(one.as_tuple().exponent))
    return abs(one - other) <= max(last * ("." in before), abs(one) * Decimal(share))
