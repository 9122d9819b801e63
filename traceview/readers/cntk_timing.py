"""CNTK's node timing: average forward and backward time of every node of the network.

Capture with `cntk.debugging.debug.set_node_timing(True)` before training and `trainer.print_node_timing()` after it,
which prints to stderr; format: `ComputationNetworkEvaluation.cpp` in https://github.com/microsoft/CNTK. Times are
seconds with six decimals. A node that comes again begins another run.
"""

from __future__ import annotations

import re

from traceview.files import Peek, Stream
from traceview.layerlog import LayerLog, LayerTime, ns, whole
from traceview.sink import Sink

NAME = "cntk_timing"
TITLE = "CNTK node timing"
HOW = "cntk.debugging.debug.set_node_timing(True); trainer.print_node_timing()"

_NODE = re.compile(
    r"^(?:\d\d/\d\d/\d{4} [\d:]{8}: )?\s*(.*?\S)\s+forward avg (\S+)s, backward avg (\S+)s \(fwd# (\d+)\|bwd# (\d+)\)"
)
_LINES = r"forward avg \S+s, backward avg \S+s \(fwd# \d+\|bwd# \d+\)"


def sniff(peek: Peek) -> bool:
    """A line as CNTK prints it for a node."""
    return bool(re.search(_LINES.encode(), peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Keep one row per node and direction that ran."""
    log = LayerLog(stream, sink, run=1)
    seen: set[str] = set()
    for line in log.lines(_LINES):
        found = _NODE.match(line)
        if not found:
            continue
        node = found[1]
        if node in seen:
            log.run += 1
            seen.clear()
        seen.add(node)
        kind = re.sub(r"[\d_]+$", "", node.split(" ")[0].split(":")[-1]) or node
        for direction, average, count in (("forward", found[2], found[4]), ("backward", found[3], found[5])):
            n = whole(count)
            if n != 0:
                log.add(LayerTime(ns(average, "s"), direction, node, n, kind))
    log.close()
    sink.fact(tool="CNTK node timing", framework="CNTK")
