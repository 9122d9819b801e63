"""torch.compile neither sees the collector's functions nor stops working because of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

PRELUDE = """
import sys
import torch, torch._dynamo
from traceview_inject.torch_compiler import kept_from_compiler, outside_compiler

frames = []

def backend(graph, inputs):
    frames.append([node.target for node in graph.graph.nodes if node.op == "call_function"])
    return graph.forward
"""


@pytest.fixture
def program(inject):
    """`program(body)` runs a program that compiles, apart from this process's own Dynamo; returns its lines."""

    def run(body: str) -> list[str]:
        script = f"import sys\nsys.path.insert(0, {str(inject)!r})\n{PRELUDE}\n{body}"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


@pytest.mark.long
def test_a_kept_function_is_skipped_and_what_it_calls_is_compiled(program):
    body = """
def double(x):
    return x * 2

@kept_from_compiler
def around(x):
    sys.audit("not for compilers")
    return double(x)

compiled = torch.compile(around, backend=backend)
print(compiled(torch.ones(2)).tolist(), [[target.__name__ for target in frame] for frame in frames])
"""
    assert program(body) == ["[2.0, 2.0] [['mul']]"]


@pytest.mark.long
def test_outside_means_that_nothing_is_compiled(program):
    body = """
def bookkeeping(x):
    return x + 1

def step(x):
    torch._dynamo.graph_break()
    return outside_compiler(bookkeeping, x) * 2

print(torch.compile(step, backend=backend)(torch.ones(2)).tolist())
print(any(target.__name__ == "add" for frame in frames for target in frame))
"""
    assert program(body) == ["[4.0, 4.0]", "False"]


@pytest.mark.long
def test_the_compiler_is_back_after_an_exception(program):
    body = """
def fail():
    raise ValueError("no")

@kept_from_compiler
def around(x):
    try:
        outside_compiler(fail)
    except ValueError:
        pass
    return inner(x)

def inner(x):
    return x * 3

print(torch.compile(around, backend=backend)(torch.ones(1)).tolist(), len(frames))
"""
    assert program(body) == ["[3.0] 1"]
