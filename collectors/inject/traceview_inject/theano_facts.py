"""Facts of a Theano program for `rank-NNNN.meta.json`.

Invariant: what is not known is None.
"""

import os

import theano

from traceview_inject import raw
from traceview_inject.model import Model


class Facts:
    """Collects what there is to say."""

    def __init__(self):
        self.model = Model()
        self.warnings = []
        self.rank = self.world_size = None

    def see_function(self, function):
        """A function that trains: what it updates and computes gradients for."""
        values = [variable.get_value(borrow=True) for variable in trained(function)]
        self.model.see_variables(values)

    def see_job(self):
        """Theano has no ranks."""

    def collect(self, logs):
        """All of it as one dictionary."""
        facts = raw.process_facts()
        config = theano.config
        is_gpu = config.device.startswith(("cuda", "gpu"))
        facts.update(
            framework="theano",
            framework_version=theano.__version__,
            device="cuda" if is_gpu else "cpu",
            devices=[config.device] if is_gpu else [facts["cpu"]],
            threads=int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count()) if config.openmp else 1,
            flags={
                "floatX": config.floatX,
                "mode": config.mode,
                "linker": config.linker,
                "optimizer": config.optimizer,
                "blas": config.blas.ldflags or "NumPy's",
                "openmp": config.openmp,
            },
            model=self.model.facts(),
            world_size=1,
            warnings=self.warnings,
        )
        return facts


def updates(function):
    """(variable, new value) of each shared variable that a function updates."""
    return [(spec.variable, spec.update) for spec in function.maker.inputs if spec.update is not None]


def trains(function):
    """Whether a function updates floating point variables; random states are none."""
    return any(str(getattr(variable, "dtype", "")).startswith("float") for variable, _ in updates(function))


def trained(function):
    """The shared variables that training changes, without bookkeeping: each feeds the function's own results."""
    inputs = {id(variable) for variable, _ in updates(function)}
    graph = function.maker.fgraph
    from_inputs = dict(zip(graph.inputs, function.maker.inputs))
    results = [variable for place, variable in enumerate(graph.outputs) if place not in graph.update_mapping]
    seen, left, found = set(), list(results), []
    while left:
        variable = left.pop()
        if variable in seen:
            continue
        seen.add(variable)
        spec = from_inputs.get(variable)
        if spec is not None and id(spec.variable) in inputs and hasattr(spec.variable, "get_value"):
            if str(spec.variable.dtype).startswith("float"):
                found.append(spec.variable)
        elif variable.owner is not None:
            left += variable.owner.inputs
    return found
