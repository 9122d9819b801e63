"""Claims of `tune` on simulated runs, whose truth is known: false ones, missed ones, and null options in its bests.

    python benchmarks/tune_simulation.py [--searches 200] [--noise independent_3,period_4] [--gains 1,1.2] [--options 9]

Each search is the real one over times that are drawn here: one option of the given gain among others that do nothing,
under one kind of noise of the machine. Prints per kind and gain: searches whose best is claimed to be faster, those in
which a null option or a combination of null options is (false faster), those in which any is claimed to be slower
(false slower), intervals of claimed bests that miss the truth, claimed bests that hold a null option, and the mean of
what the report says that a null part gives. Nothing is run, the machine does not matter, and the same command gives the
same table.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any, cast

from traceview.experiments.command import Timed
from traceview.experiments.pairs import Runner
from traceview.experiments.results import Journal
from traceview.experiments.tune import options as trials
from traceview.experiments.tune import outcome
from traceview.experiments.tune.options import Facts, Option
from traceview.experiments.tune.search import Search

TRUE = "channels_last"
NAMES = (
    *("malloc_keeps", "huge_pages", TRUE, "fused_optimizer", "all_cores", "wait_passive", "flush_denormals"),
    *("zero_grad_to_none", "loader_workers"),
)
STEP_NS, RUN_NS = 100_000_000, 5_000_000_000
Noise = Callable[[random.Random], Callable[[], float]]


def independent(size: float) -> Noise:
    """Every run differs by itself."""
    return lambda chance: lambda: chance.gauss(0, size)


def periodic(slow: Sequence[bool]) -> Noise:
    """A disturbance of 10 % that comes back: another job, a governor."""

    def made(chance: random.Random) -> Callable[[], float]:
        runs = iter(range(1 << 30))
        return lambda: 0.1 * slow[next(runs) % len(slow)] + chance.gauss(0, 0.02)

    return made


def following(kept: float, size: float) -> Noise:
    """The speed of a run resembles that of the run before it."""

    def made(chance: random.Random) -> Callable[[], float]:
        level = 0.0

        def next_one() -> float:
            nonlocal level
            level = kept * level + chance.gauss(0, size * math.sqrt(1 - kept * kept))
            return level

        return next_one

    return made


def drifting(chance: random.Random) -> Callable[[], float]:
    """Every run is half a percent slower than the one before it."""
    runs = iter(range(1 << 30))
    return lambda: 0.005 * next(runs) + chance.gauss(0, 0.03)


def in_phases(chance: random.Random) -> Callable[[], float]:
    """Slow phases, by a quarter, that last five runs on average."""
    level = 0.0

    def next_one() -> float:
        nonlocal level
        level = 0.25 - level if chance.random() < 0.2 else level
        return level + chance.gauss(0, 0.015)

    return next_one


def tailed(chance: random.Random) -> Callable[[], float]:
    """A run now and then is far off (Student's t of two degrees)."""
    return lambda: 0.03 * chance.gauss(0, 1) / math.sqrt(chance.expovariate(1))


KINDS: dict[str, Noise] = {
    "independent_1": independent(0.01),
    "independent_3": independent(0.03),
    "independent_5": independent(0.05),
    "independent_10": independent(0.10),
    "following_5": following(0.9, 0.05),
    "following_10": following(0.5, 0.10),
    "drift": drifting,
    "phases": in_phases,
    "tails": tailed,
    "period_3": periodic([True, False, False]),
    "period_4": periodic([True, True, False, False]),
}


class Memory:
    """A journal that is not written."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return what an earlier session left: nothing."""
        return []

    def add(self, table: str, row: dict[str, Any]) -> None:
        """Keep a row."""
        self.kept.append(row)


def searched(kind: str, seed: int, gain: float, n_options: int, budget_s: float) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of `tune_options` after a whole search, and how many runs it took."""
    wobble = KINDS[kind](random.Random(f"{kind} {seed}"))

    def measure(names: Sequence[str]) -> Timed:
        time_ns = int(STEP_NS * math.exp(wobble()) / (gain if TRUE in names else 1))
        return Timed(
            step_ns=time_ns, step_cpu_ns=time_ns, steps=20, loss=1.0, checksum="same", norms=(1.0,), others_pct=0.0,
            exit_code=0, reason=None, applied=dict.fromkeys(names, "done"), started_unix_ns=0, total_ns=RUN_NS,
        )  # fmt: skip

    runner = Runner(cast(Journal, Memory()), measure, seed=seed)
    search = Search(runner, int(budget_s * 1e9), outcome.forbidden(set()), lambda text: None, RUN_NS)
    found = search.run(options(n_options))
    return outcome.rows(found, {}, Facts("torch", "2.13.0", "cpu", 2)), runner.n_runs


def options(n: int) -> list[Option]:
    """Return as many of the options as asked for, the true one always among them."""
    chosen = [TRUE, *(name for name in NAMES if name != TRUE)][:n]
    return [option for name in NAMES if name in chosen for option in trials.load() if option.name == name]


def told(kind: str, gain: float, args: argparse.Namespace) -> str:
    """Return one line of the table."""
    claims = faster = slower = missed = noisy = with_null = alone = n_runs = 0
    added: list[float] = []
    for seed in range(args.searches):
        rows, runs = searched(kind, seed, gain, args.options, args.budget)
        n_runs += runs
        known = [row for row in rows if row["kind"] != "null"]
        noisy += any(row["kind"] == "null" and row["verdict"] == "too noisy" for row in rows)
        parts = {row["name"] for row in known if row.get("in_best") and row["kind"] == "option"}
        best = next((row for row in known if set(row["name"].split("+")) == parts), None)
        true = {row["name"]: gain if TRUE in row["name"].split("+") else 1.0 for row in known}
        faster += any(row["verdict"] == "faster" and true[row["name"]] == 1 for row in known)
        slower += any(row["verdict"] == "slower" for row in known)
        alone += any(row["name"] == TRUE and row["verdict"] == "faster" for row in known)
        if best and best["verdict"] == "faster":
            claims += 1
            missed += not best["low"] <= true[best["name"]] <= best["high"]
            nulls = [name for name in parts if true[name] == 1]
            with_null += bool(nulls)
            added += [row["adds"] for row in known if row["name"] in nulls and row.get("adds")]
    share = f"{100 * with_null / claims:.0f} %" if claims else "-"
    gives = f"{statistics.mean(added):.2f}" if added else "-"
    n = args.searches
    return (
        f"{kind:15} {gain:5.2f} {n_runs / n:5.0f} {100 * claims / n:6.1f} {100 * faster / n:13.1f} "
        f"{100 * slower / n:13.1f} {100 * missed / max(claims, 1):7.1f} {share:>10} {gives:>10} {100 * noisy / n:6.1f}"
    )


def main() -> None:
    """All kinds and gains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--noise", default=",".join(KINDS), help="kinds of noise, joined by commas")
    parser.add_argument("--gains", default="1,1.2", help="gains of the true option, joined by commas")
    parser.add_argument("--options", type=int, default=len(NAMES), help="options that are tried, the true one included")
    parser.add_argument("--budget", type=float, default=600, help="seconds; a run takes five")
    args = parser.parse_args()
    print("shares in %: claims and false ones of searches, intervals missed and bests with a null part of claims")
    print("noise            gain  runs claims  false faster  false slower  missed  with null null gives  noisy")
    for kind in args.noise.split(","):
        for gain in map(float, args.gains.split(",")):
            print(told(kind, gain, args), flush=True)


if __name__ == "__main__":
    main()
