"""Layers of the user's own: from a capture, from a Python function that makes a model, from an ONNX or Caffe file.

Invariant: what cannot be measured (transposed, one- and three-dimensional, of unknown shape) is counted and said.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview import sql, store
from traceview.errors import InputError, UsageError
from traceview.experiments.algorithms import caffe_layers, networks
from traceview.experiments.algorithms.layers import DIRECTIONS, Layer, Say, found_in, layer_of, say_left
from traceview.experiments.worker import Worker
from traceview.recording.launch import stoppable

Image = tuple[int, int, int]
DTYPES = {
    "float": "float32", "f32": "float32", "float32": "float32", "double": "float64", "float64": "float64",
    "c10::BFloat16": "bfloat16", "bf16": "bfloat16", "bfloat16": "bfloat16",
    "c10::Half": "float16", "half": "float16", "f16": "float16", "float16": "float16",
}  # fmt: skip
"""Element types by what profilers call them."""


def of_model(text: str, python: str, image: Image, say: Say) -> list[Layer]:
    """The convolutions of a built-in network, of FILE.py:FUNCTION, of FILE.onnx or of FILE.prototxt."""
    name, colon, function = text.rpartition(":")
    if colon and name.endswith(".py"):
        return _of_function(Path(name), function, python, image, say)
    path = Path(text)
    if path.suffix == ".onnx":
        return _of_onnx(path, say)
    if path.suffix == ".prototxt":
        return caffe_layers.layers_of(path, say)
    if path.suffix == ".py":
        raise UsageError(f"say which function makes the model: {text}:FUNCTION.")
    return networks.load(text).convolutions()


@dataclass(frozen=True)
class Recorded:
    """A convolution of a capture."""

    layer: Layer
    batch: int
    directions: tuple[str, ...]
    """The passes that ran."""


def of_capture(path: Path, say: Say) -> list[Recorded]:
    """The convolutions that a capture or a trace recorded, in the order in which they ran first."""
    with store.open_capture(path) as connection:
        rows = connection.execute(sql.text("experiments/capture_layers")).fetchall()
    if not rows:
        raise InputError(f"{path} holds no convolutions.")
    found: list[Recorded] = []
    left = 0
    for layer, image, filters, stride, padding, dilation, groups, dtype, directions, is_whole, calls in rows:
        given = {"input": image, "filter": filters, "stride": stride, "padding": padding, "dilation": dilation}
        named = {"layer": layer, **given, "groups": groups, "dtype": DTYPES.get(dtype)}
        made = layer_of(named, path.name) if is_whole else None
        left += calls if made is None else 0
        if made:
            found.append(Recorded(made, int(image[0]), tuple(name for name in DIRECTIONS if name in directions)))
    say_left(left, "call{} of convolutions", say)
    if not found:
        raise InputError(f"{path} records no shapes of its convolutions.")
    return found


def _of_function(file: Path, function: str, python: str, image: Image, say: Say) -> list[Layer]:
    """Run a function in the Python of the user, and its model once."""
    if not file.is_file():
        raise InputError(f"there is no file {file}.")
    say(f"runs {file.name}:{function}, and its model once, for the layers.")
    model = f"{file}:{function}"
    with stoppable(), Worker(python) as worker:
        answers = list(worker.ask({"kind": "layers", "model": model, "image": image}))
        if not answers:
            raise InputError(f"{model} cannot be run: {worker.close()}.")
    return found_in(answers[-1]["convolutions"], f"{file.name}:{function}", say)


def _of_onnx(path: Path, say: Say) -> list[Layer]:
    """Each Conv of the graph; raises `UsageError` without onnx, `InputError` for what it cannot read."""
    try:
        import onnx
        from onnx import helper, shape_inference
    except ImportError as error:
        raise UsageError("an ONNX file needs the package onnx: pip install 'traceview[models]'.") from error
    if not path.is_file():
        raise InputError(f"{path} {'is not a regular file' if path.exists() else 'does not exist'}.")
    try:
        model = shape_inference.infer_shapes(onnx.load(str(path), load_external_data=False))
    except Exception as error:
        raise InputError(f"{path} is not an ONNX model ({type(error).__name__}).") from error
    graph = model.graph
    shapes = {one.name: list(one.dims) for one in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        # A batch that is left open is one image.
        shapes.setdefault(value.name, [sizes[0] or 1, *sizes[1:]] if sizes else [])
    rows = []
    for node in graph.node:
        if node.op_type in ("Conv", "ConvTranspose"):
            given = {one.name: helper.get_attribute_value(one) for one in node.attribute}
            rows.append(_row(node, given, shapes))
    return found_in(rows, path.name, say)


def _row(node: Any, given: dict[str, Any], shapes: dict[str, list[int]]) -> dict[str, Any]:
    image, filters = (shapes.get(name) for name in node.input[:2])
    begin, end = _pads(given, image, filters)
    return {
        "layer": node.name or node.output[0],
        "input": image if image and all(image) else None,
        "filter": filters,
        "stride": given.get("strides", [1, 1]),
        "padding": begin if begin == end else None,
        "dilation": given.get("dilations", [1, 1]),
        "groups": given.get("group", 1),
        "transposed": node.op_type == "ConvTranspose",
    }


def _pads(given: dict[str, Any], image: list[int] | None, filters: list[int] | None) -> tuple[list[int], list[int]]:
    """Rows and columns added before and behind."""
    automatic = given.get("auto_pad", b"NOTSET").decode()
    if automatic.startswith("SAME") and image and filters and len(image) == 4:
        added = []
        for size, length, stride, dilation in zip(
            image[2:], filters[2:], given.get("strides", [1, 1]), given.get("dilations", [1, 1]), strict=True
        ):
            added.append(max(0, (-(-size // stride) - 1) * stride + dilation * (length - 1) + 1 - size))
        return [each // 2 for each in added], [each - each // 2 for each in added]
    pads = list(given.get("pads", [0, 0, 0, 0]))
    return pads[: len(pads) // 2], pads[len(pads) // 2 :]
