"""Built-in networks: `models/*.toml`, a layer in each line, and what follows from them: shapes, parameters, FLOP.

A line is `name kind sizes`, with `s` stride, `p` padding, `g` groups, `ceil` for pooling that rounds up, `bn` for batch
normalization in the place of a bias. Blocks of several layers stand in `blocks.toml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from traceview.errors import unknown
from traceview.experiments.algorithms.layers import Layer
from traceview.paths import read_toml

FOLDER = Path(__file__).parent / "models"
BLOCKS = Path(__file__).with_name("blocks.toml")
Shape = tuple[int, int, int]
"""Channels, height, width."""


@dataclass(frozen=True)
class Node:
    """One layer of a network."""

    name: str
    kind: str
    given: Shape
    out: Shape
    parameters: int = 0
    macs: int = 0
    """Multiply-accumulates for one image."""
    convolution: Layer | None = None

    def product(self) -> tuple[str | None, int | None]:
        """The matrix product of one image, rows x columns x summed, and the bytes of its unrolled input in fp32.

        Of a convolution (per group) and of a fully connected layer, which unrolls nothing; None of any other.
        """
        layer = self.convolution
        if layer:
            taps = layer.weights // layer.out_channels
            positions = layer.out_height * layer.out_width
            groups = f" ({layer.groups} groups)" if layer.groups > 1 else ""
            unrolled = 0 if layer.is_product else 4 * layer.groups * taps * positions
            return f"{layer.out_channels // layer.groups} x {positions} x {taps}{groups}", unrolled
        if self.kind != "fc":
            return None, None
        outputs = self.out[0]
        return f"{outputs} x 1 x {self.macs // outputs}", 0


@dataclass(frozen=True)
class Network:
    """A network, its layers in order."""

    name: str
    title: str
    source: str
    input: Shape
    nodes: tuple[Node, ...]

    @property
    def parameters(self) -> int:
        """Count the parameters of all layers, biases and batch normalization included."""
        return sum(node.parameters for node in self.nodes)

    @property
    def flop(self) -> int:
        """Count the operations of a forward pass of one image: convolutions and fully connected layers."""
        return 2 * sum(node.macs for node in self.nodes)

    def convolutions(self) -> list[Layer]:
        """The layers that can be measured."""
        return [node.convolution for node in self.nodes if node.convolution]


def names() -> list[str]:
    """The built-in networks."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> Network:
    """A built-in network; raises `UsageError` for any other."""
    if name not in names():
        raise unknown("model", name, names(), f"built in are {', '.join(names())}.")
    facts = read_toml(FOLDER / f"{name}.toml")
    channels, height, width = facts["input"]
    builder = _Builder(name, (channels, height, width))
    for line in facts["layers"].split("\n"):
        if line:
            builder.add(line)
    return Network(name, facts["title"], facts["source"], (channels, height, width), tuple(builder.nodes))


@dataclass(frozen=True)
class _Line:
    """A line of a table, read."""

    name: str
    kind: str
    sizes: list[int]
    stride: int
    padding: int
    groups: int
    is_ceil: bool
    has_norm: bool


def _read(line: str) -> _Line:
    name, kind, *words = line.split()
    steps = {"s": 1, "p": 0, "g": 1} | {word[0]: int(word[1:]) for word in words if re.fullmatch(r"[spg]\d+", word)}
    sizes = [int(word) for word in words if word.isdigit()]
    return _Line(name, kind, sizes, steps["s"], steps["p"], steps["g"], "ceil" in words, "bn" in words)


class _Builder:
    """Follows the shape through the lines."""

    def __init__(self, model: str, shape: Shape) -> None:
        self.model, self.shape = model, shape
        self.nodes: list[Node] = []

    def add(self, text: str) -> None:
        """One line; the shape afterwards is that of its result."""
        line = _read(text)
        layers = {"conv": self._conv, "fc": self._fc, "max": self._pool, "avg": self._pool}
        layers.get(line.kind, self._block)(line)

    def _put(self, node: Node) -> None:
        self.nodes.append(node)
        self.shape = node.out

    def _conv(self, line: _Line) -> None:
        filters, size = line.sizes
        steps = (line.stride, line.stride, line.padding, line.padding)
        layer = Layer(line.name, *self.shape, filters, size, size, *steps, groups=line.groups, model=self.model)
        out = filters, layer.out_height, layer.out_width
        parameters = layer.weights + (2 * filters if line.has_norm else filters)
        self._put(Node(line.name, "conv", self.shape, out, parameters, layer.flop(1) // 2, layer))

    def _fc(self, line: _Line) -> None:
        channels, height, width = self.shape
        inputs, outputs = channels * height * width, line.sizes[0]
        self._put(Node(line.name, "fc", self.shape, (outputs, 1, 1), inputs * outputs + outputs, inputs * outputs))

    def _pool(self, line: _Line) -> None:
        channels, *sizes = self.shape
        more = line.stride - 1 if line.is_ceil else 0
        high, wide = ((size + 2 * line.padding - line.sizes[0] + more) // line.stride + 1 for size in sizes)
        self._put(Node(line.name, line.kind, self.shape, (channels, high, wide)))

    def _block(self, line: _Line) -> None:
        about, given = read_toml(BLOCKS)[line.kind], self.shape
        values = {"name": line.name, "stride": line.stride, **dict(zip(about["sizes"], line.sizes, strict=True))}
        branches = [[text.format_map(values) for text in branch] for branch in about.get("branches", ())]
        channels = 0
        for branch in filter(None, ([text for text in branch if " conv 0 " not in text] for branch in branches)):
            self.shape = given
            for text in branch:
                self.add(text)
            channels += self.shape[0]
        self.shape = (channels or given[0], *self.shape[1:])
        for text in about.get("residual", ()):
            self.add(text.format_map(values))
        filters = self.shape[0]
        if "residual" in about and (line.stride > 1 or given[0] != filters):
            out, self.shape = self.shape, given
            self.add(f"{line.name}.downsample conv {filters} 1 s{line.stride} bn")
            self.shape = out
