"""A plan at work: the model's numbers stay, what is not in the plan runs as before, and hostile plans are refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from plans import calls, entry, model, needs_kernels, one_thread, plan_of, step  # noqa: E402

from traceview.convolution import (  # noqa: E402
    passes,
    runtime,
)
from traceview.convolution.plan import TOLERANCE  # noqa: E402

__all__ = ["one_thread"]


@needs_kernels
def test_a_step_under_a_plan_gives_the_same_numbers() -> None:
    net, x = model(), torch.randn(3, 3, 15, 13)
    before = step(net, x)
    layers = runtime.apply(net, plan_of(net, x))
    assert [layer.name for layer in layers] == ["0", "2", "4"]
    seen = calls(layers)
    after = step(net, x)
    assert sorted(seen) == sorted((name, way) for name in ("0", "2", "4") for way in runtime.DIRECTIONS)
    assert all(layer.passes[way] is not None for layer in layers for way in runtime.DIRECTIONS)
    for one, other in zip(before, after, strict=True):
        assert torch.allclose(one, other, atol=1e-5 * float(one.abs().max()), rtol=1e-3)
    runtime.remove(net)
    seen.clear()
    assert all(torch.equal(one, other) for one, other in zip(before, step(net, x), strict=True)) and not seen


@needs_kernels
@pytest.mark.filterwarnings("error::torch.jit.TracerWarning")
@pytest.mark.parametrize("case", ["shape", "double", "autocast", "threads", "tracing", "inference", "copy"])
def test_what_is_not_in_the_plan_runs_as_before(case: str) -> None:
    net, x = model(), torch.randn(3, 3, 15, 13)
    layers = runtime.apply(net, plan_of(net, x))
    seen = calls(layers)
    if case == "shape":
        assert net(x[:2]).shape == (2, net(x).shape[1])
        assert ("0", "fprop") in seen
        seen.clear()
        net(x[:2])
    elif case == "double":
        net.double()(x.double())
    elif case == "autocast":
        with torch.autocast("cpu", torch.bfloat16):
            net(x)
    elif case == "threads":
        torch.set_num_threads(2)
        net(x)
    elif case == "tracing":
        torch.jit.trace(net, x, check_trace=False)
    elif case == "inference":
        with torch.inference_mode():
            net(x)
    else:
        copy.deepcopy(net)(x)
    assert not seen


@needs_kernels
def test_gradients_of_gradients_are_those_of_pytorch() -> None:
    def second(net: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        x = x.clone().requires_grad_()
        (first,) = torch.autograd.grad(net(x).square().sum(), x, create_graph=True)
        (found,) = torch.autograd.grad(first.square().sum(), x)
        return found

    net, x = model(), torch.randn(3, 3, 15, 13)
    before = second(net, x)
    runtime.apply(net, plan_of(net, x))
    assert torch.allclose(before, second(net, x), atol=1e-3 * float(before.abs().max()))


@needs_kernels
def test_hooks_and_frozen_parameters_stay_as_they_are() -> None:
    net, x = model(), torch.randn(3, 3, 15, 13)
    runtime.apply(net, plan_of(net, x))
    net[0].weight.requires_grad_(False)
    outputs = []
    net[2].register_forward_hook(lambda module, given, out: outputs.append(out.shape))
    net(x).sum().backward()
    assert net[0].weight.grad is None and net[2].weight.grad is not None and outputs == [(3, 20, 15, 13)]


@needs_kernels
def test_a_backend_that_is_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    net, x = model(), torch.randn(3, 3, 15, 13)
    wanted = net(x)
    said: list[str] = []
    layers = runtime.apply(net, plan_of(net, x), said.append)
    monkeypatch.setattr(passes, "run", lambda runner, *operands: 1.01 * runner(*operands))
    assert torch.allclose(net(x), wanted, atol=1e-6)
    assert len(said) == 3 and all("fprop stays as it was" in line and "off" in line for line in said)
    assert all(layer.passes == {"fprop": None} for layer in layers)


@needs_kernels
def test_numbers_that_are_to_be_equal_keep_large_tiles_out(monkeypatch: pytest.MonkeyPatch) -> None:
    net, x = model(), torch.randn(3, 3, 15, 13)
    plan = {**plan_of(net, x, tiles=4), "numerics": "equal"}
    said: list[str] = []
    monkeypatch.setitem(TOLERANCE, "equal", (1e-9, 0.0))
    runtime.apply(net, plan, said.append)
    net(x)
    assert len(said) == 3 and "PyTorch" in said[0]


def good() -> dict[str, Any]:
    net = model()
    return plan_of(net, torch.randn(3, 3, 15, 13))


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (["traceview_plan"], 2, "not a plan of this version"),
        (["numerics"], "exact", "numerics"),
        (["threads"], True, "threads"),
        (["layers"], {}, "no list of layers"),
        (["layers", 0], "conv1", "does not name its module"),
        (["layers", 0, "shape", "batch"], 1 << 40, "out of range"),
        (["layers", 0, "shape", "batch"], -1, "out of range"),
        (["layers", 0, "shape"], {}, "no whole shape"),
        (["layers", 0, "layout"], "chwn", "layout"),
        (["layers", 0, "fprop"], {"backend": "os", "implementation": "system"}, "no known back-end"),
        (["layers", 0, "fprop"], {"backend": "winograd", "implementation": 4}, "no known back-end"),
    ],
)
def test_a_hostile_plan_is_refused(path: list[Any], value: object, told: str) -> None:
    plan: Any = good()
    part = plan
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(runtime.PlanError, match=told):
        runtime.apply(model(), plan)


def test_a_file_that_is_not_a_plan_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for content in (b"\xff\xfe", b"[" * 100_000, b"{}", b'{"traceview_plan": 1}'):
        path.write_bytes(content)
        with pytest.raises(runtime.PlanError):
            runtime.load(path)
    with pytest.raises(runtime.PlanError, match="No such file"):
        runtime.load(tmp_path / "absent.json")


@needs_kernels
def test_an_implementation_that_does_not_exist_leaves_the_default(tmp_path: Path) -> None:
    net, x = model(), torch.randn(3, 3, 15, 13)
    plan = plan_of(net, x)
    plan["layers"][0]["fprop"]["implementation"] = "F(9x9,9x9) by 1"
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan), encoding="utf-8")
    said: list[str] = []
    wanted = net(x)
    runtime.apply(net, path, said.append)
    assert torch.allclose(net(x), wanted, atol=1e-5)
    assert said and "there is no implementation" in said[0]


def test_names_of_wrapped_models_are_those_of_the_model() -> None:
    assert runtime.bare("module._orig_mod.conv1") == "conv1"
    assert runtime.bare("features.module.conv1") == "features.module.conv1"


@needs_kernels
@pytest.mark.parametrize("cap", [0, 8_000_000, 32_000_000])
@pytest.mark.parametrize("is_shared", [False, True])
def test_a_cap_holds_where_the_plan_runs(cap: int, is_shared: bool) -> None:
    """Also of a plan that was changed by hand: what needs more is left out, whatever the plan says."""
    from traceview.convolution.backends.workspace import workspace

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv2d(96, 128, 5, padding=2), torch.nn.Conv2d(128, 64, 3, padding=1))
    x = torch.randn(2, 96, 27, 27)
    before = step(net, x)
    workspace().drop()
    said: list[str] = []
    layers = runtime.apply(net, {**plan_of(net, x), "memory_bytes": cap, "own_workspaces": is_shared}, said.append)
    after = step(net, x)
    ran = [runner for layer in layers for runner in layer.passes.values() if runner]
    sizes = [runner.workspace_bytes for runner in ran]
    assert (sum(sizes) if is_shared else max(sizes, default=0)) <= cap
    assert workspace().buffer.numel() * 4 <= cap, "what was really allocated"
    assert len(ran) + len(said) == 6 and all(f"more than the plan's {cap:,} leave" in line for line in said)
    assert not ran if not cap else ran
    for one, other in zip(before, after, strict=True):
        assert torch.allclose(one, other, atol=1e-5 * float(one.abs().max()), rtol=1e-3)


def test_a_plan_of_shapes_is_for_every_layer_of_them() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(*(torch.nn.Conv2d(4, 4, 3, padding=1) for _ in range(3)), torch.nn.Conv2d(4, 5, 3))
    x = torch.randn(2, 4, 9, 9)
    layer = entry("called otherwise", net[0], x, None)
    plan = {"traceview_plan": 1, "numerics": "close", "threads": 1, "keys": "shape", "layers": [layer]}
    assert [found.name for found in runtime.apply(net, plan)] == ["0", "1", "2"]
    assert runtime.apply(net, {**plan, "keys": "module"}) == []
