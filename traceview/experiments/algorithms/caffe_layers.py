"""Convolutions of a Caffe net definition (`.prototxt`), with the shapes that follow from its input.

Read as protobuf's text format, without Caffe: layers of which the shape of the result is not known end what depends on
them, and convolutions behind them are counted as of unknown shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from traceview.errors import InputError
from traceview.experiments.algorithms.layers import Layer, found_in

MOST_BYTES = 8 << 20
MOST_DEPTH = 40
_TOKEN = re.compile(r'\s*(?:#[^\n]*\n\s*)*(?:("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')|([\w.+-]+)|([{}:;,<>\[\]]))')
SAME = (
    *("ReLU", "PReLU", "ELU", "Sigmoid", "TanH", "Softmax", "AbsVal", "Exp", "Log", "Power", "BNLL"),
    *("LRN", "Dropout", "BatchNorm", "Scale", "Bias", "Split"),
)
"""Layers whose result has the shape of what they are given."""
Message = dict[str, list[Any]]


def layers_of(path: Path, say: Callable[[str], None]) -> list[Layer]:
    """Each Convolution of the net; raises `InputError` for what is not a net definition."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > MOST_BYTES:
        raise InputError(f"{path} is too large for a net definition ({len(data) / 1e6:,.0f} MB).")
    net = _message(_tokens(data.decode("utf-8", "replace"), path), path, 0)
    if "layers" in net:
        raise InputError(f"{path} is of Caffe's old format (layers); bring it up to date with upgrade_net_proto_text.")
    return found_in(_Shapes(net).rows(), path.name, say)


def _tokens(text: str, path: Path) -> Iterator[str]:
    at = 0
    while match := _TOKEN.match(text, at):
        yield match[1] or match[2] or match[3]
        at = match.end()
    rest = re.sub(r"#[^\n]*", "", text[at:]).strip()
    if rest:
        raise InputError(f"{path} is not a Caffe net definition (near {rest[:20]!r}).")


def _message(tokens: Iterator[str], path: Path, depth: int) -> Message:
    """The fields of a message up to its closing brace, each a list."""
    found: Message = {}
    for name in tokens:
        if name == "}":
            return found
        if name in ";,":
            continue
        mark = next(tokens, "")
        if not re.fullmatch(r"\w+", name) or mark not in (":", "{") or depth > MOST_DEPTH:
            raise InputError(f"{path} is not a Caffe net definition (near {name[:20]!r}).")
        value: Any = next(tokens, "") if mark == ":" else "{"
        found.setdefault(name, []).append(_message(tokens, path, depth + 1) if value == "{" else value.strip("\"'"))
    return found


def _number(message: Message, *names: str, default: int = 0) -> int:
    for name in names:
        if name in message:
            return next(iter(_numbers(message[name][:1])), default)
    return default


def _numbers(texts: list[Any]) -> list[int]:
    return [int(text) for text in map(str, texts) if re.fullmatch(r"\d{1,9}", text)]


class _Shapes:
    """Follows the shapes of blobs through the layers."""

    def __init__(self, net: Message) -> None:
        self.net = net
        self.blobs: dict[str, list[int]] = {}
        dims = _numbers(net["input_shape"][0].get("dim", []) if "input_shape" in net else net.get("input_dim", []))
        if net.get("input") and len(dims) >= 4:
            self.blobs[str(net["input"][0])] = dims[:4]

    def rows(self) -> list[dict[str, Any]]:
        """Return the known facts of each convolution."""
        found = []
        for layer in self.net.get("layer", []):
            kind, name = str(layer.get("type", [""])[0]), str(layer.get("name", [""])[0])
            bottoms = [self.blobs.get(str(one)) for one in layer.get("bottom", [])]
            if kind in ("Convolution", "Deconvolution"):
                row = self._convolution(name, kind, layer, bottoms[0] if bottoms else None)
                found.append(row)
                shape = row.pop("out")
            else:
                shape = self._shape(kind, layer, bottoms)
            for top in layer.get("top", []):
                if shape:
                    self.blobs[str(top)] = shape
                elif kind not in ("Data", "ImageData"):
                    self.blobs.pop(str(top), None)
                shape = shape if kind in SAME else None
        return found

    def _shape(self, kind: str, layer: Message, bottoms: list[list[int] | None]) -> list[int] | None:
        """The shape of a layer's result; None where it is not known."""
        given = bottoms[0] if bottoms else None
        if kind in ("Data", "ImageData", "Input", "DummyData"):
            return _given(layer)
        if given is None or None in bottoms:
            return None
        if kind == "Pooling":
            return _pooled(layer.get("pooling_param", [{}])[0], given)
        if kind == "InnerProduct":
            return [given[0], _number(layer.get("inner_product_param", [{}])[0], "num_output"), 1, 1]
        if kind == "Concat":
            return [given[0], sum(one[1] for one in bottoms if one), *given[2:]]
        return given if kind in (*SAME, "Eltwise") else None

    def _convolution(self, name: str, kind: str, layer: Message, given: list[int] | None) -> dict[str, Any]:
        said = layer.get("convolution_param", [{}])[0]
        filters, groups = _number(said, "num_output"), _number(said, "group", default=1) or 1
        size = [_number(said, f"kernel_{way}", "kernel_size") for way in "hw"]
        stride = [_number(said, f"stride_{way}", "stride", default=1) for way in "hw"]
        pads = [_number(said, f"pad_{way}", "pad") for way in "hw"]
        spread = [_number(said, "dilation", default=1)] * 2
        row = {"layer": name, "input": given, "stride": stride, "padding": pads, "dilation": spread, "groups": groups}
        row |= {"filter": None, "transposed": kind == "Deconvolution", "out": None}
        if given and all(size) and all(stride) and filters:
            out = [
                (whole + 2 * pad - dilation * (length - 1) - 1) // step + 1
                for whole, pad, dilation, length, step in zip(given[2:], pads, spread, size, stride, strict=True)
            ]
            row["filter"] = [filters, given[1] // groups, *size]
            row["out"] = [given[0], filters, *out] if kind == "Convolution" else None
        return row


def _given(layer: Message) -> list[int] | None:
    """Return the shape of a data layer's images: three channels of the size it cuts them to, or its own shape."""
    said = layer.get("input_param", layer.get("dummy_data_param", [{}]))[0]
    if "shape" in said:
        dims = _numbers(said["shape"][0].get("dim", []))
        return dims if len(dims) == 4 else None
    size = _number(layer.get("transform_param", [{}])[0], "crop_size")
    return [1, 3, size, size] if size else None


def _pooled(said: Message, given: list[int]) -> list[int]:
    """Caffe's pooling rounds up."""
    if said.get("global_pooling", ["false"])[0] == "true":
        return [*given[:2], 1, 1]
    stride, pad = _number(said, "stride", default=1) or 1, _number(said, "pad")
    length = _number(said, "kernel_size", "kernel_h")
    out = []
    for whole in given[2:]:
        size = -(-(whole + 2 * pad - length) // stride) + 1
        out.append(size - 1 if pad and (size - 1) * stride >= whole + pad else size)
    return [*given[:2], *out]
