"""Facts of a TensorFlow 1 program for `rank-NNNN.meta.json`.

Invariant: what is not known is None.
"""

import tensorflow as tf
from tensorflow.python.client import device_lib

from traceview_inject import ranks, raw
from traceview_inject.model import Model


class Facts:
    """Collects what there is to say."""

    def __init__(self):
        self.model = Model()
        self.warnings = []
        self.rank = self.world_size = None
        self.config = None

    def see_session(self, session, graph):
        """The session that runs, with the options it was made with, and the variables that its graph trains."""
        self.config = session._config
        variables = graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)
        self.model.see_variables([Variable(variable) for variable in variables])

    def see_job(self):
        """Rank and size of the job."""
        self.rank, self.world_size = ranks.launched()

    def collect(self, logs):
        """All of it as one dictionary."""
        facts = raw.process_facts()
        devices = device_lib.list_local_devices()
        gpus = [device.physical_device_desc for device in devices if device.device_type == "GPU"]
        config = self.config
        facts.update(
            framework="tensorflow",
            framework_version=tf.__version__,
            device="cuda" if gpus else "cpu",
            devices=gpus or [facts["cpu"]],
            # 0: as many as there are cores
            threads=config.intra_op_parallelism_threads if config else 0,
            interop_threads=config.inter_op_parallelism_threads if config else 0,
            flags={
                "jit": config.graph_options.optimizer_options.global_jit_level if config else 0,
                "mkl": bool(tf.python.pywrap_tensorflow.IsMklEnabled()),
                "cuda": tf.test.is_built_with_cuda(),
            },
            model=self.model.facts(),
            world_size=self.world_size or 1,
            warnings=self.warnings,
        )
        return facts


class Variable:
    """Shape and type of a variable in whole numbers and words."""

    def __init__(self, variable):
        self.shape = tuple(variable.shape.as_list()) if variable.shape.is_fully_defined() else None
        self.dtype = variable.dtype.base_dtype
