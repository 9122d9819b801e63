"""Perfetto's own format, protobuf packets: recognised, and answered with how to get JSON out of it.

Written by Chrome, Android and the Perfetto SDK, and by rocprofv3 (`--output-format pftrace`). Format:
https://perfetto.dev/docs/reference/trace-packet-proto. A trace of packets needs Perfetto's clocks, its
strings and incremental state to be read right, so `traceconv` does it, and what it writes is read as Chrome trace JSON.
"""

from __future__ import annotations

import numpy as np

from traceview.decode.files import Peek, Stream
from traceview.decode.protobuf import Wire
from traceview.errors import InputError
from traceview.ingest.sink import Sink

NAME = "perfetto"
TITLE = "Perfetto protobuf (only recognised: convert it with traceconv json)"
HOW = "traceconv json TRACE OUT.json (https://get.perfetto.dev/traceconv), then read OUT.json"

PACKET = 1
TELLTALE = {6: "clock snapshot", 10: "sequence id", 33: "trace config", 36: "synchronization marker", 60: "track"}
"""Fields of a packet that every trace has some of, and XPlane's planes have not."""
FIRST = 8
"""Packets that are looked at."""


def sniff(peek: Peek) -> bool:
    """Nothing but packets at the top, and among the first ones fields that only Perfetto has."""
    if peek.head[:1] != b"\x0a":
        return False
    wire = Wire(peek.head[: 1 << 16])
    top = wire.fields(np.array([0]), np.array([wire.size]), clip=True)
    if not len(top.number) or (top.number != PACKET).any():
        return False
    _, starts, ends = top.spans(PACKET)
    whole = slice(0, min(FIRST, max(1, len(starts) - top.n_damaged)))
    packets = wire.fields(starts[whole], ends[whole], clip=True)
    return len(set(packets.number.tolist()) & set(TELLTALE)) >= 2


def read(stream: Stream, sink: Sink) -> None:
    """Raises `InputError` with the command that makes a file that can be read."""
    raise InputError(
        f"{stream.path.name} is a Perfetto trace in protobuf. Run `traceconv json {stream.path.name} trace.json` "
        "(https://get.perfetto.dev/traceconv) and read trace.json."
    )
