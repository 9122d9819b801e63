"""`caffe time`: average forward and backward time of every layer, of Caffe and its relatives.

Capture with `caffe time -model net.prototxt -gpu 0 -iterations 50 2> caffe.log`; format: `tools/caffe.cpp` in
https://github.com/BVLC/caffe. Several runs in one file are counted in `layer_times.run`. A convolution has a shape
only where the log has all of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from traceview.decode.files import Peek, Stream
from traceview.ingest.layer_times import LayerLog, LayerTime, ns, whole
from traceview.ingest.sink import Sink

LINES = (
    r"^input: |^input_dim: |^  dim: |^    (?:num_output|group|(?:pad|kernel|stride|dilation)(?:_size|_[hw])?): |"
    r"\] \S+ (?:<-|->) \S+|"
    r"\] Setting up |\] Top shape: |^  name: |^force_backward: true"
)
"""Which lines of a log `Net.see` wants."""
_INPUT = re.compile(r'input: "(.*)"$')
_SIZE = re.compile(r"(?:input_dim|  dim): (\d{1,9})$")
_NAME = re.compile(r'  name: "([^"]*)"$')
_NUMBER = re.compile(r"    (num_output|group|(?:pad|kernel|stride|dilation)(?:_[hw])?)(?:_size)?: (\d{1,9})$")
_FLOW = re.compile(r"\] (\S+) (<-|->) (\S+)")
_SETTING_UP = re.compile(r"\] Setting up (\S+)$")
_TOP = re.compile(r"\] Top shape: ((?:\d{1,9} )+)")


@dataclass
class Net:
    """A net as far as its log was read."""

    sizes: dict[str, list[str]] = field(default_factory=dict)
    """Dimensions by blob."""
    numbers: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """By layer: what its convolution_param (or another one) says, which may be a number for each dimension."""
    bottoms: dict[str, str] = field(default_factory=dict)
    tops: dict[str, list[str]] = field(default_factory=dict)
    is_forced: bool = False
    """Whether gradients of the input are computed too."""
    _input: str = ""
    _layer: str = ""
    _unsized: list[str] = field(default_factory=list)

    def see(self, line: str) -> None:
        """Keep what a line says."""
        if found := _INPUT.match(line):
            self._input = found[1]
        elif found := _SIZE.match(line):
            self.sizes.setdefault(self._input, []).append(found[1])
        elif line.startswith("force_backward: true"):
            self.is_forced = True
        elif found := _NAME.match(line):
            self._layer = found[1]
        elif found := _NUMBER.match(line):
            self.numbers.setdefault(self._layer, {}).setdefault(found[1], []).append(found[2])
        elif found := _FLOW.search(line):
            if found[2] == "<-":
                self.bottoms.setdefault(found[1], found[3])
            else:
                self.tops.setdefault(found[1], []).append(found[3])
        elif found := _SETTING_UP.search(line):
            self._unsized = list(reversed(self.tops.get(found[1], [])))
        elif (found := _TOP.search(line)) and self._unsized:
            self.sizes[self._unsized.pop()] = found[1].split()

    def is_without_dgrad(self, layer: str) -> bool:
        """Whether the backward pass of a layer is its filter's gradient alone: it reads what the net is given."""
        bottom = self.bottoms.get(layer)
        given = {self._input, *(top for name, tops in self.tops.items() if name not in self.bottoms for top in tops)}
        return bottom in given and not self.is_forced

    def shape(self, layer: str) -> str | None:
        """A convolution as traceview writes layers (`64x3x227x227 k96 11x11 s4`); None where something is missing, or
        does not give the output that the log tells."""
        said = self.numbers.get(layer, {})
        sizes = self.sizes.get(self.bottoms.get(layer, ""), [])
        output = self.sizes.get(next(iter(self.tops.get(layer, [])), ""), [])
        names = ("kernel", "stride", "pad", "dilation", "group")
        found = [said.get(name) or said.get(f"{name}_h", []) + said.get(f"{name}_w", []) for name in names]
        pairs = [[int((each or usual)[end]) for end in (0, -1)] for each, usual in zip(found, "01011", strict=True)]
        reached = [
            str((int(size) + 2 * pad - dilation * (k - 1) - 1) // max(stride, 1) + 1)
            for size, k, stride, pad, dilation, _ in zip(sizes[2:], *pairs, strict=False)
        ]
        if len(sizes) != 4 or not found[0] or said.get("num_output", []) + reached != output[1:]:
            return None
        rest = [
            f" {name[0]}{'x'.join(each[: len(set(each))])}" for name, each in zip(names, found, strict=True) if each
        ]
        return f"{'x'.join(sizes)} k{output[1]} {pairs[0][0]}x{pairs[0][1]}{''.join(rest[1:])}"


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
    + LINES
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
    net = Net()
    for line in log.lines(_LINES):
        net.see(line)
        if "Initializing net" in line:
            log.run, network, n, types = log.run + 1, None, None, {}
            net = Net()
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
