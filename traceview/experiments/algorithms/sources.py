"""Layers of the user's own: from a capture, from a Python function that makes a model, from an ONNX or Caffe file.

Invariant: what cannot be measured (transposed, one- and three-dimensional, of unknown shape) is counted and said.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from traceview import sql, store
from traceview.errors import InputError, UsageError
from traceview.experiments.algorithms import networks
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
        from traceview.experiments.algorithms.onnx_layers import layers_of

        return layers_of(path, say)
    if path.suffix == ".prototxt":
        from traceview.experiments.algorithms.caffe_layers import layers_of as of_prototxt

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
    connection = store.open_capture(path)
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
        made = layer_of(named, path.name) if is_whole else None
        left += calls if made is None else 0
        if made:
            found.append(Recorded(made, int(image[0]), tuple(name for name in DIRECTIONS if name in directions)))
    say_left(left, "call{} of convolutions", say)
    if not found:
        raise InputError(f"{path} tells no shapes of its convolutions.")
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
