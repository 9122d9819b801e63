"""Forward operators that run again for the gradient."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from advised import answer, training
from asked import ask
from given import Given
from memories import allocated

from traceview.analysis import advice

RULE = "recomputation"
SQUARE = [[256, 256], [256, 256]]


def product(given: Given, at: float, sequence: int | None) -> None:
    """A product of 20 us, which autograd records where it has a number."""
    facts = {"shapes": json.dumps(SQUARE), "types": '["float", "float"]', "inputs": '["", ""]', "sequence": sequence}
    given.add("ops", name="aten::mm", pid=1, tid=1, start_ns=round(1000 * at), dur_ns=10_000, **facts)
    given.kernel("ampere_sgemm_128x64_nn", at + 20, at + 40, launched=at + 1)


def steps(again: bool, recorded: int | None = None) -> Given:
    """Three steps; `recorded` is autograd's number of the gradient itself, which it has with create_graph."""
    given = training()
    for start in (0, 1000, 2000):
        product(given, start + 10, 1)
        facts = {"sequence": 3, "forward_thread": 1, "dur_ns": 300_000, "start_ns": 1000 * (start + 100)}
        given.add("ops", name="autograd::engine::evaluate_function: MmBackward0", pid=1, tid=1, **facts)
        inside = {"sequence": 3, "forward_thread": 1, "dur_ns": 290_000, "start_ns": 1000 * (start + 105)}
        given.add("ops", name="MmBackward0", pid=1, tid=1, **inside)
        if again:
            product(given, start + 110, 7)
        product(given, start + 200, recorded)
    return given


@pytest.mark.slow
def test_what_runs_again_is_found_and_gradients_are_not(tmp_path: Path) -> None:
    found = answer(RULE, steps(True), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 20_000)
    assert found.problem == ("Of 0.060 ms of operators 0.020 ms are the forward pass again, 0.020 ms of it products.")


def test_gradients_alone_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(False), tmp_path).status == "not found"


def test_gradients_of_which_the_gradient_will_be_asked_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(False, recorded=7), tmp_path).status == "not found"


def test_memory_that_was_recorded_is_told(tmp_path: Path) -> None:
    given = steps(True)
    given.rows["devices"][0]["memory_bytes"] = 80_000_000_000
    given.add("counters", name="allocated_bytes", device=0, start_ns=500, value=12_340_000_000.0)
    assert answer(RULE, given, tmp_path).evidence[-1] == "at most 12.34 GB of memory were allocated, of 80.0 GB"


def test_modules_have_what_would_be_kept_instead(tmp_path: Path) -> None:
    """Memory that an operator allocates when it runs again counts if it is there at its end; workspace does not."""
    given = steps(True)
    for start in (0, 1000, 2000):
        given.span("module", "Linear: first", start + 105, start + 125)
        product(given, start + 130, 8)
        given.span("module", "Linear: second", start + 129, start + 145)
        for at, until, size in ((112, 190, 2_000_000), (114, 116, 7_000_000), (132, 195, 1_000_000)):
            allocated(given, start + at, start + until, size_bytes=size)
    found = answer(RULE, given, tmp_path)
    assert [line.partition("; ")[2] for line in found.evidence[:2]] == [
        "2.00 MB to keep instead",
        "1.00 MB to keep instead",
    ]
    assert found.evidence[2].startswith("per memory")


def test_without_sizes_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, training(), tmp_path).status == "cannot tell"


@pytest.mark.long
@pytest.mark.shared
def test_public_traces_with_and_without_checkpoints(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    (found,) = advice.run(
        captures.open(shared / "traces/operators/mi300-resnet-checkpoint.json.gz"), advice.load([RULE])
    )
    assert found.status == "found" and found.saving_ns == pytest.approx(118_621, rel=1e-3)
    (found,) = advice.run(captures.open(shared / "traces/kineto/mi300-resnet18-train.json.gz"), advice.load([RULE]))
    assert found.status == "not found"


PASSES = """
import sys, torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint
torch.set_num_threads(1)
torch.manual_seed(0)
weights = [torch.nn.Parameter(torch.randn(64, 64) / 8) for _ in range(3)]
def layers(x):
    for weight in weights:
        x = torch.tanh(torch.mm(x, weight))
    return x
def gates(x):
    for weight in weights:
        x = x * weight * x
    return x
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.mm(x, weights[0].detach())
    @staticmethod
    def backward(ctx, g):
        return torch.mm(g, weights[0].detach())
x = torch.randn(64, 64, requires_grad=True)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
    if sys.argv[1].startswith("penalty"):
        function = gates if sys.argv[1].endswith("gates") else layers
        (g,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        (g.norm(dim=1) - 1).pow(2).mean().backward()
    elif sys.argv[1] == "custom":
        Again.apply(layers(x)).sum().backward()
    else:
        checkpoint(layers, x, use_reentrant=sys.argv[1].endswith("reentrant")).sum().backward()
profiler.export_chrome_trace(sys.argv[2])
"""
"""Gradients of gradients, with the sizes of the forward pass; a function whose gradient is the forward operator; and
checkpoints."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("passes", "n"),
    [("penalty", 0), ("penalty of gates", 0), ("custom", 0), ("checkpoint", 3), ("checkpoint, reentrant", 3)],
)
def test_only_checkpoints_run_the_forward_pass_again(passes: str, n: int, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    subprocess.run([sys.executable, "-c", PASSES, passes, trace], check=True, capture_output=True)
    query = "SELECT count(*) FILTER (is_recompute) FROM op_costs WHERE op_name IN ('aten::mm', 'aten::mul')"
    assert ask(trace, query) == [(n,)]
