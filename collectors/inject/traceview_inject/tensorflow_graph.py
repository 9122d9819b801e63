"""Facts from the graph of a compiled TensorFlow 2 function: shapes, strides, padding of convolutions; lines of nodes.

Invariant: image, filter and output are those of the forward pass, channels first, whichever pass an operator computes;
what is not known for certain is left out, but the batch: where the graph leaves it open, it is that of the model.
"""

import contextlib
import os
import re
import sys
from pathlib import Path

from traceview_inject.tensorflow1_shapes import FORWARD, PLACES, RESULT, padding_before

FOLLOWERS = ("BiasAdd", "Relu", "Relu6", "Elu", "Tanh", "Sigmoid", "LeakyRelu", "FusedBatchNormV3")
"""Operators a convolution may be fused with: the fused operator has the name of the last of them."""

GRADIENT = "gradient_tape/"
"""Prefix of a gradient's name; the scope in which the forward node was made follows, then a name of its own."""
OF_GRADIENT = re.compile(r"(?:Backprop(?:Input|Filter)|Grad)(?:V\d)?$")
"""End of the type of a gradient, before it stands that of the forward node: ReluGrad, Conv2DBackpropFilter."""
FRAMEWORKS = ("tensorflow", "keras", "tf_keras")
COLLECTORS = Path(__file__).absolute().parents[2]


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


def lines(functions):
    """Python frames that each node was made in, without TensorFlow's and Keras' own: {"stacks": texts, "nodes": places
    of their texts by name}. A gradient has those of its forward node, where name and type say which; else those that
    asked for it. Nodes of one name that differ are left out."""
    own = [Path(module.__file__).parent for module in map(sys.modules.get, FRAMEWORKS) if module is not None]
    skipped = tuple(f"{folder}{os.sep}" for folder in [*own, COLLECTORS])
    stacks, nodes, differing = {}, {}, set()
    for graph in graphs_of(functions):
        made = {node.name: (node.type, written(node.traceback, skipped)) for node in graph.get_operations()}
        inside = scopes(made)
        for name, (kind, stack) in made.items():
            if name.startswith(GRADIENT):
                stack = forward_stack(name[len(GRADIENT) :].rpartition("/")[0], kind, made, inside) or stack
            place = stacks.setdefault(stack, len(stacks))
            differing.update({name} if nodes.setdefault(name, place) != place else ())
    named = {name: place for name, place in nodes.items() if name not in differing}
    return {"stacks": list(stacks), "nodes": named}


def scopes(made):
    """Forward nodes as (type, stack) by the scopes around them; "" has those that are in none."""
    inside = {}
    for name, about in made.items():
        if not name.startswith(GRADIENT):
            parts = name.split("/")
            for depth in range(1, len(parts)) or [0]:
                inside.setdefault("/".join(parts[:depth]), set()).add(about)
    return inside


def forward_stack(scope, kind, made, inside):
    """The stack of the forward node of a gradient of this type that was made in this scope; None if it is not known."""
    while scope and scope not in made and scope not in inside:
        scope = scope.rpartition("/")[0]
    if scope in made:
        return made[scope][1]
    about = inside.get(scope, ())
    forward = {stack for each, stack in about if each == OF_GRADIENT.sub("", kind)} if OF_GRADIENT.search(kind) else ()
    if not forward and scope:
        forward = {stack for _, stack in about}
    return next(iter(forward)) if len(forward) == 1 else None


def written(traceback, skipped):
    """The frames of a node, innermost first, as `file(line): function` joined by semicolons."""
    frames = [(frame.filename, frame.lineno, frame.name) for frame in traceback]
    frames = [f"{file}({line}): {name}" for file, line, name in reversed(frames) if not file.startswith(skipped)]
    return ";".join(frame for frame in frames if ";" not in frame)


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
