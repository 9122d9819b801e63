"""`caffe time`: average forward and backward time of every layer, of Caffe and its relatives.

Capture with `caffe time -model net.prototxt -gpu 0 -iterations 50 2> caffe.log`; format: `tools/caffe.cpp` in
https://github.com/BVLC/caffe. Several runs in one file are counted in `layer_times.run`.
"""

from __future__ import annotations

import re

from traceview.decode import caffe_net
from traceview.decode.files import Peek, Stream
from traceview.ingest.layer_times import LayerLog, LayerTime, ns, whole
from traceview.ingest.sink import Sink

NAME = "caffe_time"
TITLE = "caffe time log"
HOW = "caffe time -model net.prototxt -gpu 0 2> caffe.log"

_BEGIN = re.compile(rb"caffe\w*\.cpp:\d+\] (?:\*\*\* Benchmark begins|Average time per layer|Performing Forward)")
_LAYER = re.compile(r"\]\s+(.+)\t(forward|backward): (\S+) ms")
_TOTAL = re.compile(r"\] Average (Forward|Backward|Forward-Backward)(?: pass)?: (\S+) ms")
_ITERATION = re.compile(r"\] Iteration: \d+ forward-backward time: (\S+) ms")
_TIMES = re.compile(r"\] Testing for (\d+) iterations")
_NETWORK = re.compile(r'name: "(.*)"')
_DEFINED = re.compile(r'  (name|type): "?([^"]*)"?$')
_LINES = (
    r"\t(?:forward|backward): |\] Average |\] Iteration: |\] Testing for |Initializing net|^name: |^  (?:name|type): |"
    + caffe_net.LINES
)


def sniff(peek: Peek) -> bool:
    """Lines of Caffe's log from inside its benchmark."""
    return bool(_BEGIN.search(peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Keep the averages per layer and of the whole network, and the time of every iteration."""
    log = LayerLog(stream, sink)
    network: str | None = None
    layer, n = "", None
    types: dict[str, str] = {}
    net = caffe_net.Net()
    for line in log.lines(_LINES):
        net.see(line)
        if "Initializing net" in line:
            log.run, network, n, types = log.run + 1, None, None, {}
            net = caffe_net.Net()
        elif found := _NETWORK.match(line):
            network = found[1]
        elif found := _DEFINED.match(line):
            if found[1] == "name":
                layer = found[2]
            else:
                types.setdefault(layer, found[2])
        elif found := _TIMES.search(line):
            n = whole(found[1])
        elif found := _LAYER.search(line):
            kind = types.get(found[1])
            shape, way = None, found[2]
            if kind == "Convolution":
                shape = net.shape(found[1])
                way = "backward_filter" if way == "backward" and net.is_without_dgrad(found[1]) else way
            log.add(LayerTime(ns(found[3], "ms"), way, found[1], n, kind, network=network, shape=shape))
        elif found := _TOTAL.search(line):
            direction = found[1].lower().replace("-", "_")
            log.add(LayerTime(ns(found[2], "ms"), direction, n=n, network=network))
        elif found := _ITERATION.search(line):
            log.add(LayerTime(ns(found[1], "ms"), "forward_backward", n=1, network=network), "iteration")
    log.close()
    sink.fact(tool="caffe time", framework="Caffe")
