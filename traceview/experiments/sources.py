"""Layers of the user's own: from a capture, from a Python function that makes a model, from an ONNX or Caffe file.

Invariant: what cannot be measured (transposed, one- and three-dimensional, of unknown shape) is counted and said.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview import sql, store
from traceview.errors import InputError, UsageError
from traceview.experiments import networks
from traceview.experiments.layers import DIRECTIONS, Layer
from traceview.recording import messages
from traceview.recording.launch import stoppable

MOST_TEXT = 200
"""Of an exception's text."""
WORKER = Path(__file__).parent / "layers_worker.py"
Say = Callable[[str], None]
DTYPES = {
    "float": "float32", "f32": "float32", "float32": "float32", "double": "float64", "float64": "float64",
    "c10::BFloat16": "bfloat16", "bf16": "bfloat16", "bfloat16": "bfloat16",
    "c10::Half": "float16", "half": "float16", "f16": "float16", "float16": "float16",
}  # fmt: skip
"""Element types by what profilers call them."""


def of_model(text: str, python: str, shape: str, say: Say) -> list[Layer]:
    """The convolutions of a built-in network, of FILE.py:FUNCTION, of FILE.onnx or of FILE.prototxt."""
    name, colon, function = text.rpartition(":")
    if colon and name.endswith(".py"):
        return _of_function(Path(name), function, python, shape, say)
    path = Path(text)
    if path.suffix == ".onnx":
        from traceview.experiments.onnx_layers import layers_of

        return layers_of(path, say)
    if path.suffix == ".prototxt":
        from traceview.experiments.caffe_layers import layers_of as of_prototxt

        return of_prototxt(path, say)
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
    query = sql.text("experiments/capture_layers")
    connection = store.open_capture(path, asked=query)
    try:
        rows = connection.execute(query).fetchall()
    finally:
        connection.close()
    if not rows:
        raise InputError(f"{path} holds no convolutions.")
    found: list[Recorded] = []
    left = 0
    for layer, image, filters, stride, padding, dilation, groups, dtype, directions, is_whole, calls in rows:
        given = {"input": image, "filter": filters, "stride": stride, "padding": padding, "dilation": dilation}
        named = {"layer": layer, **given, "groups": groups, "dtype": DTYPES.get(dtype)}
        made = _layer(named, path.name) if is_whole else None
        left += calls if made is None else 0
        if made:
            found.append(Recorded(made, int(image[0]), tuple(name for name in DIRECTIONS if name in directions)))
    _say_left(left, "call{} of convolutions", say)
    if not found:
        raise InputError(f"{path} tells no shapes of its convolutions.")
    return found


def _of_function(file: Path, function: str, python: str, shape: str, say: Say) -> list[Layer]:
    """Run a function in the Python of the user, and its model once."""
    if not file.is_file():
        raise InputError(f"there is no file {file}.")
    say(f"runs {file.name}:{function}, and its model once, for the layers.")
    with stoppable():
        run = subprocess.run([python, str(WORKER), str(file), function, shape], capture_output=True)
    if run.returncode:
        said = _exception(run.stderr.decode(errors="replace").strip().splitlines())
        reason = said if said and run.returncode > 0 else f"it {messages.ending(run.returncode)}"
        raise InputError(f"{file}:{function} cannot be run: {reason.rstrip('.')}.")
    return found_in((json.loads(line) for line in run.stdout.splitlines()), f"{file.name}:{function}", say)


def _exception(lines: Sequence[str]) -> str:
    """The exception at the end of what Python printed, whose text may have several lines; else the last line."""
    behind = next((n for n in range(len(lines), 0, -1) if lines[n - 1].startswith("  ")), 0)
    return " / ".join(lines[behind:] if behind else lines[-1:])[:MOST_TEXT]


def found_in(rows: Iterable[dict[str, Any]], model: str, say: Say) -> list[Layer]:
    """Layers out of what was read of a model; raises `InputError` where there are none."""
    made = [_layer(row, model) for row in rows]
    found = [layer for layer in made if layer]
    _say_left(len(made) - len(found), "convolution{}", say)
    if not found:
        raise InputError(f"{model} has no convolution that can be measured.")
    return found


def _layer(row: dict[str, Any], model: str) -> Layer | None:
    """A layer out of what a framework says of one; None for what cannot be measured."""
    image, filters = row.get("input"), row.get("filter")
    pairs = [_pair(row.get("stride")), _pair(row.get("padding")), _pair(row.get("dilation") or [1, 1])]
    if row.get("transposed") or not image or not filters or len(image) != 4 or len(filters) != 4 or None in pairs:
        return None
    (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w) = [pair for pair in pairs if pair]
    channels, height, width = image[1:]
    name = row.get("layer") or f"{channels}x{height}x{width} k{filters[0]} {filters[2]}x{filters[3]}"
    sizes = (channels, height, width, filters[0], filters[2], filters[3])
    steps = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    try:
        return Layer(name, *sizes, *steps, row.get("groups") or 1, model, row.get("dtype") or "float32")
    except UsageError:
        return None


def _pair(values: Sequence[Any] | None) -> tuple[int, int] | None:
    """What is said of both directions; None where nothing or more is."""
    if not values or len(values) > 2:
        return None
    return int(values[0]), int(values[-1])


def _say_left(n: int, what: str, say: Say) -> None:
    if n:
        what = what.format("" if n == 1 else "s")
        say(f"{n} {what} left out: transposed, not of two dimensions, or of unknown shape.")
