"""AlexNet inference with ONNX Runtime on random data: one tower, no groups, 62,378,344 parameters, conv1 to fc8.

A plain script that makes its model with the `onnx` package: it does not know traceview, so that what is measured around
it is any script's case.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

PARAMETERS = 62_378_344
CLASSES = 1000
IR_VERSION = 10
"""What ONNX Runtime reads is older than what the newest `onnx` writes."""
LAYERS = (
    # name, weight, stride, padding, maximum of 3 x 3 after it
    ("conv1", (96, 3, 11, 11), 4, 0, True),
    ("conv2", (256, 96, 5, 5), 1, 2, True),
    ("conv3", (384, 256, 3, 3), 1, 1, False),
    ("conv4", (384, 384, 3, 3), 1, 1, False),
    ("conv5", (256, 384, 3, 3), 1, 1, True),
    ("fc6", (4096, 9216), 0, 0, False),
    ("fc7", (4096, 4096), 0, 0, False),
    ("fc8", (CLASSES, 4096), 0, 0, False),
)


def alexnet(batch: int) -> tuple[bytes, int]:
    """The model as bytes, with the number of its parameters."""
    generator = np.random.default_rng(0)
    nodes, weights, value = [], [], "images"
    for name, shape, stride, padding, is_pooled in LAYERS:
        weights.append(numpy_helper.from_array(0.01 * generator.standard_normal(shape, np.float32), f"{name}.weight"))
        weights.append(numpy_helper.from_array(np.zeros(shape[0], np.float32), f"{name}.bias"))
        inputs = [value, f"{name}.weight", f"{name}.bias"]
        if stride:
            nodes.append(helper.make_node("Conv", inputs, [name], name, strides=[stride] * 2, pads=[padding] * 4))
        else:
            if name == "fc6":
                nodes.append(helper.make_node("Flatten", [value], ["flat"], "flatten"))
                inputs[0] = "flat"
            nodes.append(helper.make_node("Gemm", inputs, [name], name, transB=1))
        value = name
        if name != "fc8":
            number = name[-1]
            nodes.append(helper.make_node("Relu", [value], [f"relu{number}"], f"relu{number}"))
            value = f"relu{number}"
        if is_pooled:
            window = {"kernel_shape": [3, 3], "strides": [2, 2]}
            nodes.append(helper.make_node("MaxPool", [value], [f"pool{number}"], f"pool{number}", **window))
            value = f"pool{number}"
    image = helper.make_tensor_value_info("images", onnx.TensorProto.FLOAT, (batch, 3, 227, 227))
    score = helper.make_tensor_value_info("fc8", onnx.TensorProto.FLOAT, (batch, CLASSES))
    graph = helper.make_graph(nodes, "alexnet", [image], [score], weights)
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opset)
    return model.SerializeToString(), sum(int(np.prod(weight.dims)) for weight in weights)


def arguments() -> argparse.Namespace:
    """The options that every sample has; the layout is the library's own choice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per run (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="runs (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; default: the library's own choice")
    parser.add_argument(
        "--unfused", action="store_true", help="no graph optimization: bias, ReLU and convolution apart"
    )
    return parser.parse_args()


def main() -> None:
    """Run a few times and print the time of each second run."""
    args = arguments()
    model, count = alexnet(args.batch)
    assert count == PARAMETERS, count
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    if args.unfused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    provider = "CUDAExecutionProvider" if args.device == "cuda" else "CPUExecutionProvider"
    session = onnxruntime.InferenceSession(model, options, providers=[provider])
    images = np.random.default_rng(1).standard_normal((args.batch, 3, 227, 227), np.float32)
    print(f"alexnet: {count} parameters, batch {args.batch}, {args.device}, nchw")
    for step in range(1, args.steps + 1):
        start = time.perf_counter()
        scores = session.run(None, {"images": images})[0]
        if step % 2 == 0 or step == args.steps:
            print(f"step {step}: score {scores[0, 0]:.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)


if __name__ == "__main__":
    main()
