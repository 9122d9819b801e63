"""One rule on a small capture: its answer, and that the printed SQL gives every number of it again."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import duckdb
import pytest
from given import Given

from traceview.analysis import advice, reports
from traceview.analysis.model import Finding
from traceview.cli.output import sql_text


def answer(rule: str, given: Given, folder: Path, **params: str) -> Finding:
    """Return the finding of a rule for these rows."""
    if not given.rows and not given.about and not params:
        return of_nothing()[rule]
    rules = advice.load([rule])
    with given.open(folder) as connection:
        (said,) = advice.run(connection, rules, params)
        derive_again(connection, said, **params)
    return said


@cache
def of_nothing() -> dict[str, Finding]:
    """Return the finding of every rule for a capture without rows."""
    rules = advice.load()
    with tempfile.TemporaryDirectory() as folder, Given().open(Path(folder)) as connection:
        return {said.rule: said for said in advice.run(connection, rules)}


def derive_again(connection: duckdb.DuckDBPyConnection, said: Finding, **params: str) -> None:
    """Check that what `--show-sql` prints for a rule gives its finding when run on the same capture."""
    if not said.n_ranks:
        return
    recipe = reports.Recipe("advice", "", "", tuple(advice.load([said.rule])))
    printed = connection.execute(sql_text(recipe, params))
    names = [column[0] for column in printed.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in printed.fetchall()]
    assert len(rows) == said.n_ranks
    for row in rows:
        if row["rank"] == said.rank:
            # Sums of fractions may end in another digit from run to run.
            assert (row["step_ns"], row["run_ns"]) == (said.step_ns, said.run_ns)
            assert row["saving_ns"] == pytest.approx(said.saving_ns, abs=1)
            assert row["saving_pct"] == pytest.approx(said.saving_pct)
            assert (row["problem"], row["place"] or "", row["confidence"], tuple(row["evidence"] or ())) == (
                said.problem,
                said.place,
                said.confidence,
                said.evidence,
            )


def training(steps: int = 3, length: float = 1000, device: str | None = "NVIDIA A100-SXM4-40GB") -> Given:
    """Steps of equal length, in microseconds, on one device; without a device's name on a CPU."""
    given = Given()
    if device:
        given.device(device)
    for number in range(steps):
        given.span("step", f"step#{number + 1}", number * length, (number + 1) * length)
    return given
