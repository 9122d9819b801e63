"""Shapes of the convolutions in a traced session run of TensorFlow 1, as arguments for the events of its timeline.

Step stats hold the shape of every result; the graphs that ran (`RunMetadata.partition_graphs`) hold what feeds what,
strides and padding. Invariant: image, filter and output are those of the forward pass, channels first, whichever pass
an operator computes; what is not known for certain is left out.
"""

from tensorflow.python.framework import dtypes

RESULT = -1
# Where an operator has image, filter and output: the number of an input, or its result.
FORWARD, FILTER, INPUT = (0, 1, RESULT), (0, RESULT, 2), (RESULT, 1, 2)
PLACES = {
    "Conv2D": FORWARD,
    "_FusedConv2D": FORWARD,
    "Conv2DBackpropFilter": FILTER,
    "Conv2DBackpropInput": INPUT,
    "Conv3D": FORWARD,
    "Conv3DBackpropFilterV2": FILTER,
    "Conv3DBackpropInputV2": INPUT,
    "DepthwiseConv2dNative": FORWARD,
    "DepthwiseConv2dNativeBackpropFilter": FILTER,
    "DepthwiseConv2dNativeBackpropInput": INPUT,
}


def convolutions(metadata):
    """Describe each convolution of a run, by its name in the timeline; `metadata` is a RunMetadata."""
    nodes = [node for graph in metadata.partition_graphs for node in graph.node if node.op in PLACES]
    results = results_of(metadata.step_stats) if nodes else {}
    found = {node.name: described(node, results) for node in nodes}
    return {name: about for name, about in found.items() if about is not None}


def results_of(step_stats):
    """Type and shape of every result by `(operator, number)`; None where it changed from one iteration to the next."""
    results = {}
    for device in step_stats.dev_stats:
        for node in device.node_stats:
            for output in node.output:
                key, told = (node.node_name, output.slot), output.tensor_description
                value = (told.dtype, tuple(dim.size for dim in told.shape.dim))
                results[key] = value if results.get(key, value) == value else None
    return results


def described(node, results):
    """Shapes, output shape, type and settings of a convolution, in the words of the other collectors; None if unknown.

    Settings are strides, padding (that in front), dilations and groups.
    """
    given = [(name.partition(":")[0], int(name.partition(":")[2] or 0)) for name in node.input if name[0] != "^"]
    tensors = [results.get((node.name, 0) if place == RESULT else given[place]) for place in PLACES[node.op]]
    if None in tensors:
        return None
    image, kernel, output = [shape for _, shape in tensors]
    rank = len(image)
    layout = node.attr["data_format"].s.decode() or {4: "NHWC", 5: "NDHWC"}.get(rank, "")
    if sorted(layout) != sorted("NCDHW" if rank == 5 else "NCHW") or len(kernel) != rank:
        return None
    spatial = [at for at, letter in enumerate(layout) if letter not in "NC"]
    order = [layout.index("N"), layout.index("C"), *spatial]
    image, output = [image[at] for at in order], [output[at] for at in order]
    (*sizes, inputs, outputs) = kernel
    if node.op.startswith("Depthwise"):
        inputs, outputs = 1, inputs * outputs
    stride = [node.attr["strides"].list.i[at] for at in spatial]
    dilations = node.attr["dilations"].list.i
    dilation = [dilations[at] if dilations else 1 for at in spatial]
    about = {
        "shapes": [image, [outputs, inputs, *sizes]],
        "output_shapes": [output],
        "inputs": [stride, padding(node, image, sizes, output, stride, dilation), dilation, image[1] // inputs],
        "types": [dtypes.as_dtype(tensors[0][0]).name],
    }
    if node.attr["fused_ops"].list.s[:1] == [b"BiasAdd"] and results.get(given[2]) is not None:
        about["shapes"].append(list(results[given[2]][1]))
    return about


def padding(node, image, sizes, output, stride, dilation):
    """How many zeros stand in front of each spatial dimension."""
    rule = node.attr["padding"].s
    if rule == b"EXPLICIT":
        layout = node.attr["data_format"].s.decode()
        listed = node.attr["explicit_paddings"].list.i
        return [listed[2 * at] for at, letter in enumerate(layout) if letter not in "NC"]
    return padding_before(rule.decode(), image, sizes, output, stride, dilation)


def padding_before(rule, image, sizes, output, stride, dilation):
    """How many zeros stand in front of each spatial dimension by the rule VALID or SAME."""
    if rule == "VALID":
        return [0 for _ in sizes]
    sides = zip(image[2:], sizes, output[2:], stride, dilation)
    return [max((out - 1) * step + (size - 1) * gap + 1 - pixels, 0) // 2 for pixels, size, out, step, gap in sides]
