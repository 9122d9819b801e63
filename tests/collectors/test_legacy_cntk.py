"""CNTK programs under their collector, in the environment that `make legacy` builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from legacy import TRAINING, collect, described, opened, program, python, rows
from promised import promised


@pytest.fixture(scope="module")
def lenet_cntk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in CNTK, collected once."""
    folder = tmp_path_factory.mktemp("cntk")
    done = collect("cntk", folder, "-W", "ignore", TRAINING / "lenet_cntk.py", "--steps", "8", "--batch", "8", **mpi())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lenet: 431080 parameters, batch 8, cpu, nchw\n")
    assert promised(done.stdout)["updated"]
    assert "forward avg" not in done.stderr
    return folder


def mpi() -> dict[str, str]:
    """Return the variables that lead to the MPI of CNTK's environment."""
    return {"LD_LIBRARY_PATH": str(python("cntk").parents[1] / "lib-mpi")}


def test_cntk_steps_and_facts(lenet_cntk):
    about = described(lenet_cntk)
    assert (about["framework"], about["framework_version"], about["device"]) == ("cntk", "2.7", "cpu")
    assert (about["model"]["parameters"], about["model"]["batch"]) == (431_080, 8)
    assert about["model"]["input"]["shape"] == [8, 1, 28, 28]
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
    assert rows(opened(lenet_cntk), "SELECT step FROM steps ORDER BY 1") == [(3,), (4,), (5,)]


def test_cntk_times_layers_forward_and_backward(lenet_cntk):
    named = """SELECT layer, kind, list(DISTINCT direction ORDER BY direction), any_value(n) FROM layer_times
        WHERE layer NOT SIMILAR TO '[A-Z].*' GROUP BY ALL ORDER BY layer, kind"""
    both = ["backward", "forward"]
    kinds = {"conv": ("bias", "conv"), "fc": ("bias", "gemm"), "pool": ("pooling",), "relu": ("activation",)}
    layers = ("conv1", "conv2", "fc1", "fc2", "pool1", "pool2", "relu1", "tanh1", "tanh2")
    expected = [(layer, kind, both, 3) for layer in layers for kind in kinds.get(layer[:-1], ("activation",))]
    assert rows(opened(lenet_cntk), named) == expected


def test_cntk_output_errors_and_own_timing_stay_the_programs(tmp_path):
    body = """
import os, sys
import cntk as C, numpy as np
from cntk.debugging import debug
x = C.input_variable(4)
net = C.layers.Dense(2)(x)
loss = C.reduce_sum(net)
trainer = C.Trainer(net, (loss, None), [C.sgd(net.parameters, C.learning_parameter_schedule(0.1))])
OWN
for step in range(8):
    trainer.train_minibatch({x: np.ones((3, 4), np.float32)})
    os.write(2, b"err %d\\n" % step)
trainer.print_node_timing()
sys.exit(5)
"""
    done = collect("cntk", tmp_path, "-W", "ignore", program(tmp_path, body.replace("OWN", "")), **mpi())
    assert (done.returncode, "exit code 5" in done.stderr) == (5, True), done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("err ")] == [f"err {n}" for n in range(8)]
    assert rows(opened(tmp_path), "SELECT count(*) FROM steps") == [(3,)]
    (tmp_path / "own").mkdir()
    own = program(tmp_path / "own", body.replace("OWN", "debug.set_node_timing(True)"))
    done = collect("cntk", tmp_path / "own", "-W", "ignore", own, **mpi())
    assert "given up: the program times its nodes itself" in done.stderr and "(fwd# 8|bwd# 8)" in done.stderr
