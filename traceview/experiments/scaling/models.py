"""Models of an all-reduce over n ranks, fitted to measured times: which of them is the time like?

Each is a number of messages with a latency, and of bytes over a bandwidth (m: bytes that each rank puts in):

- parameter server, one after the other: all send to one rank, and it sends back: 2 (n - 1) messages of m bytes
- tree: ceil(log2 n) levels up and as many down, each a message of m bytes
- ring: 2 (n - 1) messages of m / n bytes (NVIDIA nccl-tests, doc/PERFORMANCE.md)

Latency and bandwidth are those with the least squares of relative errors, neither below 0.

Invariant: a model is called the best only where the points could have told it from the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

PARAMETER_SERVER, TREE, RING = "parameter server", "tree", "ring"
BEST, WORSE, CANNOT = "best", "fits worse", "cannot tell"
CLOSE, CLOSE_PCT = 1.25, 0.5
"""Errors that differ by no more than this factor, or these percentage points, decide nothing."""
POOR_PCT = 30.0
"""Largest mean error at which the best model counts as a fit."""


@dataclass(frozen=True)
class Point:
    """One measured all-reduce (or the median of several): ranks, bytes of each rank, time."""

    ranks: int
    size_bytes: float
    time_ns: float


@dataclass(frozen=True)
class Fit:
    """A model with its parameters, how far it is from the points, and what that says."""

    model: str
    latency_ns: float | None
    """Latency of one message; None where the points do not tell it, and it counts as 0."""
    bytes_per_s: float | None
    """None where the points show no time that grows with bytes."""
    residual_pct: float | None
    """Root of the mean square of relative errors; None where there are no more points than parameters."""
    worst_pct: float | None
    points: int
    verdict: str
    reason: str | None

    def time_ns(self, ranks: int, size_bytes: float) -> float:
        """Return the model's time of an all-reduce."""
        messages, moved = MODELS[self.model](ranks, size_bytes)
        return messages * (self.latency_ns or 0.0) + (moved / self.bytes_per_s * 1e9 if self.bytes_per_s else 0.0)


def tree(ranks: int, size_bytes: float) -> tuple[float, float]:
    """Messages one after the other, and bytes in them."""
    levels = 2.0 * math.ceil(math.log2(ranks))
    return levels, levels * size_bytes


MODELS: dict[str, Callable[[int, float], tuple[float, float]]] = {
    PARAMETER_SERVER: lambda ranks, size_bytes: (2.0 * (ranks - 1), 2.0 * (ranks - 1) * size_bytes),
    TREE: tree,
    RING: lambda ranks, size_bytes: (2.0 * (ranks - 1), 2.0 * (ranks - 1) / ranks * size_bytes),
}
"""For a number of ranks and bytes of each: messages one after the other, and bytes in them."""


def fit(points: Sequence[Point], doubt: str | None = None) -> list[Fit]:
    """Every model, the nearest first; nothing without points of several ranks. `doubt`: why none may be called best."""
    points = [point for point in points if point.ranks > 1 and point.size_bytes > 0 and point.time_ns > 0]
    if not points:
        return []
    has_sizes = len({point.size_bytes for point in points}) > 1
    found = [_fitted(model, points, has_sizes) for model in MODELS]
    untold = _untold(points, has_sizes) or doubt
    found.sort(key=lambda each: each.residual_pct or 0.0)
    if untold:
        return [_judged(each, CANNOT, untold) for each in found]
    return _compared(found, _is_steady(points, found[0].model))


def _is_steady(points: Sequence[Point], best: str) -> bool:
    """Whether the same model is the best whichever point is left out, where what is left can tell."""
    for place in range(len(points)):
        others = [*points[:place], *points[place + 1 :]]
        has_sizes = len({point.size_bytes for point in others}) > 1
        if _untold(others, has_sizes):
            continue
        errors = {model: _fitted(model, others, has_sizes).residual_pct or 0.0 for model in MODELS}
        if errors[best] > min(errors.values()) + CLOSE_PCT:
            return False
    return True


def _compared(found: Sequence[Fit], is_steady: bool) -> list[Fit]:
    """Which is the best, where the errors differ by enough, and not because of a single point."""
    least = found[0].residual_pct or 0.0
    near = [each for each in found if (each.residual_pct or 0.0) <= max(CLOSE * least, least + CLOSE_PCT)]
    if least > POOR_PCT:
        return [_judged(each, CANNOT, f"no model fits: the best is {least:.0f} % off") for each in found]
    if not is_steady:
        return [_judged(each, CANNOT, "which fits best depends on a single point") for each in found]
    if len(near) > 1:
        names = " and ".join(each.model for each in near)
        return [
            _judged(each, CANNOT, f"{names} fit about equally well") if each in near else _judged(each, WORSE, None)
            for each in found
        ]
    return [_judged(each, WORSE if place else BEST, None) for place, each in enumerate(found)]


def _untold(points: Sequence[Point], has_sizes: bool) -> str | None:
    """Why these points cannot tell the models apart; None where they can."""
    ranks = {point.ranks for point in points}
    if len(ranks) < 2:
        return f"all points are of {ranks.pop()} ranks, where every model fits alike"
    needed = 3 if has_sizes else 2
    if len(points) < needed:
        return f"{len(points)} points are too few for {needed - 1} parameters"
    return None


def _judged(fitted: Fit, verdict: str, reason: str | None) -> Fit:
    return replace(fitted, verdict=verdict, reason=reason)


def _fitted(model: str, points: Sequence[Point], has_sizes: bool) -> Fit:
    rows = []
    for point in points:
        messages, moved = MODELS[model](point.ranks, point.size_bytes)
        rows.append((messages / point.time_ns, moved / point.time_ns))
    latency, per_byte = _least_squares(rows) if has_sizes else (0.0, _alone([moved for _, moved in rows]))
    errors = [abs(latency * messages + per_byte * moved - 1) for messages, moved in rows]
    has_residual = len(points) > (2 if has_sizes else 1)
    return Fit(
        model,
        latency if has_sizes else None,
        1e9 / per_byte if per_byte > 0 else None,
        100 * math.sqrt(sum(error * error for error in errors) / len(errors)) if has_residual else None,
        100 * max(errors) if has_residual else None,
        len(points),
        CANNOT,
        None,
    )


def _alone(column: Sequence[float]) -> float:
    """The factor of one column that comes nearest to 1 in every row."""
    return sum(column) / sum(value * value for value in column)


def _least_squares(rows: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The factors, neither below 0, of two columns that together come nearest to 1 in every row."""
    first, second = [a for a, _ in rows], [b for _, b in rows]
    # Columns of about equal size, so that sums of squares are not lost in rounding.
    sizes = math.sqrt(sum(a * a for a in first)), math.sqrt(sum(b * b for b in second))
    both = [(a / sizes[0], b / sizes[1]) for a, b in rows]
    mixed = sum(a * b for a, b in both)
    ends = sum(a for a, _ in both), sum(b for _, b in both)
    rest = 1 - mixed * mixed
    if rest > 1e-12:
        x, y = (ends[0] - mixed * ends[1]) / rest, (ends[1] - mixed * ends[0]) / rest
        if x >= 0 and y >= 0:
            return x / sizes[0], y / sizes[1]
    tried = [(_alone(first), 0.0), (0.0, _alone(second))]
    return min(tried, key=lambda pair: sum((pair[0] * a + pair[1] * b - 1) ** 2 for a, b in rows))
