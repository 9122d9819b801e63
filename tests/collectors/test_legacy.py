"""The larger training samples of old frameworks, in the environments that `make legacy` builds."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from legacy import TRAINING, compiled, python

ALEXNETS = ("mxnet", "tensorflow1", "theano")


@pytest.mark.parametrize("framework", ALEXNETS)
def test_the_larger_samples_train(framework):
    script = TRAINING / f"alexnet_{framework}.py"
    variables = compiled() if framework == "theano" else {}
    done = subprocess.run(
        [python(framework), script, "--batch", "2", "--steps", "2", "--device", "cpu", "--threads", "1"],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, *steps, _, last = done.stdout.splitlines()
    assert first.startswith("alexnet: 62378344 parameters, batch 2, cpu, ")
    assert [line.split(": loss ")[0] for line in steps] == ["step 1", "step 2"]
    found = json.loads(last)
    assert (found["framework"], found["steps"], found["threads"]) == (framework, 2, 1)
