"""Which options, and which of them together, make a command faster: screening, combination, ablation, final pairs.

Every option is tried in a few pairs, what is clearly slower or fails is dropped, and the best others are added one by
one. Of many options the most promising are so partly by luck: each part is left out of the combination in fresh pairs,
and parts without which it is no slower go. What is left is compared with the base in fresh pairs, and beside it a
change of nothing.

Invariant: a claim rests on pairs that chose nothing; of several parts of a best each was shown to add to the others.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from traceview.experiments.pairs import (
    AGAIN,
    BASE,
    PROCESSOR,
    WALL,
    WITH,
    Pair,
    Row,
    Runner,
    Side,
    believed,
    speedup,
    spread,
)
from traceview.experiments.quiet import is_quiet
from traceview.experiments.tune.options import Option, conflict
from traceview.experiments.verdict import FASTER, LEAST_PAIRS, Judged, holm, pairs_needed, verdict, visible_gain

SCREENING, COMBINATION, ABLATION, FINAL = "screening", "combination", "ablation", "final"
NULL = "nothing"
"""The name of the option that changes nothing."""
MOST_ROUNDS, LEAST_ROUNDS, ADDING_ROUNDS = 3, 2, 2
FINAL_ROUNDS = 12
"""Final rounds, where the budget has room; `LEAST_PAIRS` are kept free for them."""
MOST_FINAL_ROUNDS, ENOUGH = 24, 0.05
"""Maximum number of final rounds where fewer do not show gains of ENOUGH."""
USUAL_PARTS = 3
"""Parts of a combination for whose ablation a third round of screening leaves room."""
MORE_ROUNDS = 1
"""Rounds of ablation beyond the fewest in which a part can be shown to add something: one may say otherwise."""
MOST_BROKEN = 2
"""So many final rounds without a time of the base are the last."""
CLEARLY = 0.97
"""Times as fast, in the middle of all pairs and below 1 in each: clearly slower."""
WORTH = 1.01
"""Times as fast in screening, from which on an option is tried in combination and in final pairs."""
WORTH_ADDING = 1.005
SHARE_WORK_OUT = ("threads", "waiting", "binding", "data")
"""Groups of options that give the work to other threads or processes: processor time does not tell their gain."""


@dataclass
class Tried:
    """An option, or a combination, with all of its pairs by phase."""

    name: str
    options: tuple[Option, ...]
    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    repeated: list[Pair] = field(default_factory=list)
    """The final runs again, against the second run of the base in each round."""
    dropped: str | None = None
    """Why it was given up."""
    has_failed: bool = False
    is_slower: bool = False
    """Whether it was given up because it is clearly slower by itself."""
    left_out: str | None = None
    """Why it is not part of the best though it was promising."""

    def ratio(self, phase: str) -> float | None:
        """The median speed-up of a phase, also on a busy machine: it chooses and claims nothing."""
        ratios = [self.choice(pair)[0] for pair in self.pairs.get(phase, ()) if pair.has_times]
        return math.exp(statistics.median(map(math.log, ratios))) if ratios else None

    def choice(self, pair: Pair) -> tuple[float, str]:
        """The ratio by which a search chooses, and its clock: on a busy machine processor time says more, if it can."""
        if pair.is_quiet or not pair.cpu_ratio or any(option.group in SHARE_WORK_OUT for option in self.options):
            return pair.ratio, WALL
        return pair.cpu_ratio, PROCESSOR


@dataclass
class Found:
    """Result of a search."""

    tried: list[Tried]
    null: Tried
    best: Tried | None
    """The combination, or the only option, that was compared in final pairs; None where nothing was worth it."""
    adds: dict[str, Judged]
    """Step time of the best without a part over that with it, where it has several."""
    ran_out: bool
    """Whether the budget ended the search before all of it was done."""

    @property
    def options(self) -> tuple[Option, ...]:
        """The options of the best; none where it was given up after all."""
        return self.best.options if self.best and not self.best.dropped else ()


@dataclass
class Search:
    """A search under way. `judge_numbers` says why an option's numbers forbid it; None where they do not."""

    runner: Runner
    budget_ns: int
    judge_numbers: Callable[[Option, Sequence[Pair], Sequence[Pair]], str | None]
    say: Callable[[str], None]
    first_run_ns: int = 0
    """Estimated time of a run, as long as none was made."""
    promised: Mapping[str, float] = field(default_factory=dict)
    """Speed-ups that advice names, by option."""
    ran_out: bool = False
    null: Tried = field(default_factory=lambda: Tried(NULL, ()))

    def run(self, options: Sequence[Option]) -> Found:
        """Try these options, the most promising first."""
        tried = [Tried(option.name, (option,)) for option in options]
        if [option.name for option in options] == [NULL]:
            best: Tried | None = tried[0]
            adds: dict[str, Judged] = {}
        else:
            self._screen(tried)
            best, adds = self._ablate(self._combine(tried), tried)
        self._confirm(best, tried)
        for each in filter(None, (*tried, best)):
            self._drop(each, FINAL)
        return Found(tried, self.null, best, adds, self.ran_out)

    def _screen(self, tried: Sequence[Tried]) -> None:
        """Rounds of every option left and of the base twice; each is compared with the base that ran nearest."""
        for number in range(1, MOST_ROUNDS + 1):
            left = [each for each in tried if not each.dropped]
            # The first option is tried however small the budget is.
            while len(left) > (number == 1) and not self._has_room(2 + len(left), _reserve(number, len(left))):
                last = left.pop()
                if number == 1:
                    last.dropped = "the budget was spent before its turn"
            if not left or (number > LEAST_ROUNDS and len(left) < 2):
                return
            n_left = f"{len(left)} option{'s' if len(left) > 1 else ''}"
            self.say(f"{SCREENING} round {number}: {n_left} and the baseline twice, in random order")
            sides = [Side(BASE, NULL, ()), *map(_with, left), Side(AGAIN, NULL, ())]
            first, *rows, again = self.runner.round(SCREENING, number, sides)
            self._add(SCREENING, self.null, Pair(first, again))
            self._warn(number, [first, *rows, again])
            for each, row in zip(left, rows, strict=True):
                self._add(SCREENING, each, Pair(min(first, again, key=lambda it: abs(it["place"] - row["place"])), row))
                self._drop(each)

    def _warn(self, number: int, rows: Sequence[Row]) -> None:
        """Say at once where other programs leave nothing to claim, and where numbers cannot be compared."""
        norms = str(rows[0].get("parameter_norms"))
        if number == 1 and ("NaN" in norms or "Infinity" in norms):
            self.say(
                "without any option the parameters become NaN or infinite in these steps: whether an option changes "
                "the numbers cannot be seen"
            )
        shares = [row["others_pct"] for row in rows if row.get("others_pct") is not None]
        if number == 1 and shares and not is_quiet(statistics.median(shares)):
            self.say(
                f"other programs take {statistics.median(shares):.0f} % of the cores; while they do, nothing can be "
                "claimed, nothing is given up as slower, and processor time chooses what goes on (wall time where "
                "options are about threads or data)"
            )

    def _drop(self, each: Tried, phase: str = SCREENING) -> bool:
        """Give up what fails, is clearly slower on a quiet machine, or changes numbers that it should not change.

        After screening what counts as failed is a run beside which those without it gave times. What one option of
        several may change, they may change together.
        """
        pairs, null = each.pairs.get(phase, []), [pair for of_phase in self.null.pairs.values() for pair in of_phase]
        if phase != SCREENING:
            both = zip(pairs, each.repeated or pairs, strict=True)
            pairs = [pair for pair, again in both if pair.base.get("step_ns") and again.base.get("step_ns")]
        failed = [pair.other["reason"] for pair in pairs if not pair.other.get("step_ns")]
        forbid = [self.judge_numbers(option, pairs, null) for option in each.options if pairs]
        if failed:
            share = "" if phase == SCREENING else f"{len(failed)} of {len(pairs)} runs with it failed: "
            each.dropped, each.has_failed = f"{share}{failed[0]}", True
        elif pairs and (text := pairs[-1].without_effect(each.name)):
            each.dropped = f"it had no effect: {text}"
        elif forbid and all(forbid):
            each.dropped = forbid[0]
        elif phase == SCREENING and len(quiet := believed(pairs)) >= LEAST_ROUNDS:
            ratios = [pair.ratio for pair in quiet]
            if max(ratios) < 1 and statistics.median(ratios) < CLEARLY:
                each.is_slower = True
                each.dropped = f"clearly slower: {statistics.median(ratios):.2f} times as fast in {len(ratios)} pairs"
        return bool(each.dropped)

    def _combine(self, tried: Sequence[Tried]) -> list[Option]:
        """Add option after option to the best one, the best first; keep what still gives something.

        What gave nothing by itself though advice names it is tried once more, on top of all others: a layout helps only
        where the library that likes it is on.
        """
        ranked = [each for each in tried if not each.dropped and (each.ratio(SCREENING) or 0) >= WORTH]
        ranked.sort(key=lambda each: -(each.ratio(SCREENING) or 0))
        if not ranked:
            return []
        again = [each for each in tried if each not in ranked and (each.is_slower or not each.dropped)]
        again = [each for each in again if self.promised.get(each.name, 1) >= WORTH]
        again.sort(key=lambda each: -self.promised[each.name])
        best = [*ranked[0].options]
        for each in [*ranked[1:], *again]:
            options = [*best, *each.options]
            if not each.options or conflict(options):
                continue
            if not self._has_room(2 * ADDING_ROUNDS, _ablation_runs(len(options)) + 3 * LEAST_PAIRS):
                each.left_out = "the budget has no room to show what it adds"
                continue
            joined = _joined(options)
            for number in range(1, ADDING_ROUNDS + 1):
                self._pair(COMBINATION, number, joined, best)
            ratio = joined.ratio(COMBINATION)
            if self._drop(joined, COMBINATION):
                each.left_out = f"on top of {_joined(best).name}: {joined.dropped}"
            elif ratio and ratio >= (WORTH_ADDING if each in ranked else WORTH):
                best = options
                each.dropped, each.is_slower = None, False
        return best

    def _ablate(self, parts: Sequence[Option], tried: Sequence[Tried]) -> tuple[Tried | None, dict[str, Judged]]:
        """Leave each part out in fresh rounds; the parts that were shown to add something stay, with what they add."""
        known = {each.name: each for each in tried}

        def evidence(part: Option, judged: Judged) -> float:
            return (known[part.name].ratio(SCREENING) or 1) * (judged.speedup or 1)

        if len(parts) < 2:
            return (known[parts[0].name] if parts else None), {}
        n = ablation_rounds(len(parts))
        whole = _joined(parts)
        self.say(f"{ABLATION}: {whole.name}, and without each of its {len(parts)} parts, in {n} rounds")
        sides = [_side(WITH, whole.name, parts)]
        for part in parts:
            rest = [option for option in parts if option is not part]
            sides.append(_side(BASE, f"{whole.name} without {part.name}", rest))
        pairs: list[list[Pair]] = [[] for _ in parts]
        for number in range(1, n + 1):
            row, *others = self.runner.round(ABLATION, number, sides)
            for of_part, other in zip(pairs, others, strict=True):
                of_part.append(Pair(other, row))
        whole.pairs[ABLATION] = pairs[0]
        if self._drop(whole, ABLATION):
            return whole, {}
        judged = [speedup(believed(of_part)) for of_part in pairs]
        chances = holm([each.p for each in judged])
        adds: dict[str, Judged] = {}
        for part, each, chance in zip(parts, judged, chances, strict=True):
            known[part.name].left_out = _added_nothing(each)
            if verdict(each, chance) == FASTER:
                adds[part.name] = each
        stay = [part for part in parts if part.name in adds]
        weak = [part for part in parts if part.name not in adds]
        if not stay:
            # Two that do the same hide each other: without one of them the other still does it.
            stay = [parts[max(range(len(parts)), key=lambda at: evidence(parts[at], judged[at]))]]
        elif len(weak) > 1 and (hidden := self._hidden(stay, weak, whole)):
            part, adds[part.name] = hidden
            stay = [*stay, part]
        for part in stay:
            known[part.name].left_out = None
            told = adds.get(part.name)
            if told and told.interval and told.speedup:
                low, high = told.interval.low, told.interval.high
                self.say(f"{ABLATION}: {part.name} adds {told.speedup:.2f} ({low:.2f} to {high:.2f})")
        best = _joined(stay) if len(stay) > 1 else known[stay[0].name]
        return best, adds if len(stay) > 1 else {}

    def _hidden(self, stay: list[Option], weak: list[Option], whole: Tried) -> tuple[Option, Judged] | None:
        """The one part of several that gives what they give together, where each of them alone can be left out."""
        n = ablation_rounds(1)
        if not self._has_room(2 * n * 2, 3 * LEAST_PAIRS) or not self._shows(stay, whole.options, n):
            return None
        for part in weak:
            if not self._has_room(2 * n, 3 * LEAST_PAIRS):
                return None
            if judged := self._shows(stay, [*stay, part], n):
                return part, judged
        return None

    def _shows(self, base: Sequence[Option], more: Sequence[Option], n: int) -> Judged | None:
        """Return the speed-up of more options over some of them where fresh pairs show one."""
        joined, rows = _joined(more), []
        name = f"{joined.name} over {_joined(base).name}"
        for number in range(1, n + 1):
            rows.append(self.runner.round(ABLATION, number, [_side(BASE, name, base), _side(WITH, name, more)]))
        judged = speedup(believed([Pair(*each) for each in rows]))
        return judged if verdict(judged, judged.p) == FASTER else None

    def _confirm(self, best: Tried | None, tried: Sequence[Tried]) -> None:
        """Fresh rounds of the base, the best and the base again; with what is left, pairs of other options."""
        if best is None:
            return
        for number in range(1, (0 if best.dropped else MOST_FINAL_ROUNDS) + 1):
            # Only how equal runs differ decides about more rounds: peeping at the result would make claims of chance.
            apart = spread(self.null.pairs.get(FINAL, ())) or 0.0
            is_enough = number > FINAL_ROUNDS and visible_gain(apart, number - 1) <= ENOUGH
            if is_enough or not self._has_room(3):
                break
            sides = [Side(BASE, best.name, ()), _with(best), Side(AGAIN, best.name, ())]
            base, row, again = self.runner.round(FINAL, number, sides)
            self._add(FINAL, best, Pair(base, row))
            self._add(FINAL, self.null, Pair(base, again))
            best.repeated.append(Pair(again, row))
            if self._has_broken():
                return
        others = [
            each for each in tried if each is not best and not each.dropped and (each.ratio(SCREENING) or 0) >= WORTH
        ]
        others.sort(key=lambda each: -(each.ratio(SCREENING) or 0))
        while others and not self._has_room(2 * len(others) * pairs_needed(len(others))):
            others.pop()
        for number in range(1, (pairs_needed(len(others)) if others else 0) + 1):
            for each in others:
                self._pair(FINAL, number, each, ())

    def _has_broken(self) -> bool:
        """Whether the last rounds' runs of the base all gave no times: a disk became full, data went away."""
        last = self.null.pairs[FINAL][-MOST_BROKEN:]
        if len(last) < MOST_BROKEN or any(row.get("step_ns") for pair in last for row in (pair.base, pair.other)):
            return False
        self.say(f"the command gives no times any more, without any option either: {_reason(last[-1])}; this ends here")
        return True

    def _pair(self, phase: str, number: int, each: Tried, base: Sequence[Option]) -> None:
        names = tuple(option.name for option in base)
        rows = self.runner.round(phase, number, [Side(BASE, each.name, names), _with(each)])
        self._add(phase, each, Pair(*rows))

    def _add(self, phase: str, each: Tried, pair: Pair) -> None:
        each.pairs.setdefault(phase, []).append(pair)
        told = f"no times: {_reason(pair)}"
        if pair.has_times:
            ratio, clock = each.choice(pair)
            busy = "" if pair.is_quiet else f" in {clock} time (the machine was busy)"
            told = f"{ratio:.2f} times as fast{busy}"
        self.say(f"{phase} {len(each.pairs[phase])}: {each.name}: {told}")

    def _has_room(self, runs: int, reserve: int = 0) -> bool:
        """Whether `runs` more fit the budget, with the `reserve` that is to be kept free behind them."""
        done = self.runner.n_runs
        each = self.runner.spent_ns / done if done else self.first_run_ns
        fits = self.runner.spent_ns + (runs + reserve) * each <= self.budget_ns
        self.ran_out = self.ran_out or not fits
        return fits


def ablation_rounds(parts: int) -> int:
    """Rounds in which what each of `parts` adds can be shown."""
    return pairs_needed(parts) + MORE_ROUNDS


def _ablation_runs(parts: int) -> int:
    return ablation_rounds(parts) * (parts + 1) if parts > 1 else 0


def _reserve(number: int, n_left: int) -> int:
    """Runs that a round of screening leaves for what comes after it: the first one none, a third one the most."""
    if number == 1:
        return 0
    adding = 2 * ADDING_ROUNDS * (1 if number == LEAST_ROUNDS else n_left)
    return 3 * LEAST_PAIRS + adding + _ablation_runs(min(n_left, USUAL_PARTS) if number > LEAST_ROUNDS else 0)


def _joined(options: Sequence[Option]) -> Tried:
    return Tried("+".join(option.name for option in options), tuple(options))


def _side(side: str, name: str, options: Sequence[Option]) -> Side:
    return Side(side, name, tuple(option.name for option in options))


def _with(each: Tried) -> Side:
    return _side(WITH, each.name, each.options)


def _added_nothing(judged: Judged) -> str:
    if judged.interval is None:
        return "what it adds to the best cannot be told on a machine this busy"
    told = f"{judged.speedup:.2f}, {judged.interval.low:.2f} to {judged.interval.high:.2f}"
    return f"it was not shown to add anything to the best (times as fast as without it: {told})"


def _reason(pair: Pair) -> str:
    return str(pair.other.get("reason") or pair.base.get("reason") or "none seen")
