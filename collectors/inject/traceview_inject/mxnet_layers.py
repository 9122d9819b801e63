"""Which layer each operator of an MXNet recording ran for: MXNet's profiler names operators and not layers.

MXNet computes behind the program's back, so a layer is a span of time in which nothing else ran: the work is waited for
before and after. A hybrid block or a module says itself what it runs, forward and backward; elsewhere a block's call is
the span, and the backward operators of a kind are the forward ones in reverse, where the graph leaves no other order.

Invariant: an operator whose layer is not certain has none.
"""

import bisect
import json
import re
import time

import mxnet as mx
from mxnet import autograd

# What MXNet calls the outputs of a node, behind the node's name.
OUTPUT = re.compile(r"_(backward(_(output)?\d*)?|output\d*|workspace|mean|var|mask|\d+)$")
FORWARD_NODE = re.compile(r"_fwd\d*$")
BACKWARD = "_backward_"
# Instead of the kind of a span's one operator: it is the only one, or every one belongs to it.
ONLY, EVERY = "only", "every"
# What the engine runs besides operators.
UPKEEP = ("DeleteVariable", "CopyCPU2CPU", "CopyCPU2GPU", "CopyGPU2CPU", "WaitForVar", "SetValueOp")


class Layers:
    """Spans of layers, in microseconds since 1970, as MXNet's profiler counts."""

    def __init__(self, give_up):
        self.give_up = give_up
        self.wants = self.is_on = False
        self.begin_us = self.step_us = 0
        self.spans = []
        self.backward = []
        self.followed = []

    def settle(self):
        """Have the work so far done; what comes next begins here."""
        mx.nd.waitall()
        self.begin_us = now_us()

    def ran(self, name, begin_us):
        """A block was called at `begin_us`, settled, and has returned."""
        self.settle()
        self.spans.append((begin_us, self.begin_us, name, EVERY))

    # Graphs that tell what they run

    def follow_block(self, block):
        """A hybrid block with its graph made."""
        graph = block._cached_op
        # One that tells already tells the program, or us.
        if graph is not None and graph._monitor_callback is None and block._callback is None:
            graph._register_op_hook(lambda node, kind, array: self.node_ran(node, kind))
            self.followed.append(graph)

    def follow_module(self, module):
        """A module that is bound; its executors tell no kinds."""
        for executor in getattr(getattr(module, "_exec_group", None), "execs", ()):
            if executor._monitor_callback is None:
                executor.set_monitor_callback(lambda node, array: self.node_ran(node, ONLY))

    def node_ran(self, node, kind):
        """An output of a node of a graph is under way; the first one tells."""
        if not self.is_on:
            return
        try:
            mx.nd.waitall()
            end_us = now_us()
            node, kind = (word.decode() if isinstance(word, bytes) else word for word in (node, kind))
            if not node.startswith("zeros_without_dtype"):  # MXNet's own, for gradients that nothing computes.
                self.spans.append((self.begin_us, end_us, layer_of(node), kind))
            self.begin_us = now_us()
        except Exception as error:  # It must not pass through MXNet.
            self.is_on = False
            self.give_up(error)

    # The backward pass of what was called operator by operator

    def backward_begins(self, head):
        """Gradients of `head` are about to be computed; which kinds of operators can only run one after the other?"""
        if self.followed:
            return {}  # The graph tells.
        return one_after_the_other(json.loads(autograd.get_symbol(head).tojson())["nodes"])

    def backward_ended(self, begin_us, kinds):
        """They were, since `begin_us`."""
        self.settle()
        self.backward.append((self.step_us, begin_us, self.begin_us, kinds))

    # Writing

    def name_operators(self, path):
        """Write the layers into the file of the recording, as an argument of the operators."""
        trace = json.loads(path.read_text(encoding="utf-8"))
        operators = [event for event in trace["traceEvents"] if event.get("cat") == "operator" and event["ph"] == "B"]
        operators.sort(key=lambda event: event["ts"])
        self._by_span(operators)
        for step_us, begin_us, end_us, kinds in self.backward:
            self._by_order(operators, step_us, begin_us, end_us, kinds)
        lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in trace["traceEvents"])
        path.write_text(f'{{"traceEvents": [\n{lines}\n], "displayTimeUnit": "ms"}}\n', encoding="utf-8")

    def _by_span(self, operators):
        """The shortest span that an operator begins in names it; a node's span names its one operator or none."""
        starts = [event["ts"] for event in operators]
        for begin_us, end_us, layer, kind in sorted(self.spans, key=lambda span: span[0] - span[1]):
            inside = operators[bisect.bisect_left(starts, begin_us) : bisect.bisect_right(starts, end_us)]
            found = [event for event in inside if runs(event["name"].strip("[]"), kind)]
            if kind == EVERY or len(found) == 1:
                for event in found:
                    event["args"] = {"layer": layer}

    def _by_order(self, operators, step_us, begin_us, end_us, kinds):
        forward = [event for event in operators if step_us <= event["ts"] < begin_us and "args" in event]
        for kind, count in kinds.items():
            names = [event["args"]["layer"] for event in forward if event["name"] == kind]
            found = [
                event
                for event in operators
                if begin_us <= event["ts"] <= end_us and event["name"] == f"{BACKWARD}{kind}"
            ]
            if len(names) == len(found) == count:
                for event, layer in zip(found, reversed(names)):
                    event["args"] = {"layer": layer}


def runs(operator, kind):
    """Whether an operator is of a kind; where none is given, whether it is not upkeep of the engine."""
    return operator not in UPKEEP if kind in (ONLY, EVERY) else operator == kind


def layer_of(output):
    """The layer behind the name of a node's output: `conv1_fwd_backward_0` is of `conv1`."""
    before = None
    while output != before:
        before, output = output, OUTPUT.sub("", output)
    return FORWARD_NODE.sub("", output)


def one_after_the_other(nodes):
    """The kinds of which each node of a graph needs the one before it, each with its number of nodes; `nodes` as in a
    symbol's JSON."""
    above = []
    for node in nodes:
        inputs = [index for index, *_ in node["inputs"]]
        above.append(set(inputs).union(*(above[index] for index in inputs)))
    of_kind = {}
    for index, node in enumerate(nodes):
        of_kind.setdefault(node["op"], []).append(index)
    return {
        kind: len(found)
        for kind, found in of_kind.items()
        if kind != "null" and all(first in above[second] for first, second in zip(found, found[1:]))
    }


def now_us():
    """Microseconds since 1970."""
    return int(1e6 * time.time())
