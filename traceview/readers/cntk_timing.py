"""CNTK's node timing: average forward and backward time of every node of the network.

Capture with `cntk.debugging.debug.set_node_timing(True)` before training and `trainer.print_node_timing()` after it,
which prints to stderr; format: `ComputationNetworkEvaluation.cpp` in https://github.com/microsoft/CNTK. Times are
seconds with six decimals. A node that comes again begins another run. `collectors/cntk_timing.py` puts lines of its own
before them: the recorded steps, the only times with a place, and the layers that nodes belong to.
"""

from __future__ import annotations

import re

from traceview.decode.files import Peek, Stream
from traceview.ingest.layer_times import LayerLog, LayerTime, ns, whole
from traceview.ingest.sink import Sink

NAME = "cntk_timing"
TITLE = "CNTK node timing"
HOW = "traceview collect, or cntk.debugging.debug.set_node_timing(True); trainer.print_node_timing()"

_NODE = re.compile(
    r"^(?:\d\d/\d\d/\d{4} [\d:]{8}: )?\s*(.*?\S)\s+forward avg (\S+)s, backward avg (\S+)s \(fwd# (\d+)\|bwd# (\d+)\)"
)
_LINES = r"forward avg \S+s, backward avg \S+s \(fwd# \d+\|bwd# \d+\)"
_STEP = re.compile(r"^traceview-cntk\tstep\t(\d{1,9})\t(\d{1,19})\t(\d{1,19})$", re.ASCII)
_LAYER = re.compile(r"^traceview-cntk\tlayer\t([^\t]+)\t([^\t]+)$")
_OURS = "^traceview-cntk\t"


def sniff(peek: Peek) -> bool:
    """A line as CNTK prints it for a node, or one of the collector's."""
    return bool(re.search(_LINES.encode(), peek.head)) or peek.head.startswith(b"traceview-cntk\t")


def read(stream: Stream, sink: Sink) -> None:
    """Keep one row per node and direction that ran, and the steps."""
    log = LayerLog(stream, sink, run=1)
    seen: set[str] = set()
    layers: dict[str, str] = {}
    steps = []
    for line in log.lines(f"{_LINES}|{_OURS}"):
        if step := _STEP.match(line):
            steps.append((step[1], int(step[2]), int(step[3])))
        elif layer := _LAYER.match(line):
            layers[layer[1]] = layer[2]
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
                log.add(LayerTime(ns(average, "s"), direction, layers.get(node, node), n, kind))
    log.close()
    whole_steps = [(name, start, end - start) for name, start, end in steps if start <= end < 1 << 63]
    log.add_steps(whole_steps)
    sink.account(len(steps), len(whole_steps), "steps that end before they begin")
    sink.fact(tool="CNTK node timing", framework="CNTK")
