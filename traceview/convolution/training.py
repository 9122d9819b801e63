"""Training steps of a model under plans and under none, for `traceview schedule`.

It runs in the Python of the user, where traceview may be absent.

Invariant: what is compared runs in turns, on the same tensors, by processor time where there is one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from . import runtime
from .measure import load_ns, timed
from .model import loss_of, trained

ROUNDS = 3
Say = Callable[..., None]


def steps(model: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Iterator[float]:
    """Training steps, one for each time asked; the loss."""
    parameters = [it for it in model.parameters() if it.requires_grad]
    # A model of which nothing is trained runs forward alone.
    optimizer = torch.optim.SGD(parameters, lr=0.001, momentum=0.9) if parameters else None
    while True:
        if optimizer:
            optimizer.zero_grad()
        loss = loss_of(model(*inputs))
        if loss.requires_grad:
            loss.backward()  # type: ignore[no-untyped-call]
        if optimizer:
            optimizer.step()
        yield float(loss.detach())


def train(task: dict[str, Any], say: Say) -> dict[str, Any]:
    """Steps of training; whoever wants times has the process watched, and a plan is applied from outside."""
    model, inputs = trained(task)
    losses = [loss for _, loss in zip(range(task["steps"]), steps(model, inputs))]
    return {"losses": losses}


def confirm(task: dict[str, Any], say: Say) -> dict[str, Any]:
    """Each pass of a plan within training steps, with what the plan names and with PyTorch's own, in turns."""
    model, inputs = trained(task)
    said: list[str] = []
    layers = runtime.apply(model, task["plan"], said.append)
    times: dict[tuple[str, str, bool], int] = {}
    # Time of all calls in one step: a module may run several times.
    spent: dict[tuple[str, str, bool], int] = {}
    for turn, _ in enumerate(steps(model, inputs), 1):
        times |= {key: min(ns, times.get(key, ns)) for key, ns in spent.items()}
        spent.clear()
        off = turn % 2 == 0
        if turn == 2 + 2 * ROUNDS:
            break
        for layer in layers:
            layer.is_off = off

            def seen(name: str, direction: str, ns: int, off: bool = off) -> None:
                key = name, direction, off
                spent[key] = spent.get(key, 0) + ns

            layer.clock = seen if turn > 1 else None
    rows = [
        {"module": name, "direction": direction, "time_ns": ns, "own_ns": times[name, direction, True]}
        for (name, direction, off), ns in times.items()
        if not off and (name, direction, True) in times
    ]
    return {"rows": rows, "said": said}


def whole(task: dict[str, Any], say: Say) -> dict[str, Any]:
    """The least time of a whole training step under each of some plans and with none, in turns."""
    model, inputs = trained(task)
    states = []
    for plan in task["plans"]:
        runtime.apply(model, plan, lambda text: None)
        states.append(runtime.applied())
    runtime.remove(model)
    states.append(runtime.applied())
    times: list[list[int]] = [[] for _ in states]
    training = steps(model, inputs)
    for _ in range(1 + ROUNDS):
        for state, found in zip(states, times):
            runtime.restore(state)
            found.append(load_ns(timed(lambda: next(training))[0], threads=task["threads"]))
    # Each meets its first step with new memory and with checks.
    *plans, none = [min(found[1:]) for found in times]
    return {"plans_ns": plans, "none_ns": none}
