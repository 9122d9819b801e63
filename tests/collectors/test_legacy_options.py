"""Options in real programs of old frameworks (`make legacy`): what each did, and that one without effect says so."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from legacy import ROOT, compiled, python

from traceview.experiments.tune import options
from traceview.experiments.tune.options import Facts

END = """
import json, sys
times = sys.modules["traceview_inject.times"]
for check in times.AT_THE_END:
    check()
print(json.dumps(times.SEEN))
"""
SESSION = """
import tensorflow as tf
numbers = {}
with tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(**numbers) if numbers else None) as session:
    session.run(tf.constant(1.0))
"""


def said(environment: str, framework: str, program: str, name: str, folder: Path, **variables: str) -> str:
    """Return an option's result for a program that has ended, on a machine of two cores."""
    facts = Facts(framework, "", "cpu", 2, options.installed())
    base = {**os.environ, **variables, "PYTHONPATH": str(ROOT / "collectors" / "inject"), "TRACEVIEW_MODE": "apply"}
    base["TRACEVIEW_DIR"] = str(folder)
    done = subprocess.run(
        [python(environment), "-c", program + END], env=options.environment(options.named([name]), facts, base),
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout.splitlines()[-1])[name])


@pytest.mark.long
@pytest.mark.skipif(len(os.sched_getaffinity(0)) != 2, reason="says what it does on two cores")
@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ("", "yes: a session of 2 threads within and between operators"),
        ("intra_op_parallelism_threads=1", "yes: a session of 2 threads within and between operators instead of the "
         "script's 1 and 0"),
        (
            "intra_op_parallelism_threads=2, inter_op_parallelism_threads=2",
            "no: it is so already, by the script or by default",
        ),
    ],
)  # fmt: skip
def test_a_session_gets_the_threads_whatever_it_was_to_be_made_with(tmp_path, numbers: str, expected: str) -> None:
    program = SESSION.replace("{}", f"dict({numbers})", 1)
    assert said("tensorflow1", "tensorflow", program, "tensorflow_threads", tmp_path) == expected


@pytest.mark.parametrize(
    ("name", "own", "expected"),
    [
        ("theano_keep_memory", "", "yes: THEANO_FLAGS=allow_gc=False; theano.config.allow_gc is False"),
        ("theano_keep_memory", "theano.config.allow_gc = True", "no: theano.config.allow_gc is True"),
        ("theano_openmp", "theano.config.openmp = False", "no: theano.config.openmp is False"),
        ("theano_optimizer", "theano.config.optimizer = 'None'", "no: theano.config.optimizer is None"),
    ],
)
def test_what_a_theano_program_sets_back_is_seen(tmp_path, name: str, own: str, expected: str) -> None:
    assert said("theano", "theano", f"import theano\n{own}\n", name, tmp_path, **compiled()) == expected


@pytest.mark.long
@pytest.mark.parametrize("name", ["kmp_bound", "kmp_blocktime"])
def test_intels_openmp_library_reads_its_variables_in_cntk(tmp_path, name: str) -> None:
    home = python("cntk").parents[1]
    libraries = f"{home / 'lib-mpi'}:{home / 'lib'}"
    text = said("cntk", "cntk", "import cntk\n", name, tmp_path, LD_LIBRARY_PATH=libraries)
    assert text.startswith("yes: KMP_") and text.endswith(", read by libiomp5.so")
