"""OpenCV's timing of the layers of a network, run by run, as `collectors/opencv_dnn.py` writes it.

Capture with `traceview collect` around a program that runs a network with OpenCV 4 (Caffe's models among others); the
lines are described in that script, the times are those of `cv2.dnn.Net.getPerfProfile`. Runs that are not warm-up (as
the view `step_times` has it) are averaged. A layer without any time was fused or did nothing, and is kept.
"""

from __future__ import annotations

import re
import statistics
from itertools import takewhile

from traceview.decode.files import Peek, Stream
from traceview.ingest.layer_times import LayerLog, LayerTime
from traceview.ingest.sink import Sink

NAME = "opencv_dnn"
TITLE = "OpenCV's timing of layers"
HOW = "traceview collect, around a program that runs a network with OpenCV 4"

_MARK = b"traceview-opencv\tstep\t"
_STEP = re.compile(r"^traceview-opencv\tstep\t(\d{1,9})\t(\d{1,18}|1\d{18})\t(\d{1,18}|1\d{18})$", re.ASCII)
_LAYER = re.compile(r"^traceview-opencv\tlayer\t(\d{1,9})\t([^\t]*)\t([^\t]*)\t(\d{1,15})$", re.ASCII)


def sniff(peek: Peek) -> bool:
    """The collector's first line."""
    return peek.head.startswith(_MARK)


def read(stream: Stream, sink: Sink) -> None:
    """Keep the average of every layer, and the steps."""
    log = LayerLog(stream, sink)
    times: dict[tuple[str, str], list[tuple[str, int]]] = {}
    steps: list[tuple[str, int, int]] = []
    n_read = n_used = 0
    for line in log.lines("."):
        n_read += 1
        if step := _STEP.match(line):
            steps.append((step[1], int(step[2]), max(int(step[3]) - int(step[2]), 0)))
        elif layer := _LAYER.match(line):
            times.setdefault((layer[2], layer[3]), []).append((layer[1], int(layer[4])))
        else:
            continue
        n_used += 1
    usual_ns = statistics.median(ns for *_, ns in steps) if steps else 0
    warmup = {name for name, *_ in takewhile(lambda step: step[2] > 1.5 * usual_ns, steps)}
    for (name, kind), every in times.items():
        found = [ns for step, ns in every if step not in warmup] or [ns for _, ns in every]
        mean = round(statistics.fmean(found))
        deviation = round(statistics.pstdev(found))
        impl = None if any(found) else "fused, or nothing to do"
        log.add(LayerTime(mean, "forward", name, len(found), kind, impl, deviation_ns=deviation))
    log.close()
    sink.facts.update(n_events=n_read, n_kept=n_used, n_dropped=n_read - n_used)
    if n_used < n_read:
        sink.problem("lines that are cut or damaged", n_read - n_used)
    log.add_steps(steps)
    sink.fact(tool="OpenCV dnn", framework="OpenCV")
