"""What `traceview schedule` runs in the Python of the user: one task, as JSON in a file, its answer in another.

    python schedule_worker.py TASK.json ANSWER.json

A task's `kind` is shapes (run the model once: which convolutions, of what shapes, and which feeds which), measure (time
every candidate of some layers), train (a plain training loop, to be timed from outside), confirm (whether each pass of
a plan is also faster within the training step) or whole (training steps under some plans and under none). traceview
need not be installed there.

Invariant: what is compared runs in turns, on the same tensors, by processor time where there is one thread.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

PACKAGE = "traceview_experiments"
ROUNDS = 3
SEED = 1


def package() -> Any:
    """The runtime beside this file, also where traceview is not installed."""
    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec and spec.loader
    sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[PACKAGE])
    return importlib.import_module(f"{PACKAGE}.runtime")


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """Every candidate of every pass of some layers; each layer is said as soon as it is measured."""
    candidates = importlib.import_module(f"{PACKAGE}.candidates")
    tell(environment())
    for place, layer in enumerate(task["layers"]):
        tell({"measured": place, **candidates.measured(layer, SEED)})
    return {}


def tell(what: dict[str, Any]) -> None:
    """A line to whoever started this; what libraries print there is told apart by how it begins."""
    sys.stdout.write(json.dumps({"schedule": True, **what}) + "\n")
    sys.stdout.flush()


# The model


def make(task: dict[str, Any]) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """The model of `file.py:factory` and its inputs: those that it returns with the model, else random images."""
    torch.manual_seed(SEED)
    path, _, name = task["model"].rpartition(":")
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
    return model, tuple(inputs) or (torch.randn(task["batch"], *task["image"]),)


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


def steps(model: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Iterator[float]:
    """Training steps, one for each time asked; the loss."""
    trained = [it for it in model.parameters() if it.requires_grad]
    # A model of which nothing is trained runs forward alone.
    optimizer = torch.optim.SGD(trained, lr=0.001, momentum=0.9) if trained else None
    while True:
        if optimizer:
            optimizer.zero_grad()
        loss = loss_of(model(*inputs))
        if loss.requires_grad:
            loss.backward()  # type: ignore[no-untyped-call]
        if optimizer:
            optimizer.step()
        yield float(loss.detach())


def shapes(task: dict[str, Any]) -> dict[str, Any]:
    """The convolutions of a model in the order in which they run, and which feeds which."""
    model, inputs = make(task)
    layers: list[dict[str, Any]] = []
    made: dict[Any, str] = {}
    hooks = []

    left_out = set()

    def see(name: str) -> Callable[[Any, Any, Any], None]:
        def hook(module: Any, given: Any, output: torch.Tensor) -> None:
            if not is_plain(module, given[0]):
                left_out.add(name)
                return
            needs = given[0].requires_grad, module.weight.requires_grad
            directions = ["fprop", *(way for way, is_needed in zip(("dgrad", "wgrad"), needs) if is_needed)]
            entry = {"module": name, "shape": shape_of(module, given[0]), "dgrad": given[0].requires_grad}
            layers.append({**entry, "directions": directions if output.requires_grad else ["fprop"]})
            if output.grad_fn is not None:
                made[output.grad_fn] = name

        return hook

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Conv2d):
            hooks.append(module.register_forward_hook(see(name)))
    output = model(*inputs)
    for hook in hooks:
        hook.remove()
    edges = [[source, name] for node, name in made.items() for source in fed_by(node, made)]
    loss_of(output)
    return {"layers": layers, "edges": edges, "left_out": len(left_out), **environment()}


def is_plain(module: Any, x: torch.Tensor) -> bool:
    """Whether a plan can hold this convolution."""
    is_padded = module.padding_mode != "zeros" or isinstance(module.padding, str)
    return x.dim() == 4 and x.dtype is torch.float32 and x.device.type == "cpu" and not is_padded


def shape_of(module: Any, x: torch.Tensor) -> dict[str, Any]:
    """A convolution's sizes, as a plan holds them."""
    names = (("filter", module.kernel_size), ("stride", module.stride), ("dilation", module.dilation))
    pairs = {"filter_height": names[0][1][0], "filter_width": names[0][1][1]}
    for name, pair in names[1:]:
        pairs |= {f"{name}_h": pair[0], f"{name}_w": pair[1]}
    pad = module.padding if isinstance(module.padding, tuple) else (0, 0)
    return {
        **dict(zip(("batch", "in_channels", "height", "width"), map(int, x.shape))),
        "out_channels": module.out_channels,
        **pairs,
        "pad_h": pad[0],
        "pad_w": pad[1],
        "groups": module.groups,
        "dtype": str(x.dtype).removeprefix("torch."),
    }


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


def environment() -> dict[str, Any]:
    """What a plan is for."""
    return {"torch": str(torch.__version__), "cpu": runtime.cpu(), "threads": torch.get_num_threads()}


# A plan at work


def train(task: dict[str, Any]) -> dict[str, Any]:
    """Steps of training; whoever wants times has the process watched, and a plan is applied from outside."""
    model, inputs = make(task)
    losses = [loss for _, loss in zip(range(task["steps"]), steps(model, inputs))]
    return {"losses": losses}


def confirm(task: dict[str, Any]) -> dict[str, Any]:
    """Each pass of a plan within training steps, with what the plan names and with PyTorch's own, in turns."""
    model, inputs = make(task)
    said: list[str] = []
    layers = runtime.apply(model, task["plan"], said.append)
    times: dict[tuple[str, str, bool], int] = {}
    for turn, _ in enumerate(steps(model, inputs), 1):
        off = turn % 2 == 0
        if turn == 2 + 2 * ROUNDS:
            break
        for layer in layers:
            layer.is_off = off

            def seen(name: str, direction: str, ns: int, off: bool = off) -> None:
                key = name, direction, off
                times[key] = min(ns, times.get(key, ns))

            layer.clock = seen if turn > 1 else None
    rows = [
        {"module": name, "direction": direction, "time_ns": ns, "own_ns": times[name, direction, True]}
        for (name, direction, off), ns in times.items()
        if not off and (name, direction, True) in times
    ]
    return {"rows": rows, "said": said}


def whole(task: dict[str, Any]) -> dict[str, Any]:
    """The least time of a whole training step under each of some plans and with none, in turns."""
    model, inputs = make(task)
    states = []
    for plan in task["plans"]:
        runtime.apply(model, plan, lambda text: None)
        states.append(runtime.applied())
    runtime.remove(model)
    states.append(runtime.applied())
    now = time.thread_time_ns if task["threads"] == 1 else time.perf_counter_ns
    times: list[list[int]] = [[] for _ in states]
    training = steps(model, inputs)
    for _ in range(1 + ROUNDS):
        for state, found in zip(states, times):
            runtime.restore(state)
            begin = now()
            next(training)
            found.append(now() - begin)
    # Each meets its first step with new memory and with checks.
    *plans, none = [min(found[1:]) for found in times]
    return {"plans_ns": plans, "none_ns": none}


def main() -> None:
    """Do what the file says."""
    task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    torch.set_num_threads(task["threads"])
    kinds = {"shapes": shapes, "measure": measure, "train": train, "confirm": confirm, "whole": whole}
    Path(sys.argv[2]).write_text(json.dumps(kinds[task["kind"]](task)), encoding="utf-8")


if __name__ == "__main__":
    runtime = package()
    main()
