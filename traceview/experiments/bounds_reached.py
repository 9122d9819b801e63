"""What a finished run of `tune` says of the bounds of advice, for those who ask for advice later.

Invariant: a rule is judged once per run, by the best of its options; an option that changed nothing in the process, or
whose rules cannot be told apart, says nothing, nor does a run in which a change of nothing made a difference.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from traceview import store
from traceview.analysis import ran_on
from traceview.experiments.pairs import NO
from traceview.experiments.search import FINAL, LEAST_ROUNDS, NULL
from traceview.experiments.tune_answer import SUM
from traceview.experiments.verdict import FASTER, NOISY, SAME, SLOWER, UNDECIDED
from traceview.store import learned
from traceview.store.learned import Place, Trial

CLEARLY_SLOWER = "clearly slower"


def learn(rows: Sequence[Mapping[str, Any]], base: Path) -> None:
    """Remember how far bounds were reached; `base` is the capture of the command as it is."""
    with contextlib.closing(store.open_capture(base, asked=ran_on.asked())) as connection:
        place = ran_on.of(connection)
    learned.remember(trials(rows, place))


def trials(rows: Sequence[Mapping[str, Any]], place: Place) -> list[Trial]:
    """One trial for each rule, from rows of `tune_options`."""
    if any(row["name"] == NULL and row.get("verdict") == NOISY for row in rows):
        return []
    best: dict[str, Trial] = {}
    for row in rows:
        if not _says_something(row):
            continue
        proved = row.get("phase") == FINAL
        trial = Trial(str(row["rule"]), float(row["bound"]), float(row["speedup"]), place, proved)
        if trial.rule not in best or _worth(trial) > _worth(best[trial.rule]):
            best[trial.rule] = trial
    return list(best.values())


def _worth(trial: Trial) -> tuple[bool, float]:
    """What final pairs say goes before screening: of several options measured in two pairs the best is partly luck."""
    return trial.is_proved, trial.measured


def _says_something(row: Mapping[str, Any]) -> bool:
    if not row.get("rule") or not row.get("speedup") or (row.get("bound") or 0) <= 1 or SUM in str(row["rule"]):
        return False
    if str(row.get("applied") or "").startswith(NO):
        return False
    if row.get("verdict") in (FASTER, SLOWER, SAME):
        return True
    slow = row.get("verdict") == "dropped" and str(row.get("reason")).startswith(CLEARLY_SLOWER)
    return slow or (row.get("verdict") == UNDECIDED and (row.get("pairs") or 0) >= LEAST_ROUNDS)
