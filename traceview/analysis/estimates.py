"""How surely each run differs from the first, in its step and in every part of it: tables for the queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from traceview.analysis import noise
from traceview.analysis.facts import Fact, Run
from traceview.errors import InputError

if TYPE_CHECKING:
    import numpy as np

ESTIMATE = (
    ("run", "BIGINT"),
    ("ratio", "DOUBLE"),
    ("low", "DOUBLE"),
    ("high", "DOUBLE"),
    ("confidence_pct", "DOUBLE"),
    ("noise_from", "VARCHAR"),
    ("recordings", "BIGINT"),
)
PART_NOISE = (("run", "BIGINT"), ("part", "VARCHAR"), ("low_ns", "DOUBLE"), ("high_ns", "DOUBLE"))
WHOLE = "(whole step)"


def tables(runs: Sequence[tuple[int, Run]]) -> dict[str, Fact]:
    """`estimate` (ratio of the step times) and `part_noise` (differences by part), for runs that both have steps.

    Raises `InputError` for a value that is no number where there must be one.
    """
    try:
        return _tables(runs)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"a saved comparison holds an invalid value ({error}).") from error


def _tables(runs: Sequence[tuple[int, Run]]) -> dict[str, Fact]:
    base = runs[0][1]
    whole: list[tuple[Any, ...]] = []
    parts: list[tuple[Any, ...]] = []
    for number, run in runs[1:]:
        recordings = len(base.recordings) + len(run.recordings)
        if not all(recording.has_steps for recording in (*base.recordings, *run.recordings)):
            continue
        found, text = _several(base, run) if recordings > 2 else _single(base, run)
        if found is not None:
            ratio = found.ratio()
            whole.append((number, ratio.value, ratio.low, ratio.high, 100 * ratio.confidence, text, recordings))
        parts += [(number, part, low, high) for part, low, high in _parts(base, run)]
    return {"estimate": Fact(ESTIMATE, tuple(whole)), "part_noise": Fact(PART_NOISE, tuple(parts))}


def _several(base: Run, run: Run) -> tuple[noise.Interval | None, str]:
    logs = [
        [math.log(time) for recording in side.recordings if (time := recording.value("median_ns"))]
        for side in (base, run)
    ]
    text = f"{len(base.recordings)} and {len(run.recordings)} recordings"
    return (noise.between(*logs) if all(logs) else None), text


def _single(base: Run, run: Run) -> tuple[noise.Interval | None, str]:
    _, (a, b) = _blocks(base, run)
    if min(len(a), len(b)) > 1 and min(a[:, 1].min(), b[:, 1].min()) > 0:
        return noise.within(a[:, :2], b[:, :2], is_log=True)[0], "one recording each"
    given = [(side.value("step_ns"), side.value("sd_ns"), side.value("steps")) for side in (base, run)]
    if all(mean and deviation is not None and steps > 1 for mean, deviation, steps in given):
        return noise.from_deviations(*given), "one recording each, by their standard deviations"
    return None, ""


def _parts(base: Run, run: Run) -> list[tuple[str, float, float]]:
    """Low and high end of the difference of each part."""
    if len(base.recordings) > 1 or len(run.recordings) > 1:
        sides = [[_part_times(recording) for recording in side.recordings] for side in (base, run)]
        found = []
        for part in sorted({name for side in sides for times in side for name in times}):
            interval = noise.between(*([times.get(part, 0.0) for times in side] for side in sides))
            if interval.confidence >= noise.CLAIM:
                found.append((part, interval.low, interval.high))
        return found
    names, (a, b) = _blocks(base, run)
    if min(len(a), len(b)) < 2:
        return []
    return [(part, found.low, found.high) for part, found in zip(names, noise.within(a, b), strict=True)]


def _part_times(run: Run) -> dict[str, float]:
    """Mean time of each part of a step of a recording."""
    times = {WHOLE: float(run.value("step_ns") or 0)}
    for table, key in (("cell", "category"), ("idle", "part")):
        fact = run.facts[table]
        names = [name for name, _ in fact.columns]
        part, busy = names.index(key), names.index("busy_ns")
        for row in fact.rows:
            times[row[part]] = times.get(row[part], 0.0) + row[busy]
    return times


def _blocks(base: Run, run: Run) -> tuple[list[str], list[np.ndarray[Any, Any]]]:
    """The parts of a step, the whole first; per run a row per block: its number of steps, then each part's mean."""
    import numpy as np

    sides = [side.facts["block"].rows for side in (base, run)]
    names = [WHOLE, *sorted({row[1] for rows in sides for row in rows} - {WHOLE})]
    found = []
    for rows in sides:
        places = {block: place for place, block in enumerate(sorted({row[0] for row in rows}))}
        blocks = np.zeros((len(places), len(names) + 1))
        for block, part, steps, busy in rows:
            blocks[places[block], names.index(part) + 1] = busy
            blocks[places[block], 0] = steps
        found.append(blocks)
    return names, found
