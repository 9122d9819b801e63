"""Marks of the kernels that Inductor made for a CPU, and what torch.compile did, counted by a program that knows."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("torch")

COUNTED = """
layer = nn.Linear(4, 4)

def step(x):
    y = layer(x).relu()
    torch._dynamo.graph_break()
    return y.sigmoid().sum()

compiled = torch.compile(step, backend="eager", dynamic=False)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for rows in (2, 2, 3, 5, 2, 2, 2, 2, 2, 9):
    optimizer.zero_grad()
    compiled(torch.randn(rows, 4)).backward()
    optimizer.step()
"""


def test_graphs_and_breaks_are_those_of_the_program(program):
    ran = program(COUNTED)
    assert (ran.code, ran.stderr) == (0, "")
    told = ran.meta()["compiled"]
    assert told["is_complete"]
    # Three shapes until the recording was over, each in two pieces; the fourth comes behind it.
    assert sorted(graph["id"] for graph in told["graphs"]) == ["0/0", "0/1", "0/2", "1/0", "1/1", "1/2"]
    again = {graph["id"]: graph["recompiled"] for graph in told["graphs"] if graph["recompiled"]}
    assert sorted(again) == ["0/1", "0/2", "1/1", "1/2"]
    assert "size mismatch at index 0. expected 2, actual 3" in again["0/1"]
    assert [(each["line"], each["function"]) for each in told["breaks"]] == [(line(ran, "graph_break()"), "step")] * 3


def line(ran, text):
    """The number of the line of the program that holds a text."""
    script = (ran.raw.parent.parent / "program.py").read_text().splitlines()
    return next(number for number, content in enumerate(script, 1) if text in content)


@pytest.mark.long
def test_kernels_are_marked_with_their_lines_and_nothing_is_compiled_for_it(program):
    body = """
os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.getcwd(), "compiled")

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        x = nn.functional.gelu(self.fc(x))
        return x.softmax(1)

model = Two()
compiled = torch.compile(model)
optimizer = sgd(model)
for step in range(12):
    optimizer.zero_grad()
    compiled(torch.ones(4, 8)).square().sum().backward()
    optimizer.step()
import torch._dynamo.utils
import torch._inductor.codecache
left = [name for module in torch._inductor.codecache.PyCodeCache.modules for name, value in vars(module).items()
    if hasattr(value, "of_traceview")]
print(torch._dynamo.utils.counters["stats"]["unique_graphs"], left)
"""
    ran = program(body, stacks=1)
    # A build of torch for CUDA says so where nvcc is there and no GPU.
    said = [line for line in ran.stderr.splitlines() if "No CUDA runtime is found" not in line]
    assert (ran.stdout, said) == (b"1 []\n", [])
    kernels = [event for event in ran.events() if event.get("name", "").startswith("cpp_fused_")]
    assert kernels and len(kernels) % 4 == 0
    assert all(event["args"]["Input Dims"] for event in kernels)
    assert any("gelu" in event["name"] for event in kernels)
    assert {name for name in ran.names() if name.startswith("traceview.source: program.py(")} == {
        f"traceview.source: program.py({line(ran, text)}): forward" for text in ("gelu(", "softmax(")
    }
    assert [graph["id"] for graph in ran.meta()["compiled"]["graphs"] if not graph["is_backward"]] == ["0/0"]
