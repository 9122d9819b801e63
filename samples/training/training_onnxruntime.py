"""Code that the ONNX Runtime samples share: a model made of a list of layers with `onnx`, and a loop of runs."""

from __future__ import annotations

from string import ascii_letters

import numpy as np
import onnx
import onnxruntime
import timing
from onnx import helper, numpy_helper

IR_VERSION = 10
"""Version of the model format: ONNX Runtime reads an older one than the newest `onnx` writes."""


def onnx_model(model: timing.Model, layers: timing.Layers, batch: int) -> tuple[bytes, int]:
    """The model as bytes, with the number of its parameters."""
    generator = np.random.default_rng(0)
    nodes, weights, value, shape = [], [], "images", (batch, *model.shape)

    def add(kind: str, name: str, inputs: list[str], **attributes: object) -> str:
        nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    for layer in layers:
        weights.append(numpy_helper.from_array(layer.weight(generator), f"{layer.name}.weight"))
        weights.append(numpy_helper.from_array(np.zeros(layer.shape[0], np.float32), f"{layer.name}.bias"))
        operands = [f"{layer.name}.weight", f"{layer.name}.bias"]
        number = layer.name.lstrip(ascii_letters)
        if layer.stride:
            extent = {"strides": [layer.stride] * 2, "pads": [layer.padding] * 4}
            value = add("Conv", layer.name, [value, *operands], **extent)
        else:
            if "flat" not in (node.name for node in nodes):
                value = add("Flatten", "flat", [value])
            value = add("Gemm", layer.name, [value, *operands], transB=1)
        pool = {"kernel_shape": [layer.pool] * 2, "strides": [2, 2]}
        for step in layer.after:
            if step == "pool":
                value = add("MaxPool", f"pool{number}", [value], **pool)
            else:
                value = add(step.capitalize(), f"{step}{number}", [value])
    image = helper.make_tensor_value_info("images", onnx.TensorProto.FLOAT, shape)
    score = helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, (batch, model.classes))
    graph = helper.make_graph(nodes, model.name, [image], [score], weights)
    made = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", 13)])
    return made.SerializeToString(), sum(int(np.prod(weight.dims)) for weight in weights)


def run(doc: str | None, model: timing.Model, layers: timing.Layers) -> None:
    """Run it a few times."""
    parser = timing.options(doc, model, modes=("forward",))
    parser.add_argument(
        "--unfused", action="store_true", help="no graph optimization: bias, ReLU and convolution apart"
    )
    args = parser.parse_args()
    timing.forward_alone("ONNX Runtime", args)
    if args.device == "cuda" and "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        timing.refuse("this ONNX Runtime has no CUDA provider")
    made, count = onnx_model(model, layers, args.batch)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads or 0
    if args.unfused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    device = args.device or "cpu"
    provider = "CUDAExecutionProvider" if device == "cuda" else "CPUExecutionProvider"
    session = onnxruntime.InferenceSession(made, options, providers=[provider])
    images, _ = timing.batch_of(model, args.batch)
    timing.measure(
        model, args, lambda: session.run(None, {"images": images})[0][0, 0], lambda: None,
        framework="onnxruntime", version=onnxruntime.__version__, device=device, parameters=count,
        threads=session.get_session_options().intra_op_num_threads or timing.cores(),
    )  # fmt: skip
