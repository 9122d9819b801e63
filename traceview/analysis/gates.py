"""Checks of a comparison against limits, for CI: the step, and its categories, layers and kernels.

Invariant: no check fails within the noise. A part fails where recordings show at 95 %, over all parts of its kind
together (Bonferroni), that it takes longer; where they are too few to show anything, the answer is that it cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from traceview.analysis import noise
from traceview.analysis.compare import Run
from traceview.analysis.model import Check, Report

STEP = "step"
FACTS = {
    "category": ("cell", "category", "busy_ns"),
    "layer": ("layer", "layer", "total_ns"),
    "kernel": ("name", "name", "busy_ns"),
}
"""Table, name and time of each kind of part; kernels are also copies, primitives and operators."""
LEAST_SHARE = 0.01
"""Share of A's step; a smaller part is not checked."""
ALPHA = 0.05
"""Chance of a false failure over all parts of one kind, where nothing has changed."""
ROUNDING = 1 + 1e-9
"""Rounding of a ratio that was computed back from its logarithm; a limit is passed beyond it."""
FEW = "(few steps)"
"""Part of a verdict that rests on so few steps that noise explains nearly anything."""
BUSY = "the machine was busy"
"""Part of a verdict on recordings of which most of one side have times that tell of other programs too."""


def checks(report: Report, runs: Sequence[Run], limits: Mapping[str, float]) -> list[Check]:
    """Hold every run against the limits, in percent of A's time by kind of part.

    `report` is the whole comparison of `runs`, of which the first is A.
    """
    found = []
    for row in _rows(report, "ranking")[1:]:
        number = ord(row["run"]) - ord("A")
        run = runs[number]
        for kind, limit in limits.items():
            if row["place"] is None:
                found.append(
                    Check(row["run"], run.name, kind, "", limit, None, None, None, "cannot tell", row["verdict"])
                )
            elif kind == STEP:
                found.append(_step(row, run, limit))
            else:
                found += parts(report, row["run"], runs[0], run, kind, limit)
    return found


def _step(row: Mapping[str, Any], run: Run, limit: float) -> Check:
    verdict = str(row["verdict"])
    ratio = row["ratio"]
    if ratio is None:
        outcome = "cannot tell"
    elif ratio <= (1 + limit / 100) * ROUNDING:
        outcome = "passed"
    elif verdict.startswith("larger than the noise") and FEW not in verdict and BUSY not in verdict:
        outcome = "failed"
    else:
        outcome = "cannot tell"
    return Check(row["run"], run.name, STEP, "", limit, ratio, row["low"], row["high"], outcome, verdict)


def parts(report: Report, label: str, base: Run, run: Run, kind: str, limit: float) -> list[Check]:
    """Check every part of one kind that is large enough in A and in both; of others those that grew cannot be told."""
    sides = [[recording.times(FACTS[kind]) for recording in side.recordings] for side in (base, run)]
    least = LEAST_SHARE * (base.value("step_ns") or 0)
    parts, found = [], []
    for name, other, is_certain in _pairs(report, label, kind, sides):
        values = [[times.get(key, 0.0) for times in side] for side, key in zip(sides, (name, other), strict=True)]
        mean, new = map(fmean, values)
        if min(values[0]) > least and min(values[1]) > 0:
            parts.append((name, is_certain, values))
        elif 0 < least < new - mean:
            of_a, of_run = (f"{100 * LEAST_SHARE * time / least:.1f} %" for time in (mean, new))
            reason = f"in A it takes {of_a} of A's step, in {label} {of_run}: below 1 % in A, or not in every recording"
            if not mean:
                reason = f"it has no counterpart in A, and takes {of_run} of A's step"
            found.append(Check(label, run.name, kind, name or other, limit, None, None, None, "cannot tell", reason))
    if not parts and not found:
        reason = f"no {kind} of A that takes 1 % of its step or more is in the other run"
        return [Check(label, run.name, kind, "", limit, None, None, None, "cannot tell", reason)]
    is_busy = any(BUSY in str(row["verdict"]) for row in _rows(report, "ranking") if row["run"] == label)
    level = 1 - 2 * ALPHA / max(len(parts), 1)
    for name, is_certain, values in parts:
        before, after = ([math.log(value) for value in side] for side in values)
        difference = noise.between(before, after, level=level)
        ratio = difference.ratio()
        is_sure = difference.confidence >= level
        if ratio.value <= (1 + limit / 100) * ROUNDING:
            outcome, reason = "passed", "within the limit"
        elif not is_certain:
            outcome, reason = "cannot tell", "above the limit, but it may be another layer of the same kind"
        elif not is_sure:
            outcome, reason = "cannot tell", _too_few(len(parts), kind)
        elif ratio.low > 1 and is_busy:
            outcome, reason = "cannot tell", f"above the limit, but {BUSY}"
        elif ratio.low > 1:
            outcome, reason = "failed", "larger than the noise"
        else:
            outcome, reason = "cannot tell", "above the limit, but within the noise"
        low, high = (ratio.low, ratio.high) if is_sure else (None, None)
        found.append(Check(label, run.name, kind, name, limit, ratio.value, low, high, outcome, reason))
    return found


def _too_few(n_parts: int, kind: str) -> str:
    """Say how many recordings of each side could show a difference of one among `n_parts` parts."""
    enough = next(n for n in range(1, 99) if math.comb(2 * n, n) * ALPHA >= n_parts)
    parts = {"category": "categories"}.get(kind, f"{kind}s") if n_parts > 1 else kind
    return f"above the limit; {enough} recordings of each side could tell that from noise for {n_parts} {parts}"


def _pairs(
    report: Report, label: str, kind: str, sides: Sequence[Sequence[Mapping[str, float]]]
) -> Iterator[tuple[str, str, bool]]:
    """Yield the name of each part in A and in the run, empty where it has none, and whether they are certainly one."""
    if kind == "layer":
        for row in _rows(report, "layers"):
            if row["run"] == label:
                is_certain = not str(row["matched_by"]).endswith("(uncertain)")
                yield row["base_layer"] or "", row["layer"] or "", is_certain
    else:
        for name in sorted({name for side in sides for times in side for name in times}):
            yield name, name, True


def _rows(report: Report, name: str) -> list[dict[str, Any]]:
    section = next(section for section in report.sections if section.name == name)
    columns = [column.name for column in section.columns]
    return [dict(zip(columns, row, strict=True)) for row in section.rows]
