"""Logs of the convnet-benchmarks: Torch 7's per layer and pass, fbfft's tuner, TensorFlow's per network.

Capture as https://github.com/soumith/convnet-benchmarks does (`th benchmark.lua`, `python benchmark_alexnet.py`).
Torch prints milliseconds per call without their unit; `:Forward:` repeats `:updateOutput():` and is passed over.
TensorFlow's script sums one step fewer than it divides by, so its means are one per cent low; they are kept as printed.
"""

from __future__ import annotations

import re
from dataclasses import replace

from traceview.decode.files import Peek, Stream
from traceview.ingest.layer_times import LayerLog, LayerTime, ns, whole
from traceview.ingest.sink import Sink

NAME = "convnet_benchmarks"
TITLE = "convnet-benchmarks log (Torch 7, fbfft tuner, TensorFlow)"
HOW = "th benchmark.lua, or python benchmark_alexnet.py, of github.com/soumith/convnet-benchmarks"

_PASSES = {
    "updateOutput": "forward",
    "updateGradInput": "backward_data",
    "accGradParameters": "backward_filter",
    "Backward": "backward",
    "TOTAL": "forward_backward",
}
_TORCH = re.compile(r"^(\S+)\s+:(\w+)(?:\(\))?:\s+([\d.]+)\s*$")
_CONFIG = re.compile(r"^CONFIG: (.*\S)")
_SHAPE = re.compile(
    r"input = (?P<c>\d+)x(?P<h>\d+)x(?P<w>\d+) \* ker = \d+x(?P<k>\d+)x(?P<size>\d+x\d+) "
    r"\(bs = (?P<n>\d+), stride = (?P<s>\d+)\)"
)
_TUNED_SHAPE = re.compile(
    r"= (?P<n>\d+)x(?P<c>\d+)x(?P<k>\d+) \(input rows x cols\) = (?P<h>\d+)x(?P<w>\d+) "
    r"\(filter rows x cols\) = (?P<size>\d+x\d+)"
)
_MODEL = re.compile(r"^ModelType: (\S.*?)\s+Kernels: \S+\s+Input shape: (\S+)")
_EXPLORE = re.compile(r"START exploring FFT perf for pass = (\w+)")
_TUNED = re.compile(
    r"Found best (cufft|fbfft) result\s+Buffer=(\S+) strategy = \(.*?\) (\(b x p x f\).*?) \(common .*time = ([\d.]+)ms"
)
_MEAN = re.compile(r": (Forward|Forward-backward) across (\d+) steps, (\S+) \+/- (\S+) sec / batch")
_STEP = re.compile(r": step \d+, duration = (\S+)$")
_DEVICE = re.compile(r"^(?:Running on device|name): (.*\S)")
_LINES = (
    r":(?:updateOutput|updateGradInput|accGradParameters)\(\):|:(?:Backward|TOTAL):|^CONFIG: |^ModelType: |"
    r"FFT perf for pass|Found best (?:cufft|fbfft) result|across \d+ steps, |: step \d+, duration = |"
    r"^(?:Running on device|name): "
)


def sniff(peek: Peek) -> bool:
    """A pass as Torch prints it, or a mean as TensorFlow's benchmark prints it."""
    torch = rb"(?m)^\S+ +:(?:updateOutput|updateGradInput|accGradParameters)\(\): +[\d.]+\s*$"
    return bool(re.search(torch, peek.head) or re.search(rb": Forward(?:-backward)? across \d+ steps, ", peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Keep one row per layer (or network), implementation and pass."""
    log = LayerLog(stream, sink, run=1)
    network: str | None = None
    config: str | None = None
    tuned_pass = ""
    device = None
    for line in log.lines(_LINES):
        if found := _CONFIG.match(line):
            config = found[1]
        elif found := _MODEL.match(line):
            network = f"{found[1]} {found[2]}"
        elif found := _EXPLORE.search(line):
            tuned_pass = found[1]
        elif found := _TUNED.search(line):
            direction = _PASSES.get(tuned_pass)
            time = ns(found[4], "ms")
            what = "SpatialConvolutionCuFFT"
            shape = _shape(_TUNED_SHAPE.search(found[3]))
            log.add(
                LayerTime(time, direction, found[3], None, what, found[1], network, workspace=found[2], shape=shape)
            )
        elif (found := _TORCH.match(line)) and found[2] in _PASSES:
            kind = found[1].rpartition(".")[2] if config else None
            shape = _shape(_SHAPE.search(config)) if config else None
            row = LayerTime(ns(found[3], "ms"), _PASSES[found[2]], config, type=kind, impl=found[1], network=network)
            log.add(replace(row, shape=shape))
        elif found := _MEAN.search(line):
            direction = found[1].lower().replace("-", "_")
            log.add(LayerTime(ns(found[3], "s"), direction, n=whole(found[2]), deviation_ns=ns(found[4], "s")))
        elif found := _STEP.search(line):
            log.add(LayerTime(ns(found[1], "s"), None, n=1), "iteration")
        elif found := _DEVICE.match(line):
            device = found[1]
    log.close()
    if device:
        sink.write_rows("devices", [{"device": 0, "name": device, "kind": "gpu"}])
    sink.fact(tool="convnet-benchmarks")


def _shape(found: re.Match[str] | None) -> str | None:
    """As traceview writes layers; the tuner's images have their padding already, and its stride is 1."""
    if not found:
        return None
    said = {"s": "1", **found.groupdict()}
    return "{n}x{c}x{h}x{w} k{k} {size} s{s}".format(**said)
