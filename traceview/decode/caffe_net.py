"""What Caffe's log says of a net before it runs it: the definition, and the shape of every blob.

Invariant: a convolution's shape is only told where the log has all of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LINES = (
    r"^input: |^input_dim: |^  dim: |^    (?:num_output|pad|kernel_size|stride|group|dilation): |\] \S+ (?:<-|->) \S+|"
    r"\] Setting up |\] Top shape: |^  name: |^force_backward: true"
)
"""Which lines of a log `Net.see` wants."""
_INPUT = re.compile(r'input: "(.*)"$')
_SIZE = re.compile(r"(?:input_dim|  dim): (\d{1,9})$")
_NAME = re.compile(r'  name: "([^"]*)"$')
_NUMBER = re.compile(r"    (num_output|pad|kernel_size|stride|group|dilation): (\d{1,9})$")
_FLOW = re.compile(r"\] (\S+) (<-|->) (\S+)")
_SETTING_UP = re.compile(r"\] Setting up (\S+)$")
_TOP = re.compile(r"\] Top shape: ((?:\d{1,9} )+)")


@dataclass
class Net:
    """A net as far as its log was read."""

    sizes: dict[str, list[str]] = field(default_factory=dict)
    """Of blobs."""
    numbers: dict[str, dict[str, str]] = field(default_factory=dict)
    """By layer: what its convolution_param (or another one) says."""
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
            self.numbers.setdefault(self._layer, {})[found[1]] = found[2]
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
        """A convolution as traceview writes layers (`64x3x227x227 k96 11x11 s4`); None where something is missing."""
        said = self.numbers.get(layer, {})
        sizes = self.sizes.get(self.bottoms.get(layer, ""), [])
        if len(sizes) != 4 or not {"num_output", "kernel_size"} <= said.keys():
            return None
        rest = "".join(f" {key[0]}{said[key]}" for key in ("stride", "pad", "dilation", "group") if key in said)
        size = said["kernel_size"]
        return f"{'x'.join(sizes)} k{said['num_output']} {size}x{size}{rest}"
