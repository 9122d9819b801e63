"""From the pairs of a search to rows of `tune_options`: what each option gave, how surely, and what it did to numbers.

Invariant: a claim rests on final pairs on a quiet machine; where a change of nothing seems to help, nothing is claimed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview import store
from traceview.analysis import findings
from traceview.experiments.pairs import NO, Pair, believed, speedup, speedup_against_both, spread
from traceview.experiments.tune import options as trials
from traceview.experiments.tune.options import Facts, Option
from traceview.experiments.tune.search import (
    COMBINATION,
    ENOUGH,
    FINAL,
    FINAL_ROUNDS,
    LEAST_ROUNDS,
    MOST_FINAL_ROUNDS,
    NULL,
    SCREENING,
    Found,
    Tried,
)
from traceview.experiments.verdict import (
    FASTER,
    LEAST_PAIRS,
    NOISY,
    SAME,
    SLOWER,
    UNDECIDED,
    Judged,
    holm,
    is_noisy,
    rounds_for,
    verdict,
    visible_gain,
)
from traceview.store import learned
from traceview.store.learned import WITHIN, Place, Trial

EQUAL, CLOSE, CHANGED, UNSEEN = "equal", "close", "changed", "not seen"
CLOSE_TO = 1e-4
"""Relative difference of the loss and of norms of parameters up to which numbers are close."""
DROPPED_FROM = 1e-2
"""Limit of differences for an option known to change the order of arithmetic: above it, it is given up."""
REACHED, PARTLY, NOT_REACHED, EXCEEDED = "reached", "partly", "not reached", "exceeded"
SUM = " + "
UNFINISHED = "not all of its runs were made; traceview tune -o RUNS --resume goes on with them"
Row = dict[str, Any]


@dataclass(frozen=True)
class Bound:
    """The rule of advice that named an option, and the speed-up that it allows at most (None: it names no time)."""

    rule: str
    """Or several, joined by SUM."""
    speedup: float | None


@dataclass(frozen=True)
class Numbers:
    """Differences seen of the loss and the parameters, with the largest relative ones."""

    word: str
    loss: float | None
    parameters: float | None


def bounds(shares: Mapping[str, float | None]) -> dict[str, Bound]:
    """Return each option's bound by rules: `shares` are percentages of the step that each rule says could be saved.

    The largest counts, for most rules look at the same time from two sides; where an option says that rules are about
    different work, their sum.
    """
    made: dict[str, Bound] = {}
    for option in trials.load():
        known = {rule: shares[rule] or 0.0 for rule in option.rules if rule in shares}
        if not known:
            continue
        parts = sorted((rule for rule in option.bounds_add_up if known.get(rule)), key=lambda rule: -known[rule])
        largest = max(known, key=lambda rule: known[rule])
        total = max(known[largest], sum(known[rule] for rule in parts))
        named = SUM.join(parts) if total > known[largest] else largest
        made[option.name] = Bound(named, 1 / (1 - min(total, 99.0) / 100) if total else None)
    return made


def rules_of(found: Mapping[str, Bound]) -> set[str]:
    """The rules that bounds are of."""
    return {rule for bound in found.values() for rule in bound.rule.split(SUM)}


def rows(
    found: Found, bounds: Mapping[str, Bound], facts: Facts, others: Sequence[tuple[Option, str]] = ()
) -> list[Row]:
    """One row per option, then the best combination, the change of nothing, and the options that do not apply."""
    null = speedup(believed([*found.null.pairs.get(SCREENING, ()), *found.null.pairs.get(FINAL, ())]))
    noisy = is_noisy(null)
    same = [pair for phase in found.null.pairs.values() for pair in phase]
    judged = {each.name: _judged(each) for each in found.tried}
    chances = _chances(judged, found.best)
    parts = {option.name for option in found.options}
    made = []
    for each in found.tried:
        row = _row(each, judged[each.name], chances[each.name], noisy, same)
        row |= _of_option(each.options[0], bounds.get(each.name), row["speedup"], facts)
        made.append({**row, **_adds(each, found, judged), "kind": "option", "in_best": each.name in parts})
    if found.best and found.best.dropped and (proved := [row for row in made if row["verdict"] == FASTER]):
        max(proved, key=lambda row: row["speedup"])["in_best"] = True
    if found.best and len(found.best.options) > 1:
        total = _judged(found.best)
        best = _row(found.best, total, total.p, noisy, same)
        made.append({**best, "kind": "combination", "title": "all of the best together", "in_best": bool(parts)})
    made.append(_null_row(found, null, noisy))
    made += [
        {"name": option.name, "kind": "option", "title": option.title, "verdict": "not applicable", "reason": reason}
        for option, reason in others
    ]
    return [{"place": place, **row} for place, row in enumerate(made, 1)]


def _adds(each: Tried, found: Found, judged: Mapping[str, Judged]) -> Row:
    """Return what a part gives to the best: of several by leaving it out, of a single one by its final pairs."""
    alone = found.best is not None and found.best.name == each.name
    adds = judged[each.name] if alone else found.adds.get(each.name)
    if adds is None or not found.options:
        return {"left_out": each.left_out}
    low, high = (adds.interval.low, adds.interval.high) if adds.interval else (None, None)
    return {"adds": adds.speedup, "adds_low": low, "adds_high": high}


def unfinished(
    options: Sequence[Option], bounds: Mapping[str, Bound], facts: Facts, others: Sequence[tuple[Option, str]]
) -> list[Row]:
    """Return rows for a search that has not come to its end: nothing is decided yet."""
    none_yet = Found([Tried(option.name, (option,)) for option in options], Tried(NULL, ()), None, {}, False)
    return [
        row if row["verdict"] != UNDECIDED else {**row, "reason": UNFINISHED, "numbers": None}
        for row in rows(none_yet, bounds, facts, others)
    ]


def _chances(judged: Mapping[str, Judged], best: Tried | None) -> dict[str, float | None]:
    """Each option's chance as it counts: the best is tested first, then the others among themselves (Holm)."""
    first = _judged(best).p if best else None
    names = [name for name in judged if best is None or name != best.name]
    others = holm([judged[name].p for name in names])
    found = {name: None if p is None else max(p, first or 0.0) for name, p in zip(names, others, strict=True)}
    return {name: found.get(name, judged[name].p) for name in judged}


def _judged(each: Tried) -> Judged:
    """Judge by the final pairs; without such by those of screening, which decides nothing."""
    if each.repeated:
        return speedup_against_both(each.pairs[FINAL], each.repeated)
    if each.pairs.get(FINAL):
        return speedup(believed(each.pairs[FINAL]))
    pairs = believed(each.pairs.get(SCREENING, each.pairs.get(COMBINATION, ())))
    return Judged(speedup(pairs).speedup, None, None, len(pairs))


def _row(each: Tried, judged: Judged, chance: float | None, noisy: bool, null: Sequence[Pair] = ()) -> Row:
    last = next((phase for phase in (FINAL, COMBINATION, SCREENING) if each.pairs.get(phase)), None)
    pairs = each.pairs.get(last or "", [])
    numbers = compare_numbers([pair for phase in each.pairs.values() for pair in phase], null)
    word, reason = verdict(judged, chance), each.dropped
    if each.has_failed:
        word = "failed"
    elif each.dropped:
        word = "dropped" if each.pairs else "not tried"
    elif noisy and word != UNDECIDED:
        word, reason = NOISY, "runs without any change differed as much"
    elif word == UNDECIDED:
        reason = _undecided([*zip(pairs, each.repeated or pairs, strict=True)], judged)
    if each.has_failed or (each.dropped and not each.is_slower):
        # Of what had no effect, failed or changed the numbers no time is a gain.
        judged = Judged(None, None, None, judged.n_pairs)
    return {
        "name": each.name,
        "speedup": judged.speedup,
        "low": judged.interval.low if judged.interval else None,
        "high": judged.interval.high if judged.interval else None,
        "confidence": judged.interval.confidence if judged.interval else None,
        "p": chance,
        "pairs": judged.n_pairs,
        "cpu_speedup": speedup(pairs, "step_cpu_ns").speedup if judged.speedup or not each.dropped else None,
        "phase": last,
        "verdict": word,
        "reason": reason,
        "numbers": numbers.word,
        "loss_difference": numbers.loss,
        "parameters_difference": numbers.parameters,
        "applied": _applied(each, pairs),
    }


def _undecided(rounds: Sequence[tuple[Pair, Pair]], judged: Judged) -> str:
    """Why there is no verdict; a round counts only if it gave times, on a quiet machine, against both of its bases."""
    timed = [each for each in rounds if all(pair.has_times for pair in each)]
    without, busy = len(rounds) - len(timed), sum(not all(pair.is_quiet for pair in each) for each in timed)
    failed = [row["reason"] for each in rounds for pair in each for row in (pair.base, pair.other) if row.get("reason")]
    if failed and without > len(rounds) / 2:
        return f"{without} of {len(rounds)} pairs gave no times: {failed[-1]}"
    if busy and judged.n_pairs + busy >= LEAST_PAIRS:
        lost = f"in {busy} of {len(rounds)} pairs" + (f", and {without} gave no times" if without else "")
        return f"the machine was too busy to tell: other programs took its cores {lost}"
    quiet = " on a quiet machine" if busy else ""
    return f"{judged.n_pairs} pairs{quiet} are too few; a larger --budget makes more"


def _applied(each: Tried, pairs: Sequence[Pair]) -> str | None:
    """Return the last run's report of the effect of its options."""
    told = next((pair.other["applied"] for pair in reversed(pairs) if pair.other.get("applied")), None)
    if told is None:
        return None
    seen = json.loads(told)
    names = [option.name for option in each.options]
    return "; ".join(str(seen[name]) for name in names if name in seen) or None


def _of_option(option: Option, bound: Bound | None, measured: float | None, facts: Facts) -> Row:
    return {
        "title": option.title,
        "rule": bound.rule if bound else None,
        "bound": bound.speedup if bound else None,
        "bound_judged": judge_bound(bound.speedup, measured) if bound else None,
        "numbers_expected": option.numbers,
        "cost": option.cost,
        "unless": option.unless,
        "how": trials.lines(option, facts),
    }


def judge_bound(bound: float | None, measured: float | None) -> str | None:
    """Whether a measured speed-up reached what advice said could be saved at most."""
    if not bound or not measured or bound <= 1:
        return None
    share = saved_share(bound, measured)
    if share > 1.1:
        return EXCEEDED
    return REACHED if share >= 1 / WITHIN else PARTLY if share > 0.1 else NOT_REACHED


def saved_share(bound: float, measured: float) -> float:
    """The share of the time that advice said could be saved which was saved; below 0 where it became slower."""
    return (1 - 1 / measured) / (1 - 1 / bound)


@dataclass(frozen=True)
class Power:
    """Size of gains that a search could have found, from how its runs of the base differ."""

    spread: float
    rounds: int
    """Final rounds that were made; where none were, those that would have been."""

    @property
    def gain(self) -> float:
        """Gain that would have been seen in four of five searches."""
        return visible_gain(self.spread, self.rounds)

    def sentence(self) -> str:
        """Say it, and what to do for more."""
        seen = f"gains above {100 * self.gain:.2g} % would have been seen (in 4 of 5 searches)"
        apart = f"equal runs differ by {100 * self.spread:.2g} %"
        if self.gain <= ENOUGH:
            return f"{apart}: {seen}"
        needed = rounds_for(ENOUGH, self.spread)
        more = (
            f"a larger --budget would show {100 * ENOUGH:.0f} %: {needed} final rounds instead of {self.rounds}"
            if self.rounds < needed <= MOST_FINAL_ROUNDS
            else "for less a quieter machine or longer runs (--limit-steps)"
        )
        return f"{apart}: {seen}; {more}"


def visible(found: Found) -> Power | None:
    """Return what a search could have found; None where some options had no turn or its best could not be claimed."""
    pairs = believed([pair for phase in found.null.pairs.values() for pair in phase])
    n = _judged(found.best).n_pairs if found.best else 0 if found.ran_out else FINAL_ROUNDS
    is_whole = all(each.pairs for each in found.tried) and not (found.best and found.best.dropped)
    apart = spread(pairs)
    return Power(apart, n) if apart is not None and len(pairs) > 1 and n >= LEAST_PAIRS and is_whole else None


def _null_row(found: Found, judged: Judged, noisy: bool) -> Row:
    row = _row(found.null, judged, judged.p, False)
    word = NOISY if noisy else SAME if row["verdict"] in (FASTER, SLOWER) else row["verdict"]
    if word in (SAME, UNDECIDED) and (power := visible(found)):
        row |= {"visible": power.gain, "reason": power.sentence()}
    return {**row, "name": NULL, "kind": "null", "title": "nothing is changed: the check of the measurement itself",
            "verdict": word, "pairs": judged.n_pairs, "in_best": False}  # fmt: skip


def compare_numbers(pairs: Sequence[Pair], null: Sequence[Pair] = ()) -> Numbers:
    """Compare loss and parameters of the runs with an option and without, after equal steps from equal seeds.

    Where they differ as much between runs of the base (`null`), nothing can be seen.
    """
    if null and compare_numbers(null).word == CHANGED:
        return Numbers(UNSEEN, None, None)
    known = [pair for pair in pairs if pair.has_times and pair.base.get("steps") == pair.other.get("steps")]
    known = [pair for pair in known if pair.base.get("loss") is not None or pair.base.get("checksum")]
    if not known or any(_is_lost(pair.base) for pair in known):
        return Numbers(UNSEEN, None, None)
    losses = [_apart(pair.base.get("loss"), pair.other.get("loss")) for pair in known]
    norms = [_norms_apart(pair.base.get("parameter_norms"), pair.other.get("parameter_norms")) for pair in known]
    loss = max((each for each in losses if each is not None), default=None)
    parameters = max((each for each in norms if each is not None), default=None)
    is_equal = all(
        pair.base.get("checksum") == pair.other.get("checksum") and pair.base.get("loss") == pair.other.get("loss")
        for pair in known
    )
    if is_equal:
        return Numbers(EQUAL, loss, parameters)
    if math.inf in (loss, parameters):  # Beside that no finite difference is worth a word.
        return Numbers(CHANGED, math.inf, math.inf)
    if loss is None and parameters is None:
        return Numbers(CHANGED, None, None)
    if max(loss or 0.0, parameters or 0.0) > CLOSE_TO:
        return Numbers(CHANGED, loss, parameters)
    if any(pair.base.get("checksum") and not pair.other.get("checksum") for pair in known):
        return Numbers(UNSEEN, None, None)
    return Numbers(CLOSE, loss, parameters)


def _is_lost(row: Row) -> bool:
    """Whether training itself gives NaN, which cannot be compared."""
    return not all(map(math.isfinite, json.loads(row.get("parameter_norms") or "[]")))


def _apart(a: float | None, b: float | None) -> float | None:
    """The relative difference of two numbers; None without the first, infinite where the second became none."""
    if a is None:
        return None
    if b is None or not math.isfinite(a) or not math.isfinite(b):
        return math.inf
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0


def _norms_apart(a: str | None, b: str | None) -> float | None:
    if not a or not b:
        return None
    first, second = json.loads(a), json.loads(b)
    if len(first) != len(second):
        return float("inf")
    return max((_apart(x, y) or 0.0 for x, y in zip(first, second, strict=True)), default=None)


def forbidden(
    asked: set[str], only_equal: bool = False
) -> Callable[[Option, Sequence[Pair], Sequence[Pair]], str | None]:
    """Return a test whether an option's numbers forbid it: they changed though they should not, and nobody asked.

    Close ones do where the option's should be equal, as those of runs of the base are: after few steps, or small ones,
    even parameters that nothing trains are close. `only_equal`: of any option, and so do those that are not seen.
    """

    def judge(option: Option, pairs: Sequence[Pair], null: Sequence[Pair]) -> str | None:
        numbers = compare_numbers(pairs, null)
        if only_equal and numbers.word != EQUAL:
            return f"its numbers are {numbers.word}, but must be equal"
        if option.name in asked or option.numbers == CHANGED:
            return None
        if numbers.word == CLOSE and option.numbers == EQUAL and compare_numbers(null).word == EQUAL:
            return f"its numbers are close, but must be equal; --try {option.name} takes it all the same"
        if numbers.word != CHANGED:
            return None
        apart = max(numbers.loss or 0, numbers.parameters or 0)
        if option.numbers == CLOSE and 0 < apart <= DROPPED_FROM:
            return None
        if math.isinf(apart):
            return f"its numbers became none (NaN); --try {option.name} takes it all the same"
        percent = 100 * apart
        return f"it changed the numbers (by {percent:.2g} %); --try {option.name} takes it all the same"

    return judge


CLEARLY_SLOWER = "clearly slower"


def learn(rows: Sequence[Mapping[str, Any]], base: Path) -> None:
    """Remember how far bounds were reached; `base` is the capture of the baseline."""
    with store.open_capture(base) as connection:
        place = findings.ran_on(connection)
    learned.remember(trials_of(rows, place))


def trials_of(rows: Sequence[Mapping[str, Any]], place: Place) -> list[Trial]:
    """One trial for each rule, from rows of `tune_options`."""
    if any(row["name"] == NULL and row.get("verdict") == NOISY for row in rows):
        return []
    best: dict[str, Trial] = {}
    for row in rows:
        if not _says_something(row):
            continue
        proved, faster = row.get("phase") == FINAL, row.get("verdict") == FASTER
        trial = Trial(str(row["rule"]), float(row["bound"]), float(row["speedup"]), place, proved, faster)
        if trial.rule not in best or _worth(trial) > _worth(best[trial.rule]):
            best[trial.rule] = trial
    return list(best.values())


def _worth(trial: Trial) -> tuple[bool, bool, float]:
    """Rank final pairs before screening, of which the best is partly luck, and what was shown before what seems so."""
    return trial.is_proved, trial.is_faster, trial.measured


def _says_something(row: Mapping[str, Any]) -> bool:
    if not row.get("rule") or not row.get("speedup") or (row.get("bound") or 0) <= 1 or SUM in str(row["rule"]):
        return False
    if str(row.get("applied") or "").startswith(NO):
        return False
    if row.get("verdict") in (FASTER, SLOWER, SAME):
        return True
    slow = row.get("verdict") == "dropped" and str(row.get("reason")).startswith(CLEARLY_SLOWER)
    return slow or (row.get("verdict") == UNDECIDED and (row.get("pairs") or 0) >= LEAST_ROUNDS)
