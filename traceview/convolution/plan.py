"""The best algorithm for each pass of each convolution: out of what was measured, under a cap on workspace, with what
changes of layout cost between neighbours.

Activations lie in one layout at each layer; the best layouts are a minimum cut, which is exact for two.

Invariant: every plan is compared with PyTorch's own as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

LAYOUTS = ("nchw", "nhwc")
DIRECTIONS = ("fprop", "dgrad", "wgrad")
OWN = "torch_default"
BACKENDS = ("winograd", "winograd_torch", "onednn", "nnpack", "torch_gemm", OWN)
"""Back-ends that a plan may name."""
TOLERANCE = {"equal": (2e-6, 4.0), "close": (1e-4, 100.0)}
"""The largest error over the largest value, and how many times that of PyTorch's own; the larger of both holds."""
SIZES = (
    *("batch", "in_channels", "height", "width", "out_channels", "filter_height", "filter_width"),
    *("stride_h", "stride_w", "pad_h", "pad_w", "dilation_h", "dilation_w", "groups"),
)
"""Sizes of a convolution, as plans name them."""
SCHEMA = 1
MODULE, SHAPE = "module", "shape"
"""Keys that find the layers of a plan: their module's name and the shape, or the shape alone."""
MOST_UNITS = 4096
MOST_LAYERS = 2000
MOST = 1 << 20
INPUT = ""
"""The name of the model's input among the layers; it lies as NCHW."""


class PlanError(ValueError):
    """A plan that cannot be used, in a sentence."""


def check(plan: Any) -> dict[str, Any]:
    """The plan, if every part of it has the form that a plan has. Raises `PlanError`."""
    if not isinstance(plan, dict) or plan.get("traceview_plan") != SCHEMA:
        raise PlanError("this is not a plan of this version of traceview")
    if (
        not isinstance(plan.get("numerics"), str)
        or plan["numerics"] not in TOLERANCE
        or not _is_size(plan.get("threads"))
    ):
        raise PlanError("the plan does not say its numerics (equal, close) and its number of threads")
    if plan.get("keys", MODULE) not in (MODULE, SHAPE):
        raise PlanError("the plan does not say whether it is for modules or for shapes")
    cap = plan.get("memory_bytes")
    if cap is not None and (not isinstance(cap, int) or isinstance(cap, bool) or cap < 0):
        raise PlanError("the plan has a cap on memory that is not a number of bytes")
    layers = plan.get("layers")
    if not isinstance(layers, list):
        raise PlanError("the plan has no list of layers")
    if len(layers) > MOST_LAYERS:
        raise PlanError(f"the plan has {len(layers):,} layers, more than any model")
    for layer in layers:
        _check_layer(layer)
    return plan


def _check_layer(layer: Any) -> None:
    if not isinstance(layer, dict) or not isinstance(layer.get("module"), str):
        raise PlanError("a layer of the plan does not name its module")
    name = layer["module"][:80]
    shape = layer.get("shape")
    if not isinstance(shape, dict) or set(shape) != {*SIZES, "dtype"}:
        raise PlanError(f"layer {name!r} of the plan has no whole shape")
    if not all(_is_size(shape[size], 0 if size.startswith("pad") else 1) for size in SIZES):
        raise PlanError(f"layer {name!r} of the plan has a size out of range")
    if shape["dtype"] != "float32" or layer.get("layout") not in ("nchw", "nhwc"):
        raise PlanError(f"layer {name!r} of the plan has an unknown type or layout")
    for direction in DIRECTIONS:
        choice = layer.get(direction)
        if choice is not None and not (
            isinstance(choice, dict)
            and choice.get("backend") in BACKENDS
            and isinstance(choice.get("implementation"), str)
        ):
            raise PlanError(f"layer {name!r} of the plan names no known back-end for {direction}")


def _is_size(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST


@dataclass(frozen=True)
class Option:
    """One way to compute a pass of a layer, as measured."""

    direction: str
    backend: str
    implementation: str
    layout: str
    time_ns: int
    """Time of all its calls in a step."""
    workspace_bytes: int = 0
    algorithm: str | None = None
    error: float | None = None
    own_error: float | None = None
    calls: int = 1

    @property
    def family(self) -> str:
        """Return the name of a plan that uses one algorithm everywhere."""
        if self.backend == OWN:
            return f"PyTorch's own, {self.layout}"
        return f"{self.backend} {self.implementation.partition(' by ')[0].partition(',')[0].removesuffix(')')}" + (
            ")" if "(" in self.implementation else ""
        )


@dataclass(frozen=True)
class Slot:
    """A layer of the model: its options, and what a change of layout costs at its input and output."""

    module: str
    options: tuple[Option, ...]
    x_ns: int = 0
    y_ns: int = 0

    @property
    def directions(self) -> tuple[str, ...]:
        """The passes that the model runs."""
        return tuple(name for name in DIRECTIONS if any(it.direction == name for it in self.options))


@dataclass(frozen=True)
class Choice:
    """Algorithms and layout of one layer."""

    module: str
    layout: str
    passes: Mapping[str, Option]
    cost_ns: int


def entry(option: Option | None) -> dict[str, str] | None:
    """Return what a plan says of a pass; None for PyTorch's own."""
    if option is None or option.backend == OWN:
        return None
    return {"backend": option.backend, "implementation": option.implementation}


def is_exact(error: float, own_error: float, numerics: str) -> bool:
    """Whether a result's error is no larger than it may be, beside that of PyTorch's own; NaN never is."""
    absolute, relative = TOLERANCE[numerics]
    return error <= max(absolute, relative * own_error)


def admissible(options: Iterable[Option], numerics: str, cap_bytes: int | None) -> tuple[Option, ...]:
    """The options that are exact enough and fit the cap; PyTorch's own always is."""

    def fits(it: Option) -> bool:
        has_room = cap_bytes is None or it.workspace_bytes <= cap_bytes
        return has_room and (it.error is None or is_exact(it.error, it.own_error or 0, numerics))

    return tuple(it for it in options if it.backend == OWN or fits(it))


def choice(slot: Slot, layout: str) -> Choice:
    """The best option of each pass while activations lie in `layout`; one of another layout pays for both changes."""

    def cost(it: Option) -> int:
        return it.time_ns + (it.calls * (slot.x_ns + slot.y_ns) if it.layout != layout else 0)

    best = {}
    for direction in slot.directions:
        here = (it for it in slot.options if it.direction == direction)
        best[direction] = min(here, key=lambda it: (cost(it), it.backend != OWN, it.implementation))
    return Choice(slot.module, layout, best, sum(map(cost, best.values())))


def plan(slots: Sequence[Slot], edges: Sequence[tuple[str, str]]) -> tuple[list[Choice], int]:
    """The best choice for each layer, and the time of all with the changes between them.

    `edges`: which layer's result reaches which, `INPUT` for the model's input; layers in the order in which they run.
    """
    choices = [{layout: choice(slot, layout) for layout in LAYOUTS} for slot in slots]
    costs = [(pair["nchw"].cost_ns, pair["nhwc"].cost_ns) for pair in choices]
    place = {slot.module: number for number, slot in enumerate(slots)}
    links = []
    for number, slot in enumerate(slots):
        passes = 2 if "dgrad" in slot.directions else 1
        sources = [place[source] for source, target in edges if target == slot.module and source in place]
        links += [(source, number, passes * slot.x_ns) for source in sources or [-1]]
    chosen = minimum_cut(costs, links)
    total = sum(costs[number][at] for number, at in enumerate(chosen))
    total += sum(cost for one, other, cost in links if (chosen[one] if one >= 0 else 0) != chosen[other])
    return [choices[number][LAYOUTS[at]] for number, at in enumerate(chosen)], total


def minimum_cut(costs: Sequence[tuple[int, int]], links: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return the cheapest layouts for any graph; of those that cost as much the one with the most layers in layout 0.

    A link is (from, to, cost of a change); it is from -1 for the input, which has layout 0.
    """
    source, sink = len(costs), len(costs) + 1
    room: list[dict[int, int]] = [{} for _ in range(len(costs) + 2)]

    def join(one: int, other: int, there: int, back: int = 0) -> None:
        room[one][other] = room[one].get(other, 0) + there
        room[other][one] = room[other].get(one, 0) + back

    for number, (first, second) in enumerate(costs):
        # What is cut off from the source has layout 0.
        join(source, number, first)
        join(number, sink, second)
    for one, other, cost in links:
        join(sink if one < 0 else one, other, cost, cost)
    while True:
        way = _way(room, source, sink)
        if sink not in way:
            return [1 if number in way else 0 for number in range(len(costs))]
        path = [sink]
        while path[-1] != source:
            path.append(way[path[-1]])
        steps = list(zip(path[1:], path, strict=False))
        amount = min(room[one][other] for one, other in steps)
        for one, other in steps:
            room[one][other] -= amount
            room[other][one] += amount


def _way(room: Sequence[Mapping[int, int]], source: int, sink: int) -> dict[int, int]:
    """Return the nodes that can be reached, and from where."""
    came = {source: source}
    queue = deque([source])
    while queue and sink not in came:
        here = queue.popleft()
        for there, free in room[here].items():
            if free > 0 and there not in came:
                came[there] = here
                queue.append(there)
    return came


def knapsack(groups: Sequence[Sequence[tuple[int, int]]], cap_bytes: int, unit_bytes: int = 1 << 16) -> list[int]:
    """One of each group of (time, bytes), together at most `cap_bytes` and the least time; bytes count in whole units.

    For workspaces that each layer keeps for itself. Every group has one of 0 bytes. There are at most MOST_UNITS.
    """
    if sum(max(size for _, size in group) for group in groups) <= cap_bytes:
        return [min(range(len(group)), key=lambda at, group=group: group[at][0]) for group in groups]  # type: ignore[misc]
    unit_bytes = max(unit_bytes, -(-cap_bytes // MOST_UNITS))
    units = cap_bytes // unit_bytes
    best = [0] * (units + 1)
    taken: list[list[int]] = []
    for group in groups:
        after, which = [], []
        for free in range(units + 1):
            times = [
                (best[free - need] + time_ns, number)
                for number, (time_ns, size) in enumerate(group)
                if (need := -(-size // unit_bytes)) <= free
            ]
            time_ns, number = min(times)
            after.append(time_ns)
            which.append(number)
        best = after
        taken.append(which)
    chosen, free = [], units
    for group, which in zip(reversed(groups), reversed(taken), strict=True):
        chosen.append(which[free])
        free -= -(-group[which[free]][1] // unit_bytes)
    return chosen[::-1]


def under_shared_cap(slots: Sequence[Slot], cap_bytes: int) -> list[Slot]:
    """The slots with the options that a shared cap leaves: one for each pass, besides PyTorch's own."""
    groups, keys = [], []
    for number, slot in enumerate(slots):
        for direction in slot.directions:
            options = [it for it in slot.options if it.direction == direction]
            keys.append((number, options))
            groups.append([(it.time_ns, it.workspace_bytes) for it in options])
    chosen = knapsack(groups, cap_bytes)
    remaining: dict[int, list[Option]] = {}
    for (number, options), which in zip(keys, chosen, strict=True):
        own = [it for it in options if it.backend == OWN]
        remaining.setdefault(number, []).extend(dict.fromkeys([options[which], *own]))
    return [replace(slot, options=tuple(remaining.get(number, ()))) for number, slot in enumerate(slots)]


def single_plans(slots: Sequence[Slot], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The time of all layers, changes of layout included, if one algorithm ran wherever it can, else PyTorch's own."""

    def only(slot: Slot, family: str) -> Slot:
        able = {it.direction for it in slot.options if it.family == family}
        plain = (it for it in slot.options if it.family == f"PyTorch's own, {LAYOUTS[0]}" and it.direction not in able)
        return replace(slot, options=(*(it for it in slot.options if it.family == family), *plain))

    families = dict.fromkeys(it.family for slot in slots for it in slot.options)
    return {family: plan([only(slot, family) for slot in slots], edges)[1] for family in families}
