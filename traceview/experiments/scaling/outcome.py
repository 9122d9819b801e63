"""Results of a scaling study: speed-ups with intervals, and models of the time of an all-reduce.

A run of some ranks is compared with the run of the fewest ranks in the same round: with the same batch of a rank
(weak), or the same batch of all ranks together (strong), by samples per second.

Invariant: an interval that is wide, or a busy machine, is an answer of its own, and no speed-up is claimed then.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from traceview.analysis.noise import Interval
from traceview.experiments.quiet import is_quiet
from traceview.experiments.scaling.models import Point, fit
from traceview.experiments.verdict import FASTER, NOISY, SAME, SLOWER, UNDECIDED, judge, signed_rank_interval
from traceview.paths import read_toml

WEAK, STRONG = "weak", "strong"
BASE, FAILED = "base", "failed"
LEAST_ROUNDS = 3
"""With fewer there is no interval; with three it holds in 75 % of all cases, with six in 97 %."""
APART = "its runs were not made beside those of the fewest ranks, with as many cores; more --rounds run both"
TOO_WIDE = 1.5
"""An interval whose ends are further apart than this factor says nothing."""
ALL, WITHIN = "all ranks", "no more ranks than cores"
Row = dict[str, Any]


def points(runs: Sequence[Row]) -> list[Row]:
    """A row of `scaling_points` for every ranks and batch that was run."""
    runs = [{"started_unix_ns": 0, "total_ns": 0, **row} for row in runs]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in runs:
        groups.setdefault((row.get("mode"), row["ranks"], row.get("batch"), row.get("global_batch")), []).append(row)
    return [_point(group, _base(group, groups.values()), runs) for _, group in sorted(groups.items(), key=_order)]


def _order(item: tuple[tuple[Any, ...], list[Row]]) -> tuple[Any, ...]:
    mode, ranks, batch, total = item[0]
    return mode or "", (batch if mode == WEAK else total) or 0, ranks


def _same(a: Row, b: Row) -> bool:
    """Whether two runs may be compared."""
    key = "global_batch" if a.get("mode") == STRONG else "batch"
    return a.get("mode") == b.get("mode") and a.get(key) == b.get(key)


def _base(group: Sequence[Row], groups: Iterable[Sequence[Row]]) -> Sequence[Row]:
    """The runs of the fewest ranks that these are compared with; maybe themselves."""
    others = [other for other in groups if _same(group[0], other[0])]
    return min(others, key=lambda other: int(other[0]["ranks"]))


def _point(group: Sequence[Row], base: Sequence[Row], runs: Sequence[Row]) -> Row:
    first = group[0]
    timed = [row for row in group if row.get("step_ns")]
    step_ns = statistics.median(row["step_ns"] for row in timed) if timed else None
    found: Row = {
        "status": "measured",
        **{name: first.get(name) for name in ("mode", "ranks", "batch", "global_batch")},
        "base_ranks": base[0]["ranks"],
        "is_oversubscribed": _is_oversubscribed(first),
        "step_ns": int(step_ns) if step_ns else None,
        "samples_per_s": 1e9 * first["global_batch"] / step_ns if step_ns and first.get("global_batch") else None,
    }
    if not timed:
        reasons = [str(row["reason"]) for row in group if row.get("reason")]
        return found | {"runs": 0, "verdict": FAILED, "reason": reasons[-1] if reasons else "no run gave times"}
    if group is base:
        noisy = _n_noisy([(row,) for row in timed])
        return found | {"runs": len(timed), "noisy": noisy, "speedup": 1.0, "verdict": BASE}
    pairs = _pairs(base, timed)
    beside = [pair for pair in pairs if _is_beside(*pair, runs)]
    return found | ({"runs": 0, "verdict": UNDECIDED, "reason": APART} if pairs and not beside else _compared(beside))


def _is_oversubscribed(row: Row) -> bool | None:
    if row.get("device") == "cuda" or not row.get("cores"):
        return None
    return bool(row["ranks"] * (row.get("threads") or 1) > row["cores"])


def _pairs(base: Sequence[Row], timed: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Runs of one round."""
    by_round = {row["round"]: row for row in base if row.get("step_ns")}
    return [(by_round[row["round"]], row) for row in timed if row["round"] in by_round]


def _is_beside(base: Row, other: Row, runs: Iterable[Row]) -> bool:
    """Whether two runs of a round had as many cores, with no other round and no longer pause between than they took."""
    (begin, first_ns), (last, last_ns) = sorted((row["started_unix_ns"], row["total_ns"]) for row in (base, other))
    between = [row for row in runs if begin < row["started_unix_ns"] < last]
    ran_ns = first_ns + sum(row["total_ns"] for row in between) + last_ns
    is_at_once = last + last_ns - begin <= 2 * ran_ns and all(row["round"] == base["round"] for row in between)
    return bool(is_at_once and base.get("cores") == other.get("cores"))


def _n_noisy(rounds: Sequence[Sequence[Row]]) -> int:
    return sum(not all(is_quiet(row.get("others_pct")) for row in rows) for rows in rounds)


def _compared(pairs: Sequence[tuple[Row, Row]]) -> Row:
    """Speed-up, interval and verdict of pairs of runs; those on a quiet machine where they are enough."""
    if not pairs:
        return {"runs": 0, "verdict": UNDECIDED, "reason": "the fewest ranks gave no times to compare with"}
    if reason := next(filter(None, (_other_samples(*pair) for pair in pairs)), None):
        return {"runs": 0, "samples_per_s": None, "verdict": UNDECIDED, "reason": reason}
    quiet = [pair for pair in pairs if not _n_noisy([pair])]
    noisy = len(pairs) - len(quiet)
    used = quiet if len(quiet) >= LEAST_ROUNDS else list(pairs)
    # Times of one sample, so that ratios are those of samples per second.
    before = [_per_sample(base) for base, _ in used]
    after = [_per_sample(other) for _, other in used]
    judged = judge(before, after)
    logs = [math.log(a / b) for a, b in zip(before, after, strict=True)]
    interval = judged.interval
    if interval is None and len(logs) >= LEAST_ROUNDS:
        interval = signed_rank_interval(logs).ratio()
    verdict, reason = _verdict(interval, len(used), noisy if used is not quiet else 0, pairs)
    return {
        "runs": len(used),
        "noisy": noisy,
        "speedup": judged.speedup,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "confidence": interval.confidence if interval else None,
        "verdict": verdict,
        "reason": reason,
    }


def _other_samples(base: Row, other: Row) -> str | None:
    """Why two sizes did not train one model, or the same share of the samples asked for; None where they did.

    An equal share says nothing: a model may be given the batch in pieces, or have another dimension first. Where no
    batch was asked for, the command has the same one for every rank, or divides one among them; nodes of graphs, which
    are more in one batch than in the next, are no such shares.
    """
    filters, base_filters, ranks = other.get("filters"), base.get("filters"), (other["ranks"], base["ranks"])
    if filters and base_filters and filters != base_filters:
        return "the convolutions of {} ranks have other filters than those of {}: other models".format(*ranks)
    (noted, batch), (base_noted, base_batch) = ((row.get("noted_batch"), row.get("batch")) for row in (other, base))
    if not noted or not base_noted or noted * (base_batch or 1) == base_noted * (batch or 1):
        return None
    if not batch and abs(noted * other["ranks"] - base_noted * base["ranks"]) >= other["ranks"]:
        return None
    asked, base_asked = (f" where {batch} was asked for", f" for {base_batch}") if batch else ("", "")
    return (
        f"the model of a rank got a batch of {noted}{asked}, that of {base['ranks']} "
        f"rank{'s' * (base['ranks'] > 1)} {base_noted}{base_asked}: a script that divides the batch itself is "
        "given that of all ranks (--global-batch, and {global_batch} in the command)"
    )


def _per_sample(row: Row) -> float:
    """Time of one sample; where no batch is known, which is so in all runs or in none, that of all ranks' share."""
    return float(row["step_ns"]) / float(row.get("global_batch") or row["ranks"])


def _verdict(
    interval: Interval | None, n_used: int, n_noisy: int, pairs: Sequence[Sequence[Row]]
) -> tuple[str, str | None]:
    if n_noisy:
        most = max(row.get("others_pct") or 0.0 for pair in pairs for row in pair)
        return NOISY, f"other programs took up to {most:.0f} % of the cores in {n_noisy} of {len(pairs)} rounds"
    if interval is None:
        return UNDECIDED, f"{n_used} of at least {LEAST_ROUNDS} rounds"
    if interval.high > TOO_WIDE * interval.low:
        return NOISY, f"the rounds differ too much: {interval.low:.2f} to {interval.high:.2f}"
    if interval.low <= 1 <= interval.high:
        return SAME, None
    return (FASTER if interval.low > 1 else SLOWER), None


def models(times: Sequence[Row], doubt: str | None = None) -> list[Row]:
    """Rows of `scaling_models`: fits to all times that were measured, and to those that did not share cores.

    `doubt`: why none of them may be called best.
    """
    measured = [row for row in times if row.get("status") == "measured" and row.get("kind") == "all_reduce"]
    within = [row for row in measured if not _is_oversubscribed(row)]
    scopes = [(ALL, measured)] + ([(WITHIN, within)] if within and len(within) < len(measured) else [])
    return [row for scope, some in scopes for row in fitted(scope, some, doubt or _doubt(some))]


def _doubt(times: Sequence[Row]) -> str | None:
    """Why times tell of the machine and not of the way of communication; None where they do not."""
    most = max((row.get("others_pct") or 0.0 for row in times), default=0.0)
    if not is_quiet(most):
        return f"other programs took up to {most:.0f} % of the cores meanwhile"
    if any(map(_is_oversubscribed, times)):
        return "some of these ranks share cores, which takes time too"
    return None


def fitted(scope: str, times: Sequence[Row], doubt: str | None = None) -> list[Row]:
    """A row of `scaling_models` for each model; times of the same ranks and bytes are one point, their median."""
    groups: dict[tuple[int, int], list[float]] = {}
    for row in times:
        if row.get("size_bytes") and row.get("wall_ns"):
            groups.setdefault((row["ranks"], row["size_bytes"]), []).append(row["wall_ns"])
    found = [Point(ranks, size, statistics.median(some)) for (ranks, size), some in groups.items()]
    return [{"scope": scope, **vars(each)} for each in fit(found, doubt)]


@cache
def published() -> tuple[Row, ...]:
    """Rows of `scaling_points` that others published."""
    about = read_toml(Path(__file__).with_name("published_scaling.toml"))
    return tuple(
        {
            "status": "published",
            **{name: entry[name] for name in ("name", "source", "mode") if name in entry},
            "ranks": ranks,
            "base_ranks": entry["ranks"][0],
            "batch": entry.get("batch"),
            "global_batch": entry["batch"] * ranks if "batch" in entry else entry.get("global_batch"),
            "samples_per_s": float(value) if "samples_per_s" in entry else None,
            "speedup": float(value) if "speedup" in entry else float(value / entry["samples_per_s"][0]),
        }
        for entry in about["publication"]
        for ranks, value in zip(entry["ranks"], entry.get("samples_per_s") or entry["speedup"], strict=True)
    )
