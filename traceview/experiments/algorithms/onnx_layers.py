"""Convolutions of an ONNX file, with the shapes that ONNX infers. Needs the package onnx (extra `models`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from traceview.errors import InputError, UsageError
from traceview.experiments.algorithms.layers import Layer, found_in


def layers_of(path: Path, say: Callable[[str], None]) -> list[Layer]:
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
