"""Two sessions of ONNX Runtime in one loop, the second with an IO binding; no profiling of its own."""

import numpy as np
import onnxruntime
import own_timer
from onnx import TensorProto, helper


def model(name):
    """A convolution and a ReLU."""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [8, 3, 3, 3], np.random.rand(216).astype("float32"))
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv1"),
        helper.make_node("Relu", ["c"], ["y"], name="relu1"),
    ]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 16, 16])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, name, [given], [made], [weights])
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()


options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
detector, reader = (
    onnxruntime.InferenceSession(model(name), options, providers=["CPUExecutionProvider"])
    for name in ("detector", "reader")
)
x = np.random.rand(2, 3, 16, 16).astype("float32")
for _ in range(12):
    own_timer.timed(detector.run, None, {"x": x})
    for _ in range(2):
        binding = reader.io_binding()
        binding.bind_cpu_input("x", x)
        binding.bind_output("y")
        reader.run_with_iobinding(binding)
own_timer.say(12)
