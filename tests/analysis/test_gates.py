"""Limits of a comparison: what is slower beyond the noise fails, what noise explains never does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from compared import GEMM, IMPLICIT, measured, network, stepping, table
from given import Given, conv

from traceview.analysis import compare, gates
from traceview.analysis.compare import Fact, Run, side
from traceview.analysis.model import Check

pytestmark = pytest.mark.slow

LAYERS = ("conv1", "conv2")


def recordings(folder: Path, name: str, times: list[float]) -> Run:
    """Recordings whose steps take 1000 us; their product takes these times."""
    return side(
        [measured(stepping((1000, 1001, 999), busy=time), folder / f"{name}{n}") for n, time in enumerate(times)]
    )


def checked(a: Run, b: Run, **limits: float) -> list[Check]:
    return gates.checks(compare.compare([a, b]), [a, b], limits)


@pytest.mark.long
def test_a_category_that_is_slower_in_all_recordings_fails_and_the_step_does_not(tmp_path: Path) -> None:
    a = recordings(tmp_path, "a", [100, 101, 102, 103])
    b = recordings(tmp_path, "b", [120, 121, 122, 123])
    step, part = checked(a, b, step=5, category=10)
    assert (step.outcome, step.part, step.limit_pct) == ("passed", "", 5)
    assert (part.outcome, part.part, part.reason) == ("failed", "gemm", "larger than the noise")
    assert part.ratio == pytest.approx(1.197, abs=0.002) and part.low == pytest.approx(120 / 103, abs=0.02)


def test_too_few_recordings_cannot_tell_and_say_how_many_could(tmp_path: Path) -> None:
    (part,) = checked(recordings(tmp_path, "a", [100, 101]), recordings(tmp_path, "b", [120, 121]), kernel=10)
    assert (part.outcome, part.part, part.low) == ("cannot tell", GEMM, None)
    assert part.reason == "above the limit; 3 recordings of each side could tell that from noise for 1 kernel"


@pytest.mark.long
def test_what_overlaps_is_within_the_noise(tmp_path: Path) -> None:
    a = recordings(tmp_path, "a", [100, 140, 101, 102])
    (part,) = checked(a, recordings(tmp_path, "b", [120, 121, 122, 123]), category=10)
    assert (part.outcome, part.reason) == ("cannot tell", "above the limit, but within the noise")


@pytest.mark.parametrize(("busy", "outcome"), [(106, "passed"), (106.001, "failed")])
def test_exactly_the_limit_is_not_above_it(tmp_path: Path, busy: float, outcome: str) -> None:
    def four(us: float) -> Run:
        return side([measured(stepping((10 * us,) * 3, us), tmp_path / f"{us}-{n}") for n in range(4)])

    found = checked(four(100), four(busy), step=6, category=6)
    assert [check.outcome for check in found] == [outcome, outcome]


def test_layers_are_matched_as_the_comparison_matches_them(tmp_path: Path) -> None:
    def run(name: str, kernel_us: int, layers: tuple[str, str]) -> Run:
        found = []
        for n in range(4):
            given = network((GEMM, GEMM), names=layers)
            # Makes the second layer of every step slower.
            for step in range(3):
                at = 1000 * step + 500
                given.span("module", layers[1], at - 5, at + 60 + kernel_us)
                given.kernel(GEMM, at, at + kernel_us + n % 2, launched=at - 2)
            found.append(measured(given, tmp_path / f"{name}{n}"))
        return side(found)

    a, b = run("a", 50, LAYERS), run("b", 90, ("features.0", "features.3"))
    found = {check.part: check for check in checked(a, b, layer=10)}
    assert {name: check.outcome for name, check in found.items()}["conv2"] == "failed"
    assert found["conv1"].outcome == "passed"


def test_layers_of_one_filter_in_another_order_are_not_slower(tmp_path: Path) -> None:
    """Two branches of one filter take 200 and 20 us; the other runs begin with the shorter one."""

    def run(times: tuple[int, int], *names: str) -> Run:
        given = stepping((1000, 1000, 1000), busy=5)
        for at in (start + 100 + 400 * n for start in (0, 1000, 2000) for n in (0, 1)):
            second = at % 1000 > 400
            for name in names[second : second + 1]:
                given.span("module", name, at - 5, at + 50)
            conv(given, at, (4, 8, 16, 16), (8, 8, 3, 3), padding=1)
            given.kernel(IMPLICIT, at + 20, at + 20 + times[second], launched=at + 2)
        return side([measured(given, tmp_path / f"{'-'.join(names)}{n}") for n in range(4)])

    runs = [run((200, 20), "one", "two"), *(run((20, 200), *names) for names in (("two", "one"), ("two", "three"), ()))]
    report = compare.compare(runs)
    place = "kind and place (uncertain)"
    by_place = [("one", place, 0.1), ("two", place, 10)]
    for label, expected in {"B": [("one", "name", 1), ("two", "name", 1)], "C": by_place, "D": by_place}.items():
        rows = [row for row in table(report, "layers") if row["run"] == label]
        assert sorted((row["base_layer"], row["matched_by"], round(row["ratio"], 6)) for row in rows) == expected
        rows = [row for row in table(report, "convolutions") if row["run"] == label]
        assert sorted((row["base_layer"], round(row["ratio"], 6)) for row in rows) == [(x, z) for x, _, z in expected]
    outcomes = {(check.run, check.part): check.outcome for check in gates.checks(report, runs, {"layer": 10})}
    assert outcomes == {(run, part): "passed" for run in "BCD" for part in ("one", "two")} | {
        (run, "two"): "cannot tell" for run in "CD"
    }


def test_nothing_to_check_is_no_pass(tmp_path: Path) -> None:
    a, b = (recordings(tmp_path, name, [100, 101, 102]) for name in "ab")
    (none,) = checked(a, b, layer=10)
    assert (none.outcome, none.part) == ("cannot tell", "")
    assert none.reason == "no layer of A that takes 1 % of its step or more is in the other run"


def test_what_only_the_run_has_cannot_be_checked_and_what_only_a_has_needs_no_check(tmp_path: Path) -> None:
    """In a step of 1000 us B takes another kernel for a product of 100 us, and copies for 200 us there, 8 us back."""

    def run(name: str, product: str, *more: tuple[str, int]) -> Run:
        given = stepping((1000,) * 3, busy=50)
        for start in (0, 1000, 2000):
            given.kernel(product, start + 100, start + 200, launched=start + 90)
            for direction, lasting in more:
                given.copy(direction, start + 300, start + 300 + lasting, launched=start + 250)
        return measured(given, tmp_path / name)

    a, b = run("a", "ampere_sgemm_old_nn"), run("b", "ampere_sgemm_new_nn", ("HtoD", 200), ("DtoH", 8))
    found = {check.part: (check.outcome, check.reason) for check in checked(a, b, kernel=10, category=10)}
    new = "it has no counterpart in A, and takes {}.0 % of A's step"
    assert found == {
        GEMM: ("passed", "within the limit"),
        "gemm": ("passed", "within the limit"),
        "ampere_sgemm_new_nn": ("cannot tell", new.format(10)),
        "Memcpy HtoD": ("cannot tell", new.format(20)),
        "memcpy_htod": ("cannot tell", new.format(20)),
    }
    back = {check.part: check.outcome for check in checked(b, a, kernel=10, category=10)}
    assert back == {GEMM: "passed", "gemm": "passed", "ampere_sgemm_old_nn": "cannot tell"}


def test_a_new_layer_is_not_said_to_take_nothing_where_a_has_another_of_its_name(tmp_path: Path) -> None:
    """B puts a convolution of another shape before those of A, whose places and names move by one."""
    runs = []
    for filters in (((8, 8, 3, 3),), ((4, 8, 3, 3), (8, 8, 3, 3))):
        given = stepping((1000,) * 3, busy=10)
        for start in (0, 1000, 2000):
            for number, shape in enumerate(filters):
                at = start + 100 + 200 * number
                given.span("module", LAYERS[number], at - 5, at + 50)
                conv(given, at, (4, 8, 16, 16), shape, padding=1)
                given.kernel(IMPLICIT, at + 20, at + 60, launched=at + 2)
        runs.append(measured(given, tmp_path / str(len(filters))))
    a, b = runs
    found = gates.checks(compare.compare([a, b], ["model"]), [a, b], {"layer": 200})
    assert {(check.part, check.outcome, check.reason) for check in found} == {
        ("conv1", "cannot tell", "it has no counterpart in A, and takes 4.0 % of A's step"),
        ("conv1", "passed", "within the limit"),
    }


def test_equal_programs_fail_in_at_most_one_of_twenty(empty_run: Run) -> None:
    """Thirty layers with noise of 20 %, limits of 0: some difference is always above the limit."""
    generator = random.Random(7)
    names = [f"layer{n}" for n in range(30)]

    def recording() -> Run:
        rows = tuple((name, 1e6 * generator.lognormvariate(0, 0.2)) for name in names)
        fact = Fact((("name", "VARCHAR"), ("busy_ns", "DOUBLE")), rows)
        columns = empty_run.facts["run"].columns
        step = Fact(columns, (tuple(3e7 if name == "step_ns" else None for name, _ in columns),))
        return Run("a", {**empty_run.facts, "name": fact, "run": step}, ())

    failed, compared = 0, compare.compare([empty_run, empty_run])
    for _ in range(60):
        a, b = (side([recording() for _ in range(6)]) for _ in range(2))
        parts = gates.parts(compared, "B", a, b, "kernel", 0.0)
        assert len(parts) == 30 and any(check.ratio and check.ratio > 1 for check in parts)
        failed += any(check.outcome == "failed" for check in parts)
    assert failed <= 6


@pytest.fixture
def empty_run(tmp_path: Path) -> Run:
    return measured(Given(), tmp_path / "empty")
