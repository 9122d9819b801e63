"""Facts of convolutions from the graph of a compiled TensorFlow 2 function: shapes, strides, padding.

Invariant: image, filter and output are those of the forward pass, channels first, whichever pass an operator computes;
what is not known for certain is left out, but the batch: where the graph leaves it open, it is that of the model.
"""

import contextlib

from traceview_inject.tensorflow1_shapes import FORWARD, PLACES, RESULT, padding_before

FOLLOWERS = ("BiasAdd", "Relu", "Relu6", "Elu", "Tanh", "Sigmoid", "LeakyRelu", "FusedBatchNormV3")
"""Operators a convolution may be fused with: the fused operator has the name of the last of them."""


def convolutions(functions, batch):
    """Describe each convolution of these `tf.function`s, by the name of its node."""
    found, differing = {}, set()
    for graph in graphs_of(functions):
        for node in graph.get_operations():
            if node.type not in PLACES:
                continue
            with contextlib.suppress(Exception):  # A shape less is no reason to lose the recording.
                told = described(node, batch)
                for name in names_of(node) if told else ():
                    differing.update({name} if found.setdefault(name, told) != told else ())
    return {name: told for name, told in found.items() if name not in differing}


def graphs_of(functions):
    """The graphs of all that was compiled for these functions, and of what they call, each once."""
    seen, waiting = {}, []
    for function in functions:
        with contextlib.suppress(Exception):
            waiting += [concrete.graph for concrete in function._list_all_concrete_functions()]
    while waiting:
        graph = waiting.pop()
        if graph is not None and id(graph) not in seen:
            seen[id(graph)] = graph
            waiting += [getattr(inner, "graph", None) for inner in getattr(graph, "_functions", {}).values()]
    return seen.values()


def names_of(node):
    """The node's name, and those that it has when it is fused with what alone reads its result."""
    names = [node.name]
    while PLACES.get(node.type) == FORWARD or node.type in FOLLOWERS:
        readers = [reader for reader in node.outputs[0].consumers() if reader.type in FOLLOWERS]
        if not readers:
            break
        node = readers[0]
        names.append(node.name)
    return names


def described(node, batch):
    """Shapes, type and settings of a convolution as in `tensorflow1_shapes`; None if unknown."""
    tensors = [node.outputs[0] if place == RESULT else node.inputs[place] for place in PLACES[node.type]]
    image, kernel, output = [tensor.shape.as_list() for tensor in tensors]
    layout = node.get_attr("data_format").decode()
    spatial = [at for at, letter in enumerate(layout) if letter not in "NC"]
    order = [layout.index("N"), layout.index("C"), *spatial]
    image, output = [image[at] for at in order], [output[at] for at in order]
    image[0] = output[0] = image[0] or output[0] or batch
    if None in (*image, *kernel, *output):
        return None
    (*sizes, inputs, outputs) = kernel
    if node.type.startswith("Depthwise"):
        inputs, outputs = 1, inputs * outputs
    stride, dilation = [[node.get_attr(name)[at] for at in spatial] for name in ("strides", "dilations")]
    rule = node.get_attr("padding").decode()
    listed = node.get_attr("explicit_paddings") if rule == "EXPLICIT" else ()
    before = (
        [listed[2 * at] for at in spatial] if listed else padding_before(rule, image, sizes, output, stride, dilation)
    )
    return {
        "shapes": [image, [outputs, inputs, *sizes]],
        "output_shapes": [output],
        "inputs": [stride, before, dilation, image[1] // inputs],
        "types": [tensors[0].dtype.name],
    }
