"""Facts of an MXNet program for `rank-NNNN.meta.json`.

Invariant: what is not known is None.
"""

import os
import weakref

import mxnet as mx
from mxnet import gluon

from traceview_inject import onednn, ranks, raw
from traceview_inject.model import Model


class Facts:
    """Collects what `rank-NNNN.meta.json` says."""

    runs_ahead = True

    def __init__(self):
        self.model = Model()
        self.owner = lambda: None
        self.warnings = []
        self.rank = self.world_size = None
        self.device = "cpu"

    def see_call(self, thing, *arguments):
        """The outermost block or module that is called, and with what: the first one is the model."""
        if self.owner() is None and not isinstance(thing, gluon.loss.Loss):
            self.owner = weakref.ref(thing)
            self.model.name = type(thing).__name__
            self.model.see_arguments(getattr(batch, "data", batch) for batch in arguments)

    def see_parameters(self, arrays):
        """All parameters that are trained, as arrays."""
        arrays = list(arrays)
        self.model.see_variables(arrays)
        if any(array.context.device_type == "gpu" for array in arrays):
            self.device = "cuda"

    def synchronize(self):
        """MXNet computes behind the program's back, on any device."""
        mx.nd.waitall()

    def see_job(self):
        """Rank and size of the job."""
        self.rank, self.world_size = ranks.launched()

    def collect(self, logs):
        """All of it as one dictionary; `logs` are (path, suffix) of the logs beside the trace."""
        facts = raw.process_facts()
        facts.update(
            framework="mxnet",
            framework_version=mx.__version__,
            onednn_version=next((onednn.version(path) for path, _ in logs), None),
            device=self.device,
            devices=[facts["cpu"]] if self.device == "cpu" else [f"gpu({n})" for n in range(mx.context.num_gpus())],
            threads=_threads(),
            flags={
                "engine": os.environ.get("MXNET_ENGINE_TYPE", "ThreadedEnginePerDevice"),
                "bulk": os.environ.get("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN") != "0",
                "onednn": mx.runtime.Features().is_enabled("MKLDNN")
                and os.environ.get("MXNET_MKLDNN_ENABLED", "1") != "0",
                "cudnn_autotune": os.environ.get("MXNET_CUDNN_AUTOTUNE_DEFAULT"),
            },
            model=self.model.facts(),
            world_size=self.world_size or 1,
            warnings=self.warnings,
        )
        return facts


def _threads():
    """How many threads OpenMP gives one operator."""
    try:
        return int(mx.base._LIB.omp_get_max_threads())
    except AttributeError:
        return None
