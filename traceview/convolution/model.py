"""The convolutions of a model: which run, of what shapes, and which feeds which.

It runs in the Python of the user, where traceview may be absent.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils import _python_dispatch

from . import runtime
from .plan import DIRECTIONS, SIZES

SEED = 1
Say = Callable[..., None]


def make(path: str, name: str) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """Return the model that a function of a file makes, and its inputs, which may be none.

    Raises `SystemExit` with the reason where it makes none.
    """
    file = Path(path).resolve()
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    factory = getattr(module, name, None)
    if not callable(factory):
        raise SystemExit(f"{path} has no function or class {name}")
    made = factory()
    model, *inputs = made if isinstance(made, tuple) else (made,)
    if not isinstance(model, torch.nn.Module):
        raise SystemExit(f"{name}() returned {type(model).__name__}, not a torch.nn.Module")
    return model, tuple(inputs)


def trained(task: dict[str, Any]) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """Return the model of a task, made with the same seed each time, and its inputs, else random images."""
    torch.set_num_threads(task["threads"])
    torch.manual_seed(SEED)
    path, _, name = task["model"].rpartition(":")
    model, inputs = make(path, name)
    return model, inputs or (torch.randn(task["batch"], *task["image"]),)


def layers(task: dict[str, Any], say: Say) -> dict[str, Any]:
    """Return the convolutions that run in a forward pass of the model, with one image where it comes without inputs."""
    path, _, name = task["model"].rpartition(":")
    model, inputs = make(path, name)
    return {"convolutions": convolutions(model, inputs or (torch.randn(1, *task["image"]),))}


def convolutions(model: Any, inputs: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return each convolution that runs in a forward pass, with the module that it runs in."""
    names: list[str] = []
    found: list[dict[str, Any]] = []
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda *_, name=name: names.append(name))
        module.register_forward_hook(lambda *_: names.pop() and None)
    model.eval()
    with torch.no_grad(), watched(lambda args: found.append(_facts(names[-1] if names else "", args))):
        model(*inputs)
    return found


def watched(see: Callable[[Any], None]) -> Any:
    """A context in which `see` is given the arguments of each convolution that runs."""
    mode: Any = _python_dispatch.TorchDispatchMode

    class Watch(mode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is torch.ops.aten.convolution.default:
                see(args)
            return function(*args, **(kwargs or {}))

    return Watch()


def _facts(name: str, args: Any) -> dict[str, Any]:
    image, filters, _, stride, padding, dilation, transposed, _, groups = args[:9]
    shapes = {"input": list(image.shape), "filter": list(filters.shape), "stride": list(stride)}
    rest = {"padding": list(padding), "dilation": list(dilation), "transposed": bool(transposed), "groups": groups}
    return {"layer": name or "convolution", "dtype": str(image.dtype).rpartition(".")[2], **shapes, **rest}


def shapes(task: dict[str, Any], say: Say) -> dict[str, Any]:
    """Return the convolutions of a model in the order in which they run, each module once, with its first shape and
    the calls of that in a step, and which feeds which; and how many calls of others there are."""
    model, inputs = trained(task)
    layers: dict[str, dict[str, Any]] = {}
    made: dict[Any, str] = {}
    hooks = []
    every: list[bool] = []

    def see(name: str) -> Callable[[Any, Any, Any], None]:
        def hook(module: Any, given: Any, output: torch.Tensor) -> None:
            if not is_plain(module, given[0]):
                return
            if output.grad_fn is not None:
                made[output.grad_fn] = name
            shape = shape_of(module, given[0])
            layer = layers.setdefault(name, {"module": name, "shape": shape, "dgrad": False, "calls": {}})
            if layer["shape"] != shape:
                return
            layer["dgrad"] |= given[0].requires_grad
            needs = given[0].requires_grad, module.weight.requires_grad
            gradients = (way for way, is_needed in zip(DIRECTIONS[1:], needs) if is_needed and output.requires_grad)
            for direction in (DIRECTIONS[0], *gradients):
                layer["calls"][direction] = layer["calls"].get(direction, 0) + 1

        return hook

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Conv2d):
            hooks.append(module.register_forward_hook(see(name)))
    with watched(lambda args: every.append(args[6])):
        output = model(*inputs)
    for hook in hooks:
        hook.remove()
    edges = [[source, name] for node, name in made.items() for source in fed_by(node, made)]
    loss_of(output)
    listed = [{**layer, "directions": sorted(layer["calls"], key=DIRECTIONS.index)} for layer in layers.values()]
    # Those that are not transposed.
    left_out = every.count(False) - sum(layer["calls"]["fprop"] for layer in listed)
    return {"layers": listed, "edges": edges, "left_out": max(left_out, 0), **environment()}


def is_plain(module: Any, x: torch.Tensor) -> bool:
    """Whether a plan can hold this convolution."""
    is_padded = module.padding_mode != "zeros" or isinstance(module.padding, str)
    return x.dim() == 4 and x.numel() > 0 and x.dtype is torch.float32 and x.device.type == "cpu" and not is_padded


def shape_of(module: Any, x: torch.Tensor) -> dict[str, Any]:
    """A convolution's sizes, as a plan holds them."""
    pairs = (*module.kernel_size, *module.stride, *module.padding, *module.dilation)
    sizes = (*map(int, x.shape), module.out_channels, *pairs, module.groups)
    return {**dict(zip(SIZES, sizes)), "dtype": str(x.dtype).removeprefix("torch.")}


def fed_by(node: Any, made: dict[Any, str]) -> list[str]:
    """The convolutions whose results reach this one's without another between; "" for the input."""
    found, seen, open_ = [], set(), [following for following, _ in node.next_functions if following is not None]
    while open_:
        node = open_.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in made:
            found.append(made[node])
        else:
            open_ += [following for following, _ in node.next_functions if following is not None]
    return sorted(set(found))


def loss_of(output: Any) -> torch.Tensor:
    """A number that depends on every tensor of the output: cross entropy with random classes where there are scores."""
    if isinstance(output, torch.Tensor):
        if output.dim() == 2:
            classes = torch.randint(
                0, output.shape[1], (output.shape[0],), generator=torch.Generator().manual_seed(SEED)
            )
            return torch.nn.functional.cross_entropy(output, classes)
        return output.float().square().mean()
    if not isinstance(output, dict | list | tuple):
        return torch.zeros(())
    parts = output.values() if isinstance(output, dict) else output
    return torch.stack([torch.zeros(()), *(loss_of(part) for part in parts)]).sum()


def environment() -> dict[str, Any]:
    """Return the environment that a plan is for."""
    return {"torch": str(torch.__version__), "cpu": runtime.cpu(), "threads": torch.get_num_threads()}
