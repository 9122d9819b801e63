"""A plan in an unchanged script, in a real process: what it holds for, what it does not, and plans that attack."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cases import first

torch = pytest.importorskip("torch")

from traceview.experiments.schedule.job import with_plan  # noqa: E402

INJECT = Path(__file__).resolve().parents[3] / "collectors" / "inject"
SCRIPT = """
import copy, io, pickle, sys
import torch
torch.set_num_threads(1)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.second = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.grouped = torch.nn.Conv2d(8, 8, 3, padding=1, groups=4)
        self.wide = torch.nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.same = torch.nn.Conv2d(8, 8, 3, padding="same")
        self.up = torch.nn.ConvTranspose2d(8, 4, 2)
    def forward(self, x):
        x = self.second(torch.relu(self.first(x)))
        return self.up(self.same(self.wide(self.grouped(x))))

def step(net, x):
    net.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    return float(loss.detach())

net, x = Net(), torch.randn(4, 3, 12, 12, generator=torch.Generator().manual_seed(1))
case, keys = sys.argv[1], list(net.state_dict())
if case == "shapes":
    step(net, x[:3])
elif case == "double":
    net, x = net.double(), x.double()
elif case == "autocast":
    with torch.autocast("cpu", torch.bfloat16):
        net(x)
elif case == "copies":
    step(net, x)
    net = pickle.loads(pickle.dumps(copy.deepcopy(net)))
    saved = io.BytesIO()
    torch.save(net.state_dict(), saved)
    saved.seek(0)
    net.load_state_dict(torch.load(saved))
elif case == "eval":
    with torch.no_grad():
        net.eval()(x)
elif case == "compile":
    net = torch.compile(net, backend="eager")
elif case == "ddp":
    torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=0, world_size=1)
    net = torch.nn.parallel.DistributedDataParallel(net)
    keys = list(net.state_dict())
print("%.6f %.6f %.6f" % (step(net, x), step(net, x[:2]), sum(float(p.grad.abs().sum()) for p in net.parameters())))
assert list(net.state_dict()) == keys or case == "compile"
"""
SHAPE = {
    "batch": 4, "in_channels": 8, "height": 12, "width": 12, "out_channels": 8, "filter_height": 3, "filter_width": 3,
    "stride_h": 1, "stride_w": 1, "pad_h": 1, "pad_w": 1, "dilation_h": 1, "dilation_w": 1, "groups": 1,
    "dtype": "float32",
}  # fmt: skip
GEMM = {"backend": "torch_gemm", "implementation": "im2col + GEMM"}
STRANGE = {**GEMM, "implementation": "\x1b[2J"}


def layer(module: str, **sizes: int) -> dict[str, Any]:
    """A layer whose passes all run as GEMM, which every processor can."""
    return {
        "module": module,
        "shape": {**SHAPE, **sizes},
        "layout": "nchw",
        "fprop": GEMM,
        "dgrad": GEMM,
        "wgrad": GEMM,
    }


def plan(**more: Any) -> dict[str, Any]:
    layers = [layer("first", in_channels=3), layer("second")]
    return {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": layers, **more}


def ran(tmp_path: Path, told: object, case: str = "") -> subprocess.CompletedProcess[str]:
    """The script under a plan, as `traceview schedule --apply` starts it."""
    (tmp_path / "train.py").write_text(SCRIPT)
    text = told if isinstance(told, str) else json.dumps(told)
    (tmp_path / "plan.json").write_text(text)
    (tmp_path / "raw").mkdir(exist_ok=True)
    variables = {"PYTHONPATH": str(INJECT), "TRACEVIEW_MODE": "apply", "TRACEVIEW_DIR": str(tmp_path)}
    variables |= with_plan(tmp_path / "plan.json") if told is not None else {}
    words = [sys.executable, "train.py", case, str(tmp_path / "group")]
    return subprocess.run(
        words, cwd=tmp_path, env={**os.environ, **variables}, capture_output=True, text=True, timeout=600
    )


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    """Return the numbers that the script prints without a plan."""
    done = ran(tmp_path_factory.mktemp("plain"), None)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


@pytest.mark.slow
def test_a_script_under_a_plan_gives_its_numbers(tmp_path: Path, numbers: list[float]) -> None:
    done = ran(tmp_path, plan())
    assert done.returncode == 0, done.stderr
    assert [float(word) for word in done.stdout.split()] == pytest.approx(numbers, rel=1e-4)
    assert "by the plan ran 5 passes of convolutions, 0 stayed as they were" in done.stderr
    assert "calls of planned layers that ran as before: 2 with another shape\n" in done.stderr
    assert "fit no convolution" not in done.stderr


@pytest.mark.long
def test_what_the_plan_leaves_to_pytorch_counts_as_run(tmp_path: Path) -> None:
    own = {**layer("second"), "layout": "nhwc", **dict.fromkeys(("fprop", "dgrad", "wgrad"))}
    done = ran(tmp_path, plan(layers=[own]))
    assert "by the plan ran 0 passes of convolutions, 0 stayed as they were, 3 are PyTorch's own by" in done.stderr


OWN = {**layer("0"), **dict.fromkeys(("fprop", "dgrad", "wgrad"))}
FAILING = {**layer("0"), "fprop": STRANGE, "dgrad": None, "wgrad": STRANGE}


@pytest.mark.parametrize(
    ("layers", "keys", "said"),
    [
        ([layer("a")], "shape", "yes: 1 of 1 layers"),
        ([layer("a"), layer("b", out_channels=4)], "shape", "yes: 1 of 2 layers"),
        ([layer("0"), layer("1"), layer("3")], "module", "yes: 2 of 3 layers"),
        ([layer("0"), layer("1")], "shape", "yes: 1 of 1 layers"),
        ([FAILING], "module", "no: no convolution of the plan ran"),
        ([FAILING, {**OWN, "module": "1"}], "module", "no: no convolution of the plan ran"),
        ([FAILING, layer("1")], "module", "yes: 1 of 2 layers"),
        ([{**FAILING, "layout": "nhwc"}], "module", "yes: 1 of 1 layers"),
        ([OWN], "module", "yes: 1 of 1 layers"),
        ([layer("renamed"), OWN], "module", "no: no convolution of the plan ran"),
        ([{**OWN, "module": "renamed", "layout": "nhwc"}, OWN], "module", "no: no convolution of the plan ran"),
        ([{**OWN, "module": "renamed"}, OWN], "module", "yes: 1 of 2 layers"),
    ],
)
def test_the_use_of_a_plan_counts_its_layers(layers: list[dict[str, Any]], keys: str, said: str) -> None:
    """Three convolutions of one shape; what PyTorch runs anyway is no effect of a plan that changes something."""
    from traceview.convolution import runtime

    net = torch.nn.Sequential(*(torch.nn.Conv2d(8, 8, 3, padding=1) for _ in range(3)))
    document = plan(threads=torch.get_num_threads(), layers=layers, keys=keys)
    found = runtime.apply(net, document, lambda line: None)
    net(torch.randn(4, 8, 12, 12)).square().mean().backward()
    n_layers = len({runtime.key(document, entry) for entry in layers})
    changes = any(map(runtime.is_changed, layers))
    told = importlib.import_module("traceview_inject.plan").told(runtime, n_layers, changes, found)
    runtime.remove(net)
    assert told.startswith(said)


@pytest.mark.long
def test_layers_that_no_module_fits_are_counted(tmp_path: Path, numbers: list[float]) -> None:
    done = ran(tmp_path, plan(layers=[layer("second"), layer("renamed\x1b[2J"), layer("grouped")]))
    assert [float(word) for word in done.stdout.split()] == pytest.approx(numbers, rel=1e-4)
    said = "2 of the plan's 3 layers fit no convolution of this model: 'renamed\\x1b[2J', 'grouped'"
    assert said in done.stderr and "\x1b" not in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("case", ["shapes", "copies", "eval", "ddp"])
def test_what_the_plan_holds_for_runs_by_it(tmp_path: Path, case: str, numbers: list[float]) -> None:
    done = ran(tmp_path, plan(), case)
    assert done.returncode == 0, done.stderr
    assert [float(word) for word in done.stdout.split()] == pytest.approx(numbers, rel=1e-4)
    assert "passes of convolutions, 0 stayed as they were" in done.stderr


@pytest.mark.long
def test_torchrun_itself_says_nothing_beside_its_ranks(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "plan.json").write_text(json.dumps(plan()))
    variables = {"PYTHONPATH": str(INJECT), "TRACEVIEW_MODE": "apply", "TRACEVIEW_DIR": str(tmp_path)}
    (tmp_path / "raw").mkdir()
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py", "plain"]
    environment = {**os.environ, **variables, **with_plan(tmp_path / "plan.json"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("by the plan ran 5 passes of convolutions") == 2
    assert "no convolution of the plan ran" not in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("case", ["double", "compile"])
def test_types_and_compiled_regions_run_as_before(tmp_path: Path, case: str, numbers: list[float]) -> None:
    done = ran(tmp_path, plan(), case)
    assert done.returncode == 0, done.stderr
    assert [float(word) for word in done.stdout.split()] == pytest.approx(numbers, rel=1e-4)
    assert "no convolution of the plan ran" in done.stderr
    assert ("4 with another type or device" in done.stderr) == (case == "double")


@pytest.mark.long
def test_autocast_runs_as_before_and_what_follows_it_by_the_plan(tmp_path: Path, numbers: list[float]) -> None:
    done = ran(tmp_path, plan(), "autocast")
    assert [float(word) for word in done.stdout.split()] == pytest.approx(numbers, rel=1e-4)
    assert "by the plan ran 5 passes" in done.stderr
    assert "2 with autocast, tracing, inference mode or another mode" in done.stderr


@pytest.mark.long
def test_a_plan_of_shapes_finds_the_layers_whatever_they_are_called(tmp_path: Path, numbers: list[float]) -> None:
    found = plan(keys="shape", layers=[layer("alexnet conv1", in_channels=3), layer("alexnet conv2")])
    done = ran(tmp_path, found)
    assert [float(word) for word in done.stdout.split()] == pytest.approx(numbers, rel=1e-4)
    assert "by the plan ran 5 passes of convolutions, 0 stayed as they were" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("told", "said"),
    first(
        1,
        [
            (plan(layers=[layer("features.0")]), "no convolution of the plan ran"),
            (
                plan(cpu="Another\x1b[2J Processor"),
                "was made on 'Another\\x1b[2J Processor', and this is another processor",
            ),
            (
                plan(layers=[{**layer("second"), "fprop": {**GEMM, "implementation": "\x1b[2J"}}]),
                "there is no implementation",
            ),
        ],
    ),
)
def test_a_plan_that_does_not_fit_is_said(tmp_path: Path, told: object, said: str, numbers: list[float]) -> None:
    done = ran(tmp_path, told)
    assert done.returncode == 0 and said in done.stderr and "\x1b" not in done.stderr, done.stderr
    assert [float(word) for word in done.stdout.split()] == pytest.approx(numbers, rel=1e-4)


EVIL = {"backend": "os", "implementation": "system"}
ATTACKS = [
    ("[" * 100_000, "is not JSON"),
    ("{}", "not a plan of this version"),
    (plan(layers=[{**layer("second"), "fprop": EVIL}]), "names no known back-end for fprop"),
    (
        plan(layers=[{**layer("second"), "fprop": {"backend": "../../evil", "implementation": "x"}}]),
        "no known back-end",
    ),
    (plan(layers=[layer("second", batch=1 << 60)]), "has a size out of range"),
    (plan(layers=[{**layer("second"), "shape": {**SHAPE, "batch": "4; import os"}}]), "has a size out of range"),
    (plan(layers=[{**layer("second"), "module": ["second"]}]), "does not name its module"),
    (plan(layers=[layer("second")] * 3000), "more than any model"),
    (plan(memory_bytes="lots"), "cap on memory that is not a number"),
    (plan(keys="code"), "for modules or for shapes"),
    (plan(keys=["shape"]), "for modules or for shapes"),
    (plan(numerics=["close"]), "does not say its numerics"),
    (plan(threads=1e300), "number of threads"),
]


@pytest.mark.long
@pytest.mark.parametrize(("told", "said"), ATTACKS)
def test_a_plan_that_attacks_leaves_the_script_as_it_was(
    tmp_path: Path, told: object, said: str, numbers: list[float]
) -> None:
    done = ran(tmp_path, told)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert "traceview: the plan is not applied: " in done.stderr and said in done.stderr
    assert [float(word) for word in done.stdout.split()] == numbers


@pytest.mark.parametrize(("told", "said"), ATTACKS)
def test_a_plan_that_attacks_is_refused(tmp_path: Path, told: object, said: str) -> None:
    from traceview.convolution import runtime

    path = tmp_path / "plan.json"
    path.write_text(told if isinstance(told, str) else json.dumps(told))
    with pytest.raises(runtime.PlanError, match=said.replace("(", r"\(")):
        runtime.load(path)
