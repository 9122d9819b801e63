"""The search on a simulated machine, whose options have known effects: a stand-in for processes that take minutes."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from traceview.experiments.command import Timed
from traceview.experiments.pairs import TABLE, Pair, Runner
from traceview.experiments.results import Journal
from traceview.experiments.tune import options as trials
from traceview.experiments.tune import tuning
from traceview.experiments.tune.options import Facts, Option
from traceview.experiments.tune.outcome import Bound, Numbers, bounds, compare_numbers, forbidden, judge_bound, rows
from traceview.experiments.tune.search import FINAL, NULL, Found, Search, Tried
from traceview.experiments.verdict import visible_gain

FACTS = Facts("torch", "2.13.0", "cpu", 2)
STEP_NS = 100_000_000
RUN_NS = 2_000_000_000


def option(name: str, **more: Any) -> Option:
    made = Option(
        name, f"title of {name}", name, "torch", "equal", "nothing.", "never.", (), {"torch": f"use {name}"}, ""
    )
    return replace(made, **more)


class Machine:
    """Simulated runs: an option's factor on the time of a step, noise of one percent, and what else may go wrong."""

    def __init__(self, factors: dict[str, float], noise: float = 0.01, seed: int = 1, **more: Any) -> None:
        self.factors, self.noise, self.random, self.more = factors, noise, random.Random(seed), more
        self.runs: list[tuple[str, ...]] = []
        self.level = 0.0

    def __call__(self, names: Sequence[str]) -> Timed:
        self.runs.append(tuple(names))
        wall = STEP_NS / math.prod(self.factors[name] for name in names) * math.exp(self.random.gauss(0, self.noise))
        if self.more.get("walks"):
            self.level = 0.9 * self.level + self.random.gauss(0, self.more["walks"])
            wall *= math.exp(self.level + (0.1 if self.random.random() < 0.05 else 0))
        wall *= 1 + self.more.get("every_third", 0) * (len(self.runs) % 3 == 0)
        if self.more.get("drift"):
            wall *= 1 + self.more["drift"] * (len(self.runs) % 3)
        fails = self.more.get("fails") in names or len(self.runs) > self.more.get("breaks_after", 1e9)
        changes = self.more.get("changes") in names
        return Timed(
            None if fails else int(wall), None if fails else int(wall), 5, 2.5 if changes else 2.0,
            "b" if changes else "a", (self.more.get("norm", 1.0), 2.0), self.more.get("others", 0.0), int(fails),
            "the command failed with exit code 1: no such thing" if fails else None,
            {name: "no: the script sets it" if name == self.more.get("idle") else f"did {name}" for name in names},
            len(self.runs), RUN_NS,
        )  # fmt: skip


def searched(
    folder: Path,
    machine: Machine,
    names: Sequence[str],
    budget_s: float = 1000,
    asked: set[str] | None = None,
    **more: Any,
) -> tuple[Found, Search]:
    journal = Journal(folder, {"kind": "tune", "framework": "torch"})
    search = Search(Runner(journal, machine), int(budget_s * 1e9), forbidden(asked or set()), lambda text: None)
    return search.run([option(name, **more.get(name, {})) for name in names]), search


def answer(found: Found, bounds: dict[str, Bound] | None = None) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows(found, bounds or {}, FACTS)}


def test_what_helps_is_found_combined_and_claimed_and_the_slower_is_dropped(tmp_path: Path) -> None:
    machine = Machine({"a": 1.5, "b": 1.2, "slow": 0.8, "same": 1.0})
    found, _ = searched(tmp_path, machine, ["slow", "b", "same", "a"])
    assert found.best and {each.name for each in found.best.options} == {"a", "b"}
    told = answer(found, {"a": Bound("rule", 1.6), "b": Bound("other", 3.0)})
    best = told["a+b"]
    assert best["verdict"] == "faster" and best["speedup"] == pytest.approx(1.8, rel=0.03)
    assert best["low"] < 1.8 < best["high"] and best["pairs"] == 12
    assert told["slow"]["verdict"] == "dropped" and "clearly slower" in told["slow"]["reason"]
    assert told["a"]["verdict"] == told["b"]["verdict"] == "faster"
    assert told["a"]["adds"] == pytest.approx(1.5, rel=0.05) and told["b"]["adds"] == pytest.approx(1.2, rel=0.05)
    assert (told["a"]["bound_judged"], told["b"]["bound_judged"]) == ("reached", "partly")
    assert told[NULL]["verdict"] == "no difference seen" and told[NULL]["pairs"] >= 6
    assert told["a"]["numbers"] == "equal" and told["a"]["how"] == "use a" and told["a"]["applied"] == "did a"
    assert machine.runs.count(("slow",)) == 2, "dropped after two rounds"


def run_rows(folder: Path) -> list[dict[str, Any]]:
    return Journal(folder, {}).rows(TABLE)


def orders(folder: Path, seed: int) -> list[tuple[str, ...]]:
    """The sides of each round in the order in which they were run."""
    journal = Journal(folder, {"kind": "tune"})
    Search(Runner(journal, Machine({"a": 1.5}), seed), 10**12, forbidden(set()), lambda text: None).run([option("a")])
    rounds: dict[tuple[str, int], dict[int, str]] = {}
    for row in journal.rows(TABLE):
        rounds.setdefault((row["phase"], row["pair"]), {})[row["place"]] = row["side"]
    return [tuple(side for _, side in sorted(places.items())) for places in rounds.values()]


def test_the_order_within_a_round_is_random_and_repeats_with_its_seed(tmp_path: Path) -> None:
    found = orders(tmp_path / "1", 1)
    assert {tuple(sorted(each)) for each in found} == {("again", "base", "with")}
    assert len(set(found)) >= 4, "ten rounds of six possible orders"
    assert orders(tmp_path / "1 again", 1) == found and orders(tmp_path / "2", 2) != found


@pytest.mark.slow
def test_what_comes_back_after_some_runs_makes_no_claim(tmp_path: Path) -> None:
    """Every third run is slower by a tenth: a fixed order has it always on one side."""
    claims = 0
    for seed in range(20):
        journal = Journal(tmp_path / str(seed), {"kind": "tune", "framework": "torch"})
        machine = Machine({"a": 1.0, "b": 1.0}, noise=0.02, seed=seed, every_third=0.1)
        runner = Runner(journal, machine, seed)
        found = Search(runner, 10**12, forbidden(set()), lambda text: None).run([option("a"), option("b")])
        claims += any(row["verdict"] in ("faster", "slower") for row in answer(found).values())
    assert claims <= 2


@pytest.mark.parametrize(("norm", "is_said"), [(math.nan, True), (math.inf, True), (1.0, False)])
def test_training_that_comes_to_no_number_is_said_once(tmp_path: Path, norm: float, is_said: bool) -> None:
    journal, said = Journal(tmp_path, {"kind": "tune"}), list[str]()
    search = Search(Runner(journal, Machine({"a": 1.5}, norm=norm)), 10**12, forbidden(set()), said.append)
    told = answer(search.run([option("a")]))
    assert sum("become NaN or infinite" in text for text in said) == is_said
    assert told["a"]["numbers"] == ("not seen" if is_said else "equal") and told["a"]["verdict"] == "faster"


def test_a_command_that_breaks_in_the_final_rounds_is_not_run_on_and_on(tmp_path: Path) -> None:
    machine = Machine({"a": 1.5}, breaks_after=7)
    found, _ = searched(tmp_path, machine, ["a"])
    first = [row for row in run_rows(tmp_path) if row["phase"] == FINAL and row.get("step_ns")]
    assert len(first) == 1 and len(machine.runs) == 6 + 3 * (2 + (first[0]["side"] != "with"))
    told = answer(found)
    assert told["a"]["verdict"] == told[NULL]["verdict"] == "cannot decide"
    assert "pairs gave no times: the command failed with exit code 1: no such thing" in told["a"]["reason"]
    assert told[NULL]["reason"] == told["a"]["reason"]


def test_final_pairs_are_fresh(tmp_path: Path) -> None:
    found, search = searched(tmp_path, Machine({"a": 1.3}), ["a"])
    assert found.best and len(found.best.pairs[FINAL]) == len(found.best.repeated) == 12
    final = [row for row in search.runner.journal.rows(TABLE) if row["phase"] == FINAL]
    assert len(final) == 36 and {row["side"] for row in final} == {"base", "with", "again"}


def test_a_failing_option_is_a_row_with_its_reason(tmp_path: Path) -> None:
    found, _ = searched(tmp_path, Machine({"a": 1.3, "broken": 2.0}, fails="broken"), ["broken", "a"])
    told = answer(found)
    assert told["broken"]["verdict"] == "failed" and "no such thing" in told["broken"]["reason"]
    assert found.best and found.best.name == "a"


class Flaky(Machine):
    """Some options together end every second run of theirs after the first ones, or change its numbers."""

    def __call__(self, names: Sequence[str]) -> Timed:
        timed = super().__call__(names)
        n = sum(self.more["together"] <= {*run} for run in self.runs)
        if self.more["together"] <= {*names} and n > self.more.get("good", 0) and n % 2:
            if loss := self.more.get("loss"):
                return replace(timed, loss=loss, checksum="b", norms=(loss, 2.0))
            return replace(timed, step_ns=None, step_cpu_ns=None, exit_code=9, reason="the command failed: no luck")
        return timed


def test_an_option_that_fails_in_final_runs_is_not_the_best_however_fast_it_is(tmp_path: Path) -> None:
    found, _ = searched(tmp_path, Flaky({"a": 1.2}, together={"a"}, good=4), ["a"])
    told = answer(found)["a"]
    assert (told["verdict"], told["reason"]) == ("failed", "5 of 12 runs with it failed: the command failed: no luck")
    assert told["speedup"] is None and not told["in_best"] and "adds" not in told and not found.options
    assert not answer(found)[NULL].get("visible"), "of a best that failed its rounds show nothing"


@pytest.mark.parametrize(
    ("good", "row", "reason"),
    [(0, "b", "on top of a: 1 of 2 runs with it failed"), (2, "a+b", "4 of 8 runs with it failed"),
     (10, "a+b", "6 of 12 runs with it failed")],
)  # fmt: skip
def test_a_combination_that_fails_is_not_the_best(tmp_path: Path, good: int, row: str, reason: str) -> None:
    """In runs that combine, in those that leave parts out, and in final ones; the best option by itself stays."""
    found, _ = searched(tmp_path, Flaky({"a": 1.5, "b": 1.2}, together={"a", "b"}, good=good), ["a", "b"])
    told = answer(found)
    assert (told[row].get("left_out") or told[row]["reason"]).startswith(reason), told[row]
    assert [name for name, each in told.items() if each["in_best"]] == ["a"] and told["a"]["verdict"] == "faster"
    assert row == "b" or told[row]["verdict"] == "failed"


@pytest.mark.parametrize(("good", "row"), [(0, "b"), (2, "a+b"), (10, "a+b")])
@pytest.mark.parametrize(
    ("loss", "only_equal", "reason"),
    [(2.00001, True, "its numbers are close, but must be equal"), (2.00001, False, None),
     (2.5, False, "it changed the numbers (by 20 %); --try a takes it all the same"),
     (math.nan, False, "its numbers became none (NaN); --try a takes it all the same")],
)  # fmt: skip
def test_a_combination_whose_numbers_differ_is_not_the_best(
    tmp_path: Path, good: int, row: str, loss: float, only_equal: bool, reason: str | None
) -> None:
    """Each of both changes nothing by itself; in runs that combine, that leave parts out, and in final ones."""
    machine = Flaky({"a": 1.5, "b": 1.2}, together={"a", "b"}, good=good, loss=loss, norm=loss if reason is None else 2)
    journal = Journal(tmp_path, {"kind": "tune", "framework": "torch"})
    search = Search(Runner(journal, machine), 10**12, forbidden(set(), only_equal), lambda text: None)
    told = answer(search.run([option("a", numbers="close"), option("b", numbers="close")]))
    if reason is None:
        assert told["a+b"]["in_best"] and (told["a+b"]["verdict"], told["a+b"]["numbers"]) == ("faster", "close")
        return
    assert (told[row].get("left_out") or told[row]["reason"]).endswith(reason), told[row]
    assert [name for name, each in told.items() if each["in_best"]] == ["a"] and told["a"]["verdict"] == "faster"
    assert row == "b" or told[row]["verdict"] == "dropped"


def test_an_option_whose_numbers_differ_in_some_final_runs_is_dropped_unless_it_was_asked_for(tmp_path: Path) -> None:
    for name, asked, verdict in (("1", set[str](), "dropped"), ("2", {"a"}, "faster")):
        machine = Flaky({"a": 1.2}, together={"a"}, good=4, loss=2.5)
        told = answer(searched(tmp_path / name, machine, ["a"], asked=asked)[0])["a"]
        assert (told["verdict"], told["in_best"], told["numbers"]) == (verdict, verdict == "faster", "changed")


def test_an_option_without_effect_is_left_out_at_once(tmp_path: Path) -> None:
    machine = Machine({"idle": 1.0, "a": 1.3}, idle="idle")
    found, _ = searched(tmp_path, machine, ["idle", "a"])
    told = answer(found)["idle"]
    assert (told["verdict"], told["reason"]) == ("dropped", "it had no effect: the script sets it")
    assert machine.runs.count(("idle",)) == 1


def test_an_option_that_changes_numbers_is_left_out_unless_it_was_asked_for(tmp_path: Path) -> None:
    found, _ = searched(tmp_path / "1", Machine({"cheat": 3.0, "a": 1.2}, changes="cheat"), ["cheat", "a"])
    told = answer(found)
    assert told["cheat"]["verdict"] == "dropped" and told["cheat"]["reason"].startswith(
        "it changed the numbers (by 20 %)"
    )
    assert told["cheat"]["numbers"] == "changed" and found.best and found.best.name == "a"
    found, _ = searched(tmp_path / "2", Machine({"cheat": 3.0}, changes="cheat"), ["cheat"], asked={"cheat"})
    assert answer(found)["cheat"]["verdict"] == "faster"


def test_options_that_exclude_each_other_are_not_combined(tmp_path: Path) -> None:
    machine = Machine({"a": 1.5, "b": 1.4})
    either = {"a": {"one_of": "allocator"}, "b": {"one_of": "allocator"}}
    found, _ = searched(tmp_path, machine, ["a", "b"], **either)
    assert found.best and found.best.name == "a" and ("a", "b") not in machine.runs


class Lucky(Machine):
    """An option that does nothing, and seems to help as long as options are chosen."""

    def __call__(self, names: Sequence[str]) -> Timed:
        is_early = len(self.runs) < 3 * 4 + 4
        self.factors = {**self.factors, "lucky": 1.2 if is_early else 1.0}
        return super().__call__(names)


def test_a_part_that_was_lucky_is_left_out_and_the_report_says_so(tmp_path: Path) -> None:
    found, _ = searched(tmp_path, Lucky({"a": 1.3}, seed=2), ["a", "lucky"])
    rounds = [row for row in run_rows(tmp_path) if row["phase"] == "ablation"]
    assert len(rounds) == 8 * 3, "the combination, and without each of its two parts"
    assert {"a", "lucky"} < {row["options"] for row in rounds}
    assert found.best and found.best.name == "a"
    told = answer(found)
    assert told["a"]["verdict"] == "faster" and told["a"]["adds"] == told["a"]["speedup"] == pytest.approx(
        1.3, rel=0.02
    )
    assert told["a"]["adds_low"] < 1.3 < told["a"]["adds_high"]
    assert not told["lucky"]["in_best"] and "adds" not in told["lucky"]
    assert told["lucky"]["left_out"].startswith("it was not shown to add anything to the best")
    assert told["lucky"]["verdict"] == "no difference seen"


def test_what_a_part_adds_has_an_interval_that_holds_the_truth(tmp_path: Path) -> None:
    found, _ = searched(tmp_path, Machine({"a": 1.5, "b": 1.2, "c": 1.1}), ["a", "b", "c"])
    told = answer(found)
    for name, truth in {"a": 1.5, "b": 1.2, "c": 1.1}.items():
        assert told[name]["adds_low"] <= truth <= told[name]["adds_high"], name
        assert told[name]["adds"] == pytest.approx(truth, rel=0.02)


def test_of_two_options_that_do_the_same_one_stays(tmp_path: Path) -> None:
    """Left out alone neither is missed; without both the step is slower."""

    class Either(Machine):
        def __call__(self, names: Sequence[str]) -> Timed:
            self.factors = {**self.factors, "b": 1.0 if "a" in names else 1.3}
            return super().__call__(names)

    def chosen(folder: Path, **more: float) -> set[str]:
        # A first look in which b adds something on top of a brings both into the combination.
        machine = Either({"a": 1.3, **more})
        search = Search(Runner(Journal(folder, {"kind": "tune"}), machine), 10**12, forbidden(set()), lambda text: None)
        options = [option(name) for name in ["a", "b", *more]]
        best, adds = search._ablate(options, [Tried(each.name, (each,)) for each in options])
        assert best is not None and set(adds) <= {each.name for each in best.options}
        return {each.name for each in best.options}

    assert len(chosen(tmp_path / "two")) == 1
    three = chosen(tmp_path / "three", c=1.2)
    assert "c" in three and len(three) == 2


def test_a_search_says_which_gains_it_could_have_found(tmp_path: Path) -> None:
    found, _ = searched(tmp_path, Machine({"a": 1.02}, noise=0.05, seed=3), ["a"])
    told = answer(found)
    assert told["a"]["verdict"] != "faster"
    # Pairs differ by 7 %; 24 rounds show 4 * 0.07 / sqrt(24), in logarithms.
    assert told[NULL]["visible"] == pytest.approx(0.06, rel=0.5)
    text = told[NULL]["reason"]
    assert text.startswith("equal runs differ by ") and "would have been seen (in 4 of 5 searches)" in text
    quiet, _ = searched(tmp_path / "quiet", Machine({"a": 1.0}, noise=0.001), ["a"])
    assert answer(quiet)[NULL]["visible"] < 0.01 and "--budget" not in answer(quiet)[NULL]["reason"]


@pytest.mark.parametrize(
    ("machine", "names", "budget_s", "first_run_s", "verdicts"),
    [
        (Machine({"a": 1.6}), "a", 38, 2, {"a": "cannot decide"}),
        (Machine({"a": 1.0, "b": 1.0}), "ab", 28, 2, {"a": "cannot decide"}),
        (Machine({"a": 1.02, "b": 1.0, "c": 1.6}, noise=0.03), "abc", 80, 20, {"a": "no difference seen",
                                                                             "c": "not tried"}),
    ],
)  # fmt: skip
def test_no_gains_would_have_been_seen_by_a_search_that_could_not_claim_them(
    tmp_path: Path, machine: Machine, names: str, budget_s: int, first_run_s: int, verdicts: dict[str, str]
) -> None:
    """Five final rounds; none; and a fast option that had no turn."""
    runner = Runner(Journal(tmp_path, {"kind": "tune"}), machine)
    search = Search(runner, budget_s * 10**9, forbidden(set()), lambda text: None, first_run_s * 10**9)
    told = answer(search.run([option(name) for name in names]))
    assert {name: told[name]["verdict"] for name in verdicts} == verdicts
    assert not told[NULL].get("visible") and "would have been seen" not in str(told[NULL]["reason"])


def test_more_final_rounds_are_made_where_runs_differ_and_the_budget_has_room(tmp_path: Path) -> None:
    for name, noise, budget_s, n in (("calm", 0.01, 1000, 12), ("rough", 0.1, 1000, 24), ("short", 0.1, 90, 13)):
        machine = Machine({"a": 1.5}, noise=noise, seed=4)
        found, _ = searched(tmp_path / name, machine, ["a"], budget_s=budget_s)
        assert found.best and abs(len(found.best.pairs[FINAL]) - n) <= (2 if name == "short" else 0), name


@pytest.mark.long
def test_a_gain_that_is_said_to_be_visible_is_found_in_most_searches(tmp_path: Path) -> None:
    gain = 1 + visible_gain(0.05 * math.sqrt(2), 12)
    claims = 0
    for seed in range(40):
        machine = Machine({"a": gain, "b": 1.0}, noise=0.05, seed=seed)
        found, _ = searched(tmp_path / str(seed), machine, ["a", "b"], budget_s=2 * 80)
        claims += any(row["verdict"] == "faster" for row in answer(found).values())
    assert claims >= 26


def test_what_helps_only_beside_others_gets_a_second_chance_where_advice_names_it(tmp_path: Path) -> None:
    class Together(Machine):
        """An option that costs by itself, and gives where another is on."""

        def __call__(self, names: Sequence[str]) -> Timed:
            self.factors = {**self.factors, "layout": 1.3 if "library" in names else 0.8}
            return super().__call__(names)

    def found(folder: Path, promised: dict[str, float]) -> Found:
        journal = Journal(folder, {"kind": "tune", "framework": "torch"})
        search = Search(
            Runner(journal, Together({"library": 1.2})), 10**12, forbidden(set()), lambda text: None, promised=promised
        )
        return search.run([option("layout"), option("library")])

    told = answer(found(tmp_path / "named", {"layout": 1.4}))
    assert told["library+layout"]["verdict"] == "faster"
    assert told["layout"]["in_best"] and told["layout"]["adds"] == pytest.approx(1.3, rel=0.05)
    assert told["layout"]["verdict"] != "dropped"
    told = answer(found(tmp_path / "not", {}))
    assert "library+layout" not in told and told["layout"]["reason"].startswith("clearly slower")


def test_bounds_add_up_where_rules_are_about_different_work() -> None:
    found = bounds({"plain_layout_on_cpu": 10.0, "layout_between_operators": 20.0, "unfused_optimizer": 50.0})
    both = found["channels_last"]
    assert (both.rule, both.speedup) == ("layout_between_operators + plain_layout_on_cpu", pytest.approx(1 / 0.7))
    assert (found["fused_optimizer"].rule, found["fused_optimizer"].speedup) == ("unfused_optimizer", 2.0)
    # Loading and idle time at the edges of steps are one and the same time.
    found = bounds({"data_loading": 20.0, "idle_at_step_edges": 25.0, "denormals": None})
    assert found["loader_workers"] == Bound("idle_at_step_edges", pytest.approx(1 / 0.75))
    assert found["flush_denormals"] == Bound("denormals", None)
    assert "channels_last" not in found


def test_the_best_is_tested_first_and_the_others_among_themselves(tmp_path: Path) -> None:
    machine = Machine({"a": 1.5, "b": 1.2, "c": 1.1})
    either = {name: {"one_of": "allocator"} for name in "abc"}
    found, _ = searched(tmp_path, machine, ["a", "b", "c"], **either)
    told = answer(found)
    assert [told[name]["verdict"] for name in "abc"] == ["faster"] * 3
    assert (told["a"]["pairs"], told["b"]["pairs"]) == (12, 7), "two that are tested together need seven"
    assert told["a"]["p"] == 2 / 4096 and told["b"]["p"] == told["c"]["p"] == 2 * 2 / 128


def test_a_busy_machine_claims_nothing(tmp_path: Path) -> None:
    found, _ = searched(tmp_path, Machine({"a": 1.5}, others=40.0), ["a"])
    told = answer(found)["a"]
    assert told["verdict"] == "cannot decide" and told["speedup"] is None
    assert told["reason"].startswith("the machine was too busy to tell") and told["cpu_speedup"] == pytest.approx(
        1.5, 0.05
    )


class Threads(Machine):
    """A busy machine on which the option makes more threads work: it takes more processor time, and less time."""

    def __call__(self, names: Sequence[str]) -> Timed:
        timed = super().__call__(names)
        return replace(timed, step_cpu_ns=int(STEP_NS * (1.15 if names else 1.0)))


@pytest.mark.parametrize(
    ("group", "gain", "said", "best"),
    [
        ("threads", 1.6, "times as fast in wall time (the machine was busy)", "a"),
        ("layout", 1.6, "a: 0.87 times as fast in processor time (the machine was busy)", None),
        ("threads", 0.8, "times as fast in wall time (the machine was busy)", None),
    ],
)
def test_a_busy_machine_drops_nothing_as_slower_and_chooses_threads_by_wall_time(
    tmp_path: Path, group: str, gain: float, said: str, best: str | None
) -> None:
    journal, told = Journal(tmp_path, {"kind": "tune", "framework": "torch"}), list[str]()
    search = Search(Runner(journal, Threads({"a": gain}, others=15.0)), 10**12, forbidden(set()), told.append)
    found = search.run([option("a", group=group)])
    assert any(line.endswith(said) for line in told), told
    assert found.tried[0].dropped is None and (found.best and found.best.name) == best
    assert answer(found)["a"]["verdict"] == "cannot decide"


def test_a_round_is_lost_in_which_other_programs_ran_beside_either_run_of_the_base(tmp_path: Path) -> None:
    found, _ = searched(tmp_path, Machine({"a": 1.5}), ["a"])
    assert found.best
    for first in found.best.pairs[FINAL][:3]:
        first.base["others_pct"] = 50.0
    for again in found.best.repeated[2:8]:
        again.base["others_pct"] = 50.0
    told, busy = answer(found)["a"], "the machine was too busy to tell: other programs took its cores in"
    assert (told["verdict"], told["pairs"], told["reason"]) == ("cannot decide", 4, f"{busy} 8 of 12 pairs")
    found.best.repeated[11].base["step_ns"] = None
    told = answer(found)["a"]
    assert (told["pairs"], told["reason"]) == (3, f"{busy} 8 of 12 pairs, and 1 gave no times")
    # Three on a quiet machine would have been too few as well.
    del found.best.pairs[FINAL][3:], found.best.repeated[3:]
    assert answer(found)["a"]["reason"] == "0 pairs on a quiet machine are too few; a larger --budget makes more"


def test_a_null_that_helps_makes_everything_too_noisy(tmp_path: Path) -> None:
    """The second run of the base in each round is slower: what a measurement gone wrong looks like."""
    found, _ = searched(tmp_path, Machine({"a": 1.5}), ["a"])
    for pair in [pair for phase in found.null.pairs.values() for pair in phase]:
        pair.other["step_ns"] *= 1.2
    told = answer(found)
    assert told[NULL]["verdict"] == "too noisy"
    assert (told["a"]["verdict"], told["a"]["reason"]) == ("too noisy", "runs without any change differed as much")


def test_a_best_that_is_faster_than_one_run_of_the_base_only_is_not_claimed(tmp_path: Path) -> None:
    """The second run of the base is as often much faster than the best as it is slower: by chance it says nothing."""
    found, _ = searched(tmp_path, Machine({"a": 1.5}), ["a"])
    assert found.best
    for number, again in enumerate(found.best.repeated):
        found.best.pairs[FINAL][number].base["step_ns"] = 1.1 * again.other["step_ns"]
        again.base["step_ns"] = (0.95, 1.3)[number % 2] * again.other["step_ns"]
    told = answer(found)
    assert (told["a"]["verdict"], told[NULL]["verdict"]) == ("no difference seen", "no difference seen")
    assert told["a"]["low"] == pytest.approx(0.95) and told["a"]["high"] == pytest.approx(1.3)


def test_nothing_can_be_tried_like_any_option(tmp_path: Path) -> None:
    found, _ = searched(tmp_path, Machine({NULL: 1.2}, seed=2), [NULL])
    made = rows(found, {}, FACTS)
    assert [(row["name"], row["kind"], row["verdict"]) for row in made] == [
        (NULL, "option", "faster"),
        (NULL, "null", "no difference seen"),
    ]


def test_nothing_alone_goes_straight_to_the_final_pairs(tmp_path: Path) -> None:
    machine = Machine({NULL: 1.0}, seed=2)
    journal = Journal(tmp_path, {"kind": "tune", "framework": "torch"})
    found = Search(Runner(journal, machine), 10**12, forbidden(set()), lambda text: None).run([tuning.NOTHING])
    (row,) = (row for row in rows(found, {}, FACTS) if row["kind"] == "option")
    assert len(machine.runs) == 36 and row["pairs"] == 12
    assert row["verdict"] == "no difference seen" and row["low"] < 1 < row["high"]


@pytest.mark.long
def test_a_machine_that_drifts_makes_no_more_false_claims_than_the_level_allows(tmp_path: Path) -> None:
    """Whole searches over three options that do nothing, where the speed of the machine wanders and at times jumps."""
    claims = 0
    for seed in range(40):
        machine = Machine({"a": 1.0, "b": 1.0, "c": 1.0}, noise=0.02, seed=seed, walks=0.02)
        found, _ = searched(tmp_path / str(seed), machine, ["a", "b", "c"])
        claims += any(row["verdict"] in ("faster", "slower") for row in answer(found).values())
    assert claims <= 4, "of 40, at 5 %, in expectation 2"


@pytest.mark.slow
def test_ten_searches_for_nothing_claim_at_most_once(tmp_path: Path) -> None:
    claims = 0
    for seed in range(10):
        machine = Machine({"a": 1.0, "b": 1.0, "c": 1.0}, noise=0.03, seed=seed)
        found, _ = searched(tmp_path / str(seed), machine, ["a", "b", "c"])
        claims += any(row["verdict"] == "faster" for row in answer(found).values())
    assert claims <= 1


def test_a_small_budget_leaves_options_out_and_says_so(tmp_path: Path) -> None:
    machine = Machine(dict.fromkeys("abcdef", 1.1))
    found, search = searched(tmp_path, machine, list("abcdef"), budget_s=30)
    assert found.ran_out and search.runner.spent_ns <= 30e9
    verdicts = {row["verdict"] for row in answer(found).values()}
    assert "faster" not in verdicts and "cannot decide" in verdicts


def test_the_first_round_fits_the_budget_too(tmp_path: Path) -> None:
    """A run took 2 s when the base was recorded: in 12 s the base, four options and the base again."""
    machine = Machine(dict.fromkeys("abcdef", 1.1))
    search = Search(
        Runner(Journal(tmp_path, {"kind": "tune"}), machine), 12 * 10**9, forbidden(set()), lambda text: None
    )
    search.first_run_ns = RUN_NS
    found = search.run([option(name) for name in "abcdef"])
    assert [each.name for each in found.tried if each.dropped] == ["e", "f"]
    assert [answer(found)[name]["verdict"] for name in "ef"] == ["not tried", "not tried"]
    assert sorted(machine.runs[:6]) == [(), (), ("a",), ("b",), ("c",), ("d",)]


def test_the_first_option_is_tried_however_small_the_budget_is(tmp_path: Path) -> None:
    machine = Machine({"a": 0.9, "b": 1.1})
    search = Search(Runner(Journal(tmp_path, {"kind": "tune"}), machine), 1, forbidden(set()), lambda text: None)
    search.first_run_ns = RUN_NS
    found = search.run([option("a"), option("b")])
    assert sorted(machine.runs) == [(), (), ("a",)] and found.best is None
    assert [answer(found)[name]["verdict"] for name in "ab"] == ["cannot decide", "not tried"]


def test_a_search_that_was_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    whole, _ = searched(tmp_path / "whole", Machine({"a": 1.5, "b": 1.2}), ["a", "b"])

    class Ended(Machine):
        def __call__(self, names: Sequence[str]) -> Timed:
            if len(self.runs) == 11:
                raise KeyboardInterrupt
            return super().__call__(names)

    first = Ended({"a": 1.5, "b": 1.2})
    with pytest.raises(KeyboardInterrupt):
        searched(tmp_path / "ended", first, ["a", "b"])
    second = Machine({"a": 1.5, "b": 1.2})
    second.random = first.random
    found, search = searched(tmp_path / "ended", second, ["a", "b"])
    assert search.runner.n_new == search.runner.n_runs - 11
    assert answer(found) == answer(whole)


def pair(base: dict[str, Any], other: dict[str, Any]) -> Pair:
    common = {"step_ns": 1, "steps": 5, "loss": 2.0, "checksum": "a", "parameter_norms": "[1.0, 2.0]"}
    return Pair({**common, **base}, {**common, **other})


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({}, Numbers("equal", 0.0, 0.0)),
        ({"checksum": "b", "loss": 2.0001}, Numbers("close", pytest.approx(0.00005, rel=0.01), 0.0)),
        ({"checksum": "b", "parameter_norms": "[1.0, 2.1]"}, Numbers("changed", 0.0, pytest.approx(0.1 / 2.1))),
        ({"checksum": "b", "loss": 2.5, "parameter_norms": "[NaN, 2.0]"}, Numbers("changed", math.inf, math.inf)),
        ({"steps": 4}, Numbers("not seen", None, None)),
    ],
)
def test_numbers_are_compared_after_equal_steps(other: dict[str, Any], expected: Numbers) -> None:
    assert compare_numbers([pair({}, other)]) == expected


@pytest.mark.parametrize(
    ("numbers", "by", "forbidden_because"),
    [
        ("close", 0.0099, None),  # Another order of additions: close up to a part in a hundred.
        ("close", 0.0101, "it changed the numbers (by 1 %); --try a takes it all the same"),
        ("equal", 0.0002, "it changed the numbers (by 0.02 %); --try a takes it all the same"),
        ("equal", 0.00009, None),  # Within a part in 10,000 they are called close.
        ("changed", 0.5, None),
    ],
)
def test_an_option_may_change_numbers_as_far_as_its_kind_does(
    numbers: str, by: float, forbidden_because: str | None
) -> None:
    found = [pair({}, {"checksum": "b", "parameter_norms": json.dumps([1.0 - by, 2.0])})]
    tried = option("a", numbers=numbers)
    assert forbidden(set())(tried, found, ()) == forbidden_because
    assert forbidden({"a"})(tried, found, ()) is None, "it was asked for"


@pytest.mark.parametrize(
    ("numbers", "again", "forbidden_because"),
    [
        ("equal", {}, "its numbers are close, but must be equal; --try a takes it all the same"),
        ("equal", {"checksum": "c"}, None),  # The base itself does not repeat to the last bit.
        ("close", {}, None),
    ],
)
def test_an_option_that_is_to_change_no_bit_is_dropped_where_it_changes_one(
    numbers: str, again: dict[str, Any], forbidden_because: str | None
) -> None:
    """In a warm-up parameters that nothing trains any more are still within a part in 10,000."""
    untrained, null = pair({}, {"checksum": "b", "loss": 2.0001, "parameter_norms": "[1.00001, 2.0]"}), pair({}, again)
    assert compare_numbers([untrained], [null]).word == "close"
    assert forbidden(set())(option("a", numbers=numbers), [untrained], [null]) == forbidden_because
    assert forbidden({"a"})(option("a", numbers=numbers), [untrained], [null]) is None, "it was asked for"


def test_equal_numbers_may_be_required() -> None:
    same, close, unseen = pair({}, {}), pair({}, {"checksum": "b", "loss": 2.0000001}), pair({}, {"steps": 4})
    only_equal = forbidden({"a"}, only_equal=True)
    assert only_equal(option("a"), [same], ()) is None
    assert only_equal(option("a"), [close], ()) == "its numbers are close, but must be equal"
    assert only_equal(option("a"), [unseen], ()) == "its numbers are not seen, but must be equal"


@pytest.mark.parametrize(("by", "word"), [(0.000099, "close"), (0.000101, "changed")])
def test_numbers_are_close_within_a_part_in_ten_thousand(by: float, word: str) -> None:
    assert compare_numbers([pair({}, {"checksum": "b", "loss": 2.0 * (1 - by)})]).word == word


def test_numbers_that_are_none_are_never_close() -> None:
    lost = pair({}, {"checksum": "b", "parameter_norms": "[1.0, NaN]"})
    assert compare_numbers([lost]).word == "changed"
    assert forbidden(set())(option("a"), [lost], ()) == "its numbers became none (NaN); --try a takes it all the same"
    both = pair({"parameter_norms": "[NaN, 2.0]"}, {"parameter_norms": "[NaN, 2.0]"})
    assert compare_numbers([both]).word == "not seen"


def test_a_loss_that_became_none_forbids_an_option_whose_parameters_stay_as_they_were() -> None:
    """A run notes no loss where it is NaN; its gradients may be fine all the same."""
    lost = pair({}, {"loss": None, "checksum": "b"})
    assert compare_numbers([lost]) == Numbers("changed", math.inf, math.inf)
    for numbers in ("close", "equal"):
        assert forbidden(set())(option("a", numbers=numbers), [lost], ()) == (
            "its numbers became none (NaN); --try a takes it all the same"
        )
    assert compare_numbers([pair({"loss": None}, {"loss": None})]).word == "equal", "the base has none either"


def test_parameters_that_a_run_does_not_show_are_not_close() -> None:
    hidden: dict[str, Any] = {"checksum": None, "parameter_norms": None}
    assert compare_numbers([pair({}, hidden)]) == Numbers("not seen", None, None)
    assert compare_numbers([pair({}, {**hidden, "loss": 2.5})]).word == "changed"


def test_numbers_that_change_by_themselves_say_nothing() -> None:
    own = pair({}, {"checksum": "b", "loss": 3.0})
    assert compare_numbers([pair({}, {"checksum": "c", "loss": 4.0})], [own]).word == "not seen"


@pytest.mark.parametrize(
    ("bound", "measured", "word"),
    [(2.0, 2.0, "reached"), (2.0, 1.6, "reached"), (2.0, 1.3, "partly"), (2.0, 1.01, "not reached"),
     (1.2, 1.5, "exceeded"), (None, 1.5, None), (2.0, 0.9, "not reached")],
)  # fmt: skip
def test_a_bound_is_judged_by_the_time_that_was_saved(bound: float | None, measured: float, word: str | None) -> None:
    assert judge_bound(bound, measured) == word


def test_names_of_groups_and_options_are_known() -> None:
    assert trials.named(["malloc"]) and trials.load()
