"""Ends of training steps: the last optimizer of each cycle.

Invariant: what is called without a forward pass of its own (an optimizer for each group of parameters, or inside of the
backward pass) ends no step of its own, and optimizers that take turns (of a generator and a discriminator) end one
together.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from traceview.ingest.derive.nesting import Ints

LONGEST = 12
"""Optimizer calls in a cycle at most."""
SAME = 0.02
"""Share by which counts of operators of the same call may differ from one cycle to the next."""
OFTEN = 0.8
"""Share of the calls that have to come again one cycle later."""


def ends(calls: Mapping[str, Ints]) -> tuple[Ints, int]:
    """Places of the calls at which steps end, and how many calls make a cycle; of `optimizer_calls.sql`."""
    last = _with_own_forward(calls)
    counts = np.column_stack([np.add.reduceat(calls[name], _begins(last)) for name in ("n_backward", "n_inside")])
    cycle = _cycle(calls["kind"][last], counts)
    loads = np.add.reduceat(calls["n_loaded"], _begins(last)) > 0
    return last[(_first(loads, cycle) - 1) % cycle :: cycle], cycle


def _with_own_forward(calls: Mapping[str, Ints]) -> Ints:
    """The last call of each group that no forward pass divides; every call where forward passes were not recorded."""
    n = len(calls["start_ns"])
    divided = calls["n_forward"][1:] > 0
    return np.append(np.flatnonzero(divided), n - 1) if divided.any() else np.arange(n)


def _begins(last: Ints) -> Ints:
    return np.concatenate([[0], last[:-1] + 1])


def _cycle(kind: Ints, counts: Ints) -> int:
    """The fewest calls after which the same optimizer comes again and has as much to do; the first calls make state."""
    for length in range(1, min(LONGEST, len(kind) // 2) + 1):
        one, other = slice(length, -length), slice(2 * length, None)
        if len(kind) < 3 * length:
            one, other = slice(None, -length), slice(length, None)
        is_near = abs(counts[one] - counts[other]) <= SAME * np.maximum(counts[one], counts[other]) + 1
        is_same = np.all(is_near, axis=1) & (kind[one] == kind[other])
        if is_same.size and float(is_same.mean()) >= OFTEN:
            return length
    # Different numbers of calls each time: as often as each of the optimizers is called once.
    return len(np.unique(kind))


def _first(loads: NDArray[np.bool_], cycle: int) -> int:
    """The place of the first call of a whole cycle: the only one of the cycle for which a batch is loaded, if there is
    such a one, else the first recorded."""
    often = [float(loads[place::cycle].mean()) for place in range(cycle)]
    return int(np.argmax(often)) if sum(share > 1 - OFTEN for share in often) == 1 and max(often) >= OFTEN else 0
