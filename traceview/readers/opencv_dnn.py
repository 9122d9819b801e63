"""OpenCV's timing of the layers of a network, run by run, as `collectors/opencv_dnn.py` writes it.

Capture with `traceview collect` around a program that runs a network with OpenCV 4 (Caffe's models among others); the
lines are described in that script, the times are those of `cv2.dnn.Net.getPerfProfile`. Here the runs are averaged: the
order of layers in time is not recorded. A layer without any time was fused or did nothing, and is kept.
"""

from __future__ import annotations

import re
import statistics

from traceview.decode.files import Peek, Stream
from traceview.ingest.layer_times import LayerLog, LayerTime
from traceview.ingest.sink import Sink

NAME = "opencv_dnn"
TITLE = "OpenCV's timing of layers"
HOW = "traceview collect, around a program that runs a network with OpenCV 4"

_MARK = b"traceview-opencv\tstep\t"
_STEP = re.compile(r"^traceview-opencv\tstep\t(\d{1,9})\t(\d{1,18}|1\d{18})\t(\d{1,18}|1\d{18})$", re.ASCII)
_LAYER = re.compile(r"^traceview-opencv\tlayer\t\d{1,9}\t([^\t]*)\t([^\t]*)\t(\d{1,15})$", re.ASCII)


def sniff(peek: Peek) -> bool:
    """The collector's first line."""
    return peek.head.startswith(_MARK)


def read(stream: Stream, sink: Sink) -> None:
    """Keep the average of every layer, and the steps."""
    log = LayerLog(stream, sink)
    times: dict[tuple[str, str], list[int]] = {}
    steps = []
    n_read = n_used = 0
    for line in log.lines("."):
        n_read += 1
        if step := _STEP.match(line):
            start, end = int(step[2]), int(step[3])
            steps.append({"kind": "step", "name": step[1], "start_ns": start, "dur_ns": max(end - start, 0)})
        elif layer := _LAYER.match(line):
            times.setdefault((layer[1], layer[2]), []).append(int(layer[3]))
        else:
            continue
        n_used += 1
    for (name, kind), found in times.items():
        mean = round(statistics.fmean(found))
        deviation = round(statistics.pstdev(found))
        impl = None if any(found) else "fused, or nothing to do"
        log.add(LayerTime(mean, "forward", name, len(found), kind, impl, deviation_ns=deviation))
    log.close()
    sink.facts.update(n_events=n_read, n_kept=n_used, n_dropped=n_read - n_used)
    if n_used < n_read:
        sink.problem("lines that are cut or damaged", n_read - n_used)
    sink.write_rows("ranges", steps)
    if steps:
        sink.zero_unix_ns = 0
        sink.fact(clock="wall clock of the steps; average times have no place in time")
    sink.fact(tool="OpenCV dnn", framework="OpenCV")
