"""What `rank-NNNN.meta.json` says of a TensorFlow 1 program.

Invariant: what is not known is None.
"""

import json
import os

import tensorflow as tf
import traceview_raw as raw
from tensorflow.python.client import device_lib
from traceview_model import Model


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
        """Rank and size from TF_CONFIG, or from the launchers of MPI and Horovod."""
        try:
            config = json.loads(os.environ.get("TF_CONFIG") or "{}")
            workers = [(kind, at) for kind in ("chief", "worker") for at in range(len(config["cluster"].get(kind, ())))]
            self.rank = workers.index((config["task"]["type"], int(config["task"]["index"])))
            self.world_size = len(workers)
            return
        except (ValueError, LookupError, TypeError, AttributeError):
            pass
        for prefix in ("HOROVOD_", "OMPI_COMM_WORLD_", "PMI_"):
            if os.environ.get(f"{prefix}RANK", "").isdigit():
                self.rank = int(os.environ[f"{prefix}RANK"])
                self.world_size = int(os.environ.get(f"{prefix}SIZE") or 1)
                return

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
