"""Memory that XLA's compiler assigned to programs, as reports say it, and as JAX itself does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import framework_programs
import pytest
from given import Given, pick, section

import traceview

STEP = (
    ("argument", 0, "p['w']", 4000), ("aliased", 1, "m['w']", 300), ("aliased", 2, "m['b']", 20),
    ("argument", 3, "x", 64), ("argument", 4, None, 8), ("output", None, None, 7), ("output", None, None, 1),
    ("constant", None, None, 16), ("temporary", None, None, 2500), ("thread_local", None, None, 9),
)  # fmt: skip


def compiled() -> Given:
    given = Given()
    for buffer, (kind, parameter, label, size) in enumerate(STEP):
        given.add(
            "program_buffers", module="jit_step", program=7, buffer=buffer, kind=kind, parameter=parameter,
            label=label, size_bytes=size, memory_space=0,
        )  # fmt: skip
    given.add("program_buffers", module="jit_step", program=7, buffer=10, kind="output", size_bytes=5, memory_space=5)
    given.add("program_buffers", module="jit_small", program=8, buffer=0, kind="output", size_bytes=0, memory_space=0)
    return given


def test_memory_of_programs(tmp_path: Path) -> None:
    found = section(compiled().open(tmp_path), "memory/programs")
    columns = ("argument_bytes", "aliased_bytes", "output_bytes", "temporary_bytes", "constant_bytes", "total_bytes")
    assert pick(found, "module", "memory_space", "arguments", *columns) == [
        # The total holds donated arguments once, and nothing of the stacks of threads.
        ("jit_step", 0, 5, 4392, 320, 328, 2500, 16, 4000 + 300 + 20 + 64 + 8 + 7 + 1 + 16 + 2500),
        ("jit_step", 5, 0, 0, 0, 5, 0, 0, 5),
        ("jit_small", 0, 0, 0, 0, 0, 0, 0, 0),
    ]
    assert [row["temporary_pct"] for row in found] == [100.0 * 2500 / 6916, 0.0, None]


def test_arguments_by_the_names_that_the_program_has(tmp_path: Path) -> None:
    found = section(compiled().open(tmp_path), "memory/arguments")
    assert pick(found, "module", "argument", "pieces", "size_bytes", "donated_bytes") == [
        ("jit_step", "p", 1, 4000, 0),
        ("jit_step", "m", 2, 320, 320),
        ("jit_step", "x", 1, 64, 0),
        ("jit_step", None, 1, 8, 0),
    ]
    assert sum(row["argument_pct"] for row in found) == pytest.approx(100)


def test_of_programs_of_one_name_those_that_ran(tmp_path: Path) -> None:
    given = Given()
    for module, program in (("jit_f", 1), ("jit_f", 2), ("jit_g", 3), ("jit_g", 4), ("jit_h", None), ("jit_i", 5)):
        given.add("program_buffers", module=module, program=program, buffer=0, kind="output", size_bytes=8)
    given.add("ops", name="a", hlo_module="jit_f", hlo_program=2, pid=1, tid=1, start_ns=0, dur_ns=5)
    given.kernel("k", 10, 20, hlo_module="jit_g", hlo_program=3)
    given.add("ops", name="b", hlo_module="jit_i", pid=1, tid=1, start_ns=9, dur_ns=5)
    found = section(given.open(tmp_path), "memory/programs")
    assert sorted(pick(found, "module", "program"), key=str) == [
        ("jit_f", 2), ("jit_g", 3), ("jit_h", None), ("jit_i", 5),
    ]  # fmt: skip


def test_without_programs_there_is_no_row(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::mm", 1, 5)
    capture = given.open(tmp_path)
    assert section(capture, "memory/programs") == section(capture, "memory/arguments") == []


PROGRAM = """
import functools, json, jax, jax.numpy as jnp
shapes = {"a": (64, 128), "b": (128, 10)}
p = {name: {"w": jnp.full(shape, 0.01), "b": jnp.zeros(shape[1])} for name, shape in shapes.items()}
m = jax.tree.map(jnp.zeros_like, p)
def net(p, x):
    return jax.nn.relu(x @ p["a"]["w"] + p["a"]["b"]) @ p["b"]["w"] + p["b"]["b"]
def loss(p, x, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(net(p, x)), y[:, None], 1))
@functools.partial(jax.jit, donate_argnums=(0, 1))
def train(p, m, x, y):
    value, g = jax.value_and_grad(loss)(p, x, y)
    m = jax.tree.map(lambda m, g: .9 * m + g, m, g)
    return jax.tree.map(lambda p, m: p - .1 * m, p, m), m, value
@jax.jit
def evaluate(p, x):
    return jnp.argmax(net(p, x), 1), x * 2
x, y = jnp.ones((32, 64)), jnp.zeros(32, jnp.int32)
said = {}
def compiled(f, *args):
    program = f.lower(*args).compile()
    stats = program.memory_analysis()
    names = ("argument", "alias", "output", "temp")
    said["jit_" + f.__name__] = [getattr(stats, name + "_size_in_bytes") for name in names]
    return program
train, evaluate = compiled(train, p, m, x, y), compiled(evaluate, p, x)
json.dump(said, open("said.json", "w"))
p, m, _ = train(p, m, x, y)
evaluate(p, x)
with jax.profiler.trace("trace"):
    p, m, value = train(p, m, x, y)
    jax.block_until_ready((value, evaluate(p, x)))
"""


@pytest.mark.long
def test_sizes_are_those_of_jax_itself(tmp_path: Path) -> None:
    """`Compiled.memory_analysis()` of a program that donates its arguments, and of one that does not."""
    framework_programs.need("jax")
    script = framework_programs.program(tmp_path, PROGRAM)
    subprocess.run([framework_programs.PYTHON, script], cwd=tmp_path, check=True, timeout=300)
    said = json.loads((tmp_path / "said.json").read_text())
    (trace,) = tmp_path.glob("trace/**/*.xplane.pb")
    with traceview.open(trace) as capture:
        found = capture.sql("FROM program_buffers").df()
    kinds = (("argument", "aliased"), ("aliased",), ("output", "aliased"), ("temporary",))
    sizes = {
        module: [int(rows[rows.kind.isin(kind)].size_bytes.sum()) for kind in kinds]
        for module, rows in found.groupby("module")
        if module in said
    }
    assert sizes == said and said["jit_train"][1] > 0, "the donated arguments"
