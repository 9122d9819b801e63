"""A scaling study of existing recordings: one of each number of ranks, with the profiler's time in their steps.

Invariant: one recording of each is an estimate, and is called that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from traceview.errors import UsageError
from traceview.experiments.scaling import outcome, scaling
from traceview.experiments.scaling.outcome import BASE, STRONG, WEAK
from traceview.experiments.verdict import UNDECIDED
from traceview.tables import BY_NAME

REASON = "one recording of each, with a profiler"
NO_BATCH = "the batch is not known; --batch or --global-batch names it"
UNKNOWN = "whether these ranks shared cores, with each other or with other programs, is not known"
ON_DEVICES = ("nccl", "rccl", "xccl")
"""Libraries whose times do not depend on the cores."""
Row = dict[str, Any]


def rows(paths: Sequence[Path], batch: int | None, is_strong: bool) -> dict[str, list[Row]]:
    """The rows of a study by table; `batch` is of a rank, or of all ranks together with `is_strong`.

    Raises `UsageError` where two have as many ranks and samples, `InputError` for one without steps.
    """
    exchanges: list[Row] = []
    times: list[Row] = []
    for path in paths:
        found, collectives = scaling.exchanged(path)
        ranks = int(found["ranks_found"])
        if is_strong and batch and batch % ranks:
            raise UsageError(f"a batch of {batch} cannot be divided among {ranks} ranks.")
        own = batch // ranks if is_strong and batch else batch or found["batch"]
        size = scaling.Size(ranks, own, STRONG if is_strong else WEAK)
        if any(size.is_of(row) for row in exchanges):
            raise UsageError(f"{path}: another capture is of {size.name} too.")
        about = {"capture": str(path), "status": scaling.RECORDED, "noted_batch": found["noted_batch"]}
        exchanges.append(found | size.facts() | about)
        shared = {"mode": size.mode, "batch": own, "status": "measured"}
        times += [row | shared for row in collectives]
    is_on_devices = all(row["library"] in ON_DEVICES for row in times)
    columns = {column.name for column in BY_NAME[scaling.EXCHANGES].columns}
    return {
        scaling.EXCHANGES: [{name: row[name] for name in row.keys() & columns} for row in exchanges],
        scaling.TIMES: times,
        "scaling_points": [*_points(exchanges), *outcome.published()],
        "scaling_models": outcome.models(times, None if is_on_devices else UNKNOWN),
    }


def _points(exchanges: Sequence[Row]) -> list[Row]:
    """Speed-ups of recorded steps, without intervals."""
    runs = [
        {name: row.get(name) for name in ("mode", "ranks", "batch", "global_batch", "noted_batch", "filters")}
        | {"round": 1, "step_ns": row["slowest_ns"]}
        for row in exchanges
    ]
    return [row | {"status": "recorded"} | _doubt(row) for row in outcome.points(runs)]


def _doubt(row: Row) -> Row:
    """Verdict and reason in place of a claim: steps of unknown batches may be of any number of samples."""
    if row["verdict"] == BASE:
        return {}
    if row["batch"] is None:
        return {"speedup": None, "verdict": UNDECIDED, "reason": NO_BATCH}
    return {"verdict": UNDECIDED, "reason": REASON} if row.get("speedup") else {}
