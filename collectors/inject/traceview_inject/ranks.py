"""The place of a process among those of its job, as launchers put it into the environment.

torchrun sets RANK, Horovod, Open MPI and MPICH the same with a prefix, MXNet's launcher DMLC_WORKER_ID, and TensorFlow
reads TF_CONFIG. A framework that knows better asks its own communication first.
"""

import json
import os

VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("HOROVOD_RANK", "HOROVOD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
)


def launched():
    """Return rank and size of the job; None and None where no launcher tells them."""
    found = _tensorflow()
    if found:
        return found
    pairs = VARIABLES
    if os.environ.get("DMLC_ROLE") == "worker":
        pairs += (("DMLC_WORKER_ID", "DMLC_NUM_WORKER"),)
    for rank, size in pairs:
        if os.environ.get(rank, "").isdigit():
            total = os.environ.get(size, "")
            return int(os.environ[rank]), int(total) if total.isdigit() and int(total) else 1
    return None, None


def _tensorflow():
    try:
        config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        workers = [(kind, at) for kind in ("chief", "worker") for at in range(len(config["cluster"].get(kind, ())))]
        return workers.index((config["task"]["type"], int(config["task"]["index"]))), len(workers)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
