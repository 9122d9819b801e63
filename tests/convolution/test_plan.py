"""Plans: layouts and workspaces are chosen as brute force would choose them."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from traceview.convolution.plan import (
    INPUT,
    Option,
    Slot,
    admissible,
    choice,
    knapsack,
    minimum_cut,
    plan,
    single_plans,
    under_shared_cap,
)


def total(costs: list[tuple[int, int]], links: list[tuple[int, int, int]], chosen: tuple[int, ...] | list[int]) -> int:
    """Return the cost of a choice of layouts."""
    changes = sum(cost for one, other, cost in links if (chosen[one] if one >= 0 else 0) != chosen[other])
    return changes + sum(pair[at] for pair, at in zip(costs, chosen, strict=True))


@pytest.mark.parametrize("seed", range(30))
def test_layouts_of_a_chain_are_the_best_of_all(seed: int) -> None:
    rng = random.Random(seed)
    costs = [(rng.randint(0, 20), rng.randint(0, 20)) for _ in range(rng.randint(1, 8))]
    changes = [rng.randint(0, 12) for _ in costs]
    links = [(number - 1, number, change) for number, change in enumerate(changes)]
    least = min(total(costs, links, chosen) for chosen in product((0, 1), repeat=len(costs)))
    assert total(costs, links, minimum_cut(costs, links)) == least


@pytest.mark.parametrize("seed", range(30))
def test_layouts_of_a_graph_are_the_best_of_all(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randint(2, 8)
    costs = [(rng.randint(0, 20), rng.randint(0, 20)) for _ in range(n)]
    links = [(rng.randint(-1, to - 1), to, rng.randint(0, 9)) for to in range(n) for _ in range(rng.randint(1, 3))]
    least = min(total(costs, links, chosen) for chosen in product((0, 1), repeat=n))
    assert total(costs, links, minimum_cut(costs, links)) == least


@pytest.mark.parametrize("seed", range(20))
def test_a_shared_cap_is_filled_as_brute_force_would(seed: int) -> None:
    rng = random.Random(seed)
    groups = [
        [(rng.randint(5, 30), 0), *((rng.randint(1, 20), rng.randint(0, 9)) for _ in range(rng.randint(0, 3)))]
        for _ in range(rng.randint(1, 5))
    ]
    cap = rng.randint(0, 25)
    ways = product(*(range(len(group)) for group in groups))
    fitting = [way for way in ways if sum(group[at][1] for group, at in zip(groups, way, strict=True)) <= cap]
    least = min(sum(group[at][0] for group, at in zip(groups, way, strict=True)) for way in fitting)
    chosen = knapsack(groups, cap, unit_bytes=1)
    assert tuple(chosen) in fitting
    assert sum(group[at][0] for group, at in zip(groups, chosen, strict=True)) == least


def own(direction: str, nchw: int, nhwc: int) -> list[Option]:
    """PyTorch's own pass in both layouts."""
    return [
        Option(direction, "torch_default", "default", layout, ns) for layout, ns in (("nchw", nchw), ("nhwc", nhwc))
    ]


def winograd(direction: str, ns: int, size: int = 0, error: float = 1e-6) -> Option:
    """Winograd as measured."""
    return Option(direction, "winograd", "F(4x4,3x3) by 64", "nhwc", ns, size, "winograd", error, 1e-6)


def test_a_layer_that_gains_less_than_the_change_costs_keeps_its_own() -> None:
    slots = [
        Slot("a", (*own("fprop", 50, 50), winograd("fprop", 45)), x_ns=10, y_ns=10),
        Slot("b", tuple(own("fprop", 5, 30)), x_ns=10, y_ns=10),
    ]
    choices, time_ns = plan(slots, [(INPUT, "a"), ("a", "b")])
    assert [(it.layout, it.passes["fprop"].backend) for it in choices] == [
        ("nchw", "torch_default"),
        ("nchw", "torch_default"),
    ]
    assert time_ns == 55


def test_every_call_of_a_layer_pays_for_its_changes() -> None:
    """Two calls: Winograd in the other layout saves 24 in both, and four changes cost 40."""
    options = (*own("fprop", 100, 120), replace(winograd("fprop", 76), calls=2))
    chosen = choice(Slot("a", options, x_ns=10, y_ns=10), "nchw")
    assert (chosen.passes["fprop"].backend, chosen.cost_ns) == ("torch_default", 100)


def test_neighbours_that_gain_together_change_together() -> None:
    slots = [Slot(name, (*own("fprop", 50, 50), winograd("fprop", 35)), x_ns=20, y_ns=20) for name in ("a", "b", "c")]
    choices, time_ns = plan(slots, [(INPUT, "a"), ("a", "b"), ("b", "c")])
    assert [it.layout for it in choices] == ["nhwc"] * 3
    assert time_ns == 20 + 3 * 35, "one change, of the input"


def test_caps_and_numerics_leave_what_fits() -> None:
    options = (*own("fprop", 50, 50), winograd("fprop", 10, size=100), winograd("fprop", 20, size=10, error=1e-2))
    assert {it.time_ns for it in admissible(options, "close", 50)} == {50}
    assert {it.time_ns for it in admissible(options, "close", None)} == {50, 10}
    assert {it.time_ns for it in admissible(options, "equal", 100)} == {50, 10}
    assert {it.time_ns for it in admissible([winograd("fprop", 1, error=9e-6)], "equal", None)} == set()
    assert {it.time_ns for it in admissible([winograd("fprop", 1, error=9e-6)], "close", None)} == {1}


def test_a_shared_cap_goes_where_it_saves_most() -> None:
    slots = [
        Slot("a", (*own("fprop", 50, 50), winograd("fprop", 40, size=1 << 20))),
        Slot("b", (*own("fprop", 50, 50), winograd("fprop", 10, size=1 << 20))),
    ]
    left = under_shared_cap(slots, 1 << 20)
    assert [max(it.workspace_bytes for it in slot.options) for slot in left] == [0, 1 << 20]


def test_one_algorithm_everywhere_is_what_a_plan_must_beat() -> None:
    slots = [
        Slot("a", (*own("fprop", 50, 40), winograd("fprop", 10))),
        Slot("b", tuple(own("fprop", 5, 30))),
    ]
    edges = [(INPUT, "a"), ("a", "b")]
    assert single_plans(slots, edges) == {"PyTorch's own, nchw": 55, "PyTorch's own, nhwc": 70, "winograd F(4x4)": 15}


def test_one_algorithm_everywhere_pays_for_its_layout_as_a_plan_does() -> None:
    slots = [
        Slot("a", (*own("fprop", 50, 40), winograd("fprop", 10)), x_ns=6, y_ns=2),
        Slot("b", tuple(own("fprop", 5, 30)), x_ns=2, y_ns=3),
    ]
    edges = [(INPUT, "a"), ("a", "b")]
    found = single_plans(slots, edges)
    assert found["winograd F(4x4)"] == 6 + 10 + 2 + 5 == plan(slots, edges)[1], "into its layout and out again"
    assert (found["PyTorch's own, nchw"], found["PyTorch's own, nhwc"]) == (55, 6 + 40 + 30), "one change, of the input"


@pytest.mark.parametrize(
    ("cap", "runs"),
    [(0, "x64:gemm:jit, nchw to nchw"), (1000, "jit_1x1:avx2, nhwc to nhwc"), (8 << 20, "F(4x4,3x3) by 64 in 4")],
)
def test_under_each_cap_the_best_that_fits_is_found(cap: int, runs: str) -> None:
    options = [*own("fprop", 100, 90)]
    for backend, name, layout, ns, size in (
        ("onednn", "x64:gemm:jit, nchw to nchw", "nchw", 60, 0),
        ("torch_gemm", "GEMM of 1x1", "nhwc", 75, 0),
        ("onednn", "jit_1x1:avx2, nhwc to nhwc", "nhwc", 50, 1000),
        ("winograd", "F(4x4,3x3) by 64 in 4", "nhwc", 40, 8 << 20),
        ("winograd", "F(4x4,3x3) by 64", "nhwc", 30, 9 << 20),
    ):
        options.append(Option("fprop", backend, name, layout, ns, size, error=1e-6))
    (choice,), _ = plan([Slot("a", admissible(options, "close", cap), 1, 1)], [(INPUT, "a")])
    assert choice.passes["fprop"].implementation == runs
