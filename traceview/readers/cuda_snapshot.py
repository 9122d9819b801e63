"""Memory snapshots of PyTorch's CUDA allocator, a pickle: blocks and segments, and the history of allocations.

Capture with `torch.cuda.memory._record_memory_history()`, then `torch.cuda.memory._dump_snapshot(path)`. Format:
https://docs.pytorch.org/docs/stable/torch_cuda_memory.html. Invariant: a pickle is a program, so this one may only make
dictionaries, lists, tuples, texts and numbers: whatever it imports or calls is refused, its memory
and time are limited.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pyarrow as pa

from traceview.decode import plain_pickle
from traceview.decode.files import Peek, Stream
from traceview.errors import InputError
from traceview.ingest.sink import LATEST_NS, Sink

NAME = "cuda_snapshot"
TITLE = "PyTorch CUDA memory snapshot (pickle)"
HOW = "torch.cuda.memory._record_memory_history(); ...; torch.cuda.memory._dump_snapshot(path)"

MOST_BYTES = 1 << 30
MOST_DEVICES = 128
"""More than PyTorch can be built for."""
MOST_FRAMES = 12
"""Frames of Python that are kept of a stack, innermost first."""
LARGEST = 1 << 50
IDS = 4
"""Numbers of an event: its two samples come first, then the allocation."""


def sniff(peek: Peek) -> bool:
    """A pickle that begins with the keys of a snapshot."""
    return peek.head[:1] == b"\x80" and b"segments" in peek.head[:64] and b"total_size" in peek.head


def read(stream: Stream, sink: Sink) -> None:
    """Fill allocations and counters of each device."""
    found = _loaded(stream)
    traces = [_dicts(trace) for trace in _lists(found.get("device_traces"))]
    segments = _dicts(found.get("segments"))
    del found
    found_at = (_whole(event.get("time_us"), LATEST_NS // 1000) for trace in traces for event in trace)
    times = [at for at in found_at if at is not None]
    bounds = (min(times) * 1000, max(times) * 1000) if times else None
    del times
    devices: dict[int, tuple[list[Any], list[Any]]] = {
        device: ([], trace) for device, trace in enumerate(traces[:MOST_DEVICES]) if trace
    }
    n_lost = sum(map(len, traces[MOST_DEVICES:]))
    for segment in segments:
        device = _whole(segment.get("device", 0))
        if device is None or device >= MOST_DEVICES:
            n_lost += 1
        else:
            devices.setdefault(device, ([], []))[0].append(segment)
    frames: dict[int, str] = {}
    for device, (held, trace) in sorted(devices.items()):
        _Device(sink, device, bounds, frames).add(trace, held)
    sink.account(n_lost, 0, "segments and events without a readable number of their device")
    sink.write_rows("devices", [{"device": device, "kind": "gpu"} for device in sorted(devices)])
    if bounds:
        sink.zero_unix_ns = 0
    else:
        sink.fact(clock="order of the events: the snapshot has no times")
    sink.fact(tool="torch.cuda.memory", framework="PyTorch")


def _loaded(stream: Stream) -> dict[str, Any]:
    data = b"".join(stream)
    if len(data) > MOST_BYTES:
        raise InputError(f"{stream.path.name} is a snapshot of more than {MOST_BYTES >> 30} GiB: record fewer events.")
    try:
        found = plain_pickle.load(data)
    except ValueError as error:
        raise InputError(f"{stream.path.name} cannot be read as a memory snapshot ({error}).") from error
    if not isinstance(found, dict):
        raise InputError(f"{stream.path.name} is not a memory snapshot: it holds no dictionary.")
    blocks = [segment.get("blocks") for segment in _dicts(found.get("segments"))]
    # Each takes a byte at least, unless one list stands for many.
    if sum(len(_lists(it)) for it in [*_lists(found.get("device_traces")), *blocks]) > len(data):
        raise InputError(f"{stream.path.name} cannot be read as a memory snapshot (it has more events than bytes).")
    return found


NUMBERS = ("id", "stream", "address", "size_bytes", "allocated_ns", "freed_ns", "freed_id")


class _Device:
    """Rows of one device in the making, as columns: there may be millions. Below zero stands for NULL.

    `bounds`: first and last time of any device, where there are times.
    `frames`: text of each frame by its identity, and of each list of frames by its negative.
    """

    def __init__(self, sink: Sink, device: int, bounds: tuple[int, int] | None, frames: dict[int, str]) -> None:
        self.sink, self.device, self.bounds, self.frames = sink, device, bounds, frames
        self.columns = {name: array("q") for name in NUMBERS}
        self.stacks = array("i")
        self.texts: dict[str, int] = {}

    def add(self, trace: list[dict[str, Any]], segments: list[dict[str, Any]]) -> None:
        """Pair allocations with releases, then add what was there before, and samples of both totals."""
        sizes, freed_ns, freed_id = (self.columns[name] for name in ("size_bytes", "freed_ns", "freed_id"))
        live: dict[int, int] = {}
        times, allocated, reserved = array("q"), array("q"), array("q")
        first, dropped, failed, n_failed = self.sink.next_id, 0, None, 0
        for place, event in enumerate(trace):
            number, time_us = first + IDS * place + 2, _whole(event.get("time_us"), LATEST_NS // 1000)
            at_ns = place if not self.bounds else None if time_us is None else time_us * 1000
            address, size, action = _whole(event.get("addr")), _whole(event.get("size")), event.get("action")
            moved = [0, 0]
            if at_ns is None or size is None or (address is None and action != "oom"):
                dropped += 1
                at_ns = times[-1] if times else (self.bounds or (0,))[0]
            elif address is None or action == "oom":
                failed = failed or (size, _whole(event.get("device_free")))
                n_failed += 1
            elif action == "alloc":
                stale = live.pop(address, None)
                if stale is not None:
                    freed_ns[stale], freed_id[stale] = at_ns, number
                live[address] = self._row(number, address, size, event, at_ns)
                moved[0] = size - (0 if stale is None else sizes[stale])
            elif action in ("free", "free_requested", "free_completed"):
                row = live.pop(address, None)
                # Memory is released once: completed is when other streams are done with it.
                if row is None and action != "free_completed":
                    row = self._row(number, address, size, {}, -1)
                if row is not None:
                    freed_ns[row], freed_id[row] = at_ns, number
                    moved[0] = -sizes[row]
            elif action in ("segment_alloc", "segment_map"):
                moved[1] = size
            elif action in ("segment_free", "segment_unmap"):
                moved[1] = -size
            times.append(at_ns)
            allocated.append(moved[0])
            reserved.append(moved[1])
        if failed:
            left = "" if failed[1] is None else f", where {failed[1]:,} were free"
            more = f"; so did {n_failed - 1:,} more" if n_failed > 1 else ""
            said = f"an allocation of {failed[0]:,} bytes failed on device {self.device}"
            self.sink.warnings.append(f"{said}{left}{more}")
        n_events = len(trace)
        # Objects of millions of events make room for tables.
        trace.clear()
        self.sink.next_id = first + IDS * (n_events + 1)
        free = [0]
        for block in (block for segment in segments for block in _dicts(segment.get("blocks"))):
            address, size = _whole(block.get("address")), _whole(block.get("requested_size", block.get("size")))
            if block.get("state") == "inactive":
                free.append(_whole(block.get("size")) or 0)
            elif block.get("state") == "active_allocated" and address is not None and size and address not in live:
                self._row(self.sink.next_id, address, size, block, -1)
                self.sink.next_id += IDS
        self._write_rows()
        before = np.asarray(sizes)[np.asarray(self.columns["allocated_ns"]) < 0].sum(dtype=np.float64)
        held = float(sum(_whole(segment.get("total_size")) or 0 for segment in segments))
        taken, mapped = (np.cumsum(np.asarray(moves), dtype=np.float64) for moves in (allocated, reserved))
        self._write_samples(first, times, "allocated_bytes", before + taken)
        self._write_samples(first + 1, times, "reserved_bytes", held - mapped[-1:].sum() + mapped)
        self._write_samples(
            first + IDS * n_events,
            times[-1:] or array("q", [(self.bounds or (0,))[-1]]),
            "largest_free_bytes",
            [max(free)],
        )
        self.sink.count("n_events", n_events + len(segments))
        self.sink.count("n_kept", n_events + len(segments) - dropped)
        if dropped:
            self.sink.count("n_dropped", dropped)
            self.sink.problem("events of the allocator without a readable address, size or time", dropped)

    def _row(self, number: int, address: int, size: int, event: dict[str, Any], at_ns: int) -> int:
        """Add a row and return its place."""
        stream = _whole(event.get("stream"))
        values = (number, -1 if stream is None else stream, address, size, at_ns, -1, -1)
        for column, value in zip(self.columns.values(), values, strict=True):
            column.append(value)
        stack = self._stack(event.get("frames"))
        self.stacks.append(self.texts.setdefault(stack, len(self.texts)) if stack else -1)
        return len(self.stacks) - 1

    def _stack(self, frames: Any) -> str:
        """The innermost frames of Python."""
        if (text := self.frames.get(~id(frames))) is not None:
            return text
        lines = []
        for frame in frames if isinstance(frames, list) else ():
            text = self.frames.get(id(frame))
            if text is None:
                text = self.frames[id(frame)] = _frame(frame)
            if text:
                lines.append(text)
                if len(lines) == MOST_FRAMES:
                    break
        text = self.frames[~id(frames)] = "\n".join(lines)
        return text

    def _write_rows(self) -> None:
        count = len(self.stacks)
        if count:
            stacks, texts = np.asarray(self.stacks), pa.array(list(self.texts), pa.string())
            columns = {name: _nullable(np.asarray(values)) for name, values in self.columns.items()}
            columns["device"] = pa.repeat(self.device, count)
            columns["how"] = pa.repeat("recorded", count)
            columns["call_stack"] = pa.DictionaryArray.from_arrays(_nullable(stacks), texts)
            self.sink.write("allocations", pa.table(columns))

    def _write_samples(self, first: int, times: array[int], name: str, values: Any) -> None:
        if count := len(times):
            columns = {"id": first + IDS * np.arange(count), "start_ns": np.asarray(times)}
            columns |= {"device": pa.repeat(self.device, count), "name": pa.repeat(name, count)}
            self.sink.write("counters", pa.table({**columns, "value": np.asarray(values, np.float64)}))


def _nullable(values: Any) -> pa.Array:
    return pa.array(values, mask=values < 0)


def _frame(frame: Any) -> str:
    """A frame of Python as text; nothing for those of C++."""
    file, name = (frame.get("filename"), frame.get("name")) if isinstance(frame, dict) else (None, None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return ""
    text = f"{file[:500]}:{_whole(frame.get('line')) or 0} {name[:500] if isinstance(name, str) else ''}"
    return text[:500].replace("\n", " ").encode("utf-8", "replace").decode()


def _lists(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [it for it in _lists(value) if isinstance(it, dict)]


def _whole(value: Any, end: int = LARGEST) -> int | None:
    return value if type(value) is int and 0 <= value < end else None
