"""Facts of the operators of a compiled Theano graph: the layer that each works for, its pass, and shapes.

Theano has no layers: it has shared variables, which programs name after them (`conv1.W`, `conv1/kernel`, `W_conv1`). An
operator works for the layer whose variable it reads, through views of it, or to whose update alone its result leads.

Invariant: an operator for which two layers could be named, or none, has none.
"""

import re

VIEWS = ("DimShuffle", "Subtensor", "Reshape", "GpuDimShuffle", "GpuSubtensor", "Rebroadcast")
PARAMETER = r"(?:W|w|U|b|weights?|kernel|filters?|bias(?:es)?|beta|gamma|mean|inv_std|velocity)"
LAYER = re.compile(rf"^(?P<front>.+?)[._/: -]{PARAMETER}\d*$|^{PARAMETER}[._/: -](?P<back>.+)$")
FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"


class Operators:
    """The operators of one compiled function; `shapes` are those of variables, as far as they were seen."""

    def __init__(self, nodes, graph, shapes):
        self.nodes, self.shapes = nodes, shapes
        self.updated = {graph.outputs[place]: graph.inputs[of] for place, of in graph.update_mapping.items()}
        self.parameters = set(self.updated.values())
        results = [variable for place, variable in enumerate(graph.outputs) if place not in graph.update_mapping]
        self.forward = ancestors(results)
        self.readers = {}
        for node in nodes:
            for variable in node.inputs:
                self.readers.setdefault(variable, []).append(node)

    def described(self):
        """(name, phase, facts) of each operator, in their order."""
        return [self.describe(node) for node in self.nodes]

    def describe(self, node):
        """Name, phase and facts of one operator."""
        is_update = kind_of(node) == "Elemwise" and any(variable in self.updated for variable in node.outputs)
        read = {self.parameter(variable) for variable in node.inputs} - {None}
        led = self.led_to(node)
        layers = {layer_of(parameter.name) for parameter in (led if is_update else read or led) if parameter.name}
        phase = OPTIMIZER if is_update else FORWARD if node in self.forward else BACKWARD
        facts = {"layer": layers.pop()} if len(layers) == 1 else {}
        facts.update(convolution(node, self.shapes))
        return f"{node.op}{self.role(node, read, led, is_update)}", phase, facts

    def role(self, node, read, led, is_update):
        """Return a role that an operator's name cannot show: that it adds a bias, or sums up a bias' gradient."""
        is_vector = {parameter.ndim for parameter in read or led} == {1}
        if kind_of(node) == "Elemwise" and read and is_vector and not is_update:
            return " (bias)" if str(node.op.scalar_op) in ("Add", "add") and len(node.inputs) == 2 else ""
        if kind_of(node) == "Sum" and led and is_vector:
            return " (bias gradient)"
        return ""

    def parameter(self, variable):
        """The updated variable behind a view of it; None for what is no such view."""
        while variable.owner is not None and kind_of(variable.owner).endswith(VIEWS):
            variable = variable.owner.inputs[0]
        return variable if variable in self.parameters else None

    def led_to(self, node):
        """The variables to whose updates alone a result leads, through views and arithmetic by element."""
        found, left, seen = set(), list(node.outputs), set()
        while left:
            variable = left.pop()
            if variable in seen:
                continue
            seen.add(variable)
            if variable in self.updated:
                found.add(self.updated[variable])
            for reader in self.readers.get(variable, ()):
                if kind_of(reader) != "Elemwise" and not kind_of(reader).endswith(VIEWS):
                    return set()  # It goes on into other work.
                left += reader.outputs
        return found


def kind_of(node):
    """The class of an operator's operation."""
    return type(node.op).__name__


def ancestors(variables):
    """The operators that variables rest on."""
    found, left = set(), [variable.owner for variable in variables]
    while left:
        node = left.pop()
        if node is not None and node not in found:
            found.add(node)
            left += [variable.owner for variable in node.inputs]
    return found


def layer_of(name):
    """The layer that a variable's name tells: `conv1` for `conv1.W`, `W_conv1`, `conv1.W.velocity`; else the name."""
    found = LAYER.match(name)
    return layer_of(found.group("front") or found.group("back")) if found else name


def shapes_of(machine, graph):
    """Shapes of all variables after a call that kept its results; what need not be kept is let go."""
    kept = set(graph.inputs + graph.outputs)
    shapes = {}
    for variable, cell in machine.storage_map.items():
        shape = getattr(cell[0], "shape", None)
        if shape is not None:
            shapes[variable] = [int(size) for size in shape]
        if variable.owner is not None and variable not in kept:
            cell[0] = None
    return shapes


def convolution(node, shapes):
    """Shapes and options of a convolution: image, filter and result of the forward pass, channels first."""
    kind = kind_of(node).replace("Gpu", "")
    variables = {
        "CorrMM": (node.inputs[0], node.inputs[1], node.outputs[0]),
        "CorrMM_gradWeights": (node.inputs[0], node.outputs[0], node.inputs[1]),
        "CorrMM_gradInputs": (node.outputs[0], node.inputs[0], node.inputs[1]),
    }.get(kind) if len(node.inputs) > 1 else None  # fmt: skip
    if variables is None:
        return {}
    image, filters, result = (shapes.get(variable) for variable in variables)
    if None in (image, filters, result):
        return {}
    dilation, groups = list(node.op.filter_dilation), getattr(node.op, "num_groups", 1)
    padding, stride = node.op.border_mode, list(node.op.subsample)
    reach = [(size - 1) * step for size, step in zip(filters[2:], dilation)]
    if isinstance(padding, str):
        padding = [{"valid": 0, "half": size // 2, "full": size}[padding] for size in reach]
    padding = [padding, padding] if isinstance(padding, int) else list(padding)
    # Theano may keep a pair for each dimension; one that differs before and after has no place in the tables.
    padding = [pad if isinstance(pad, int) else pad[0] if pad[0] == pad[1] else None for pad in padding]
    if None in padding:
        return {}
    return {
        "shapes": [image, filters],
        "output_shapes": [result],
        "inputs": [json_list(stride), json_list(padding), json_list(dilation), str(groups)],
        "types": [str(node.outputs[0].dtype)],
    }


def json_list(numbers):
    """As text, the way other recorders write options."""
    return "[" + ", ".join(str(int(number)) for number in numbers) + "]"
