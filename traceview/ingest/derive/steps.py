"""Training steps: as the profiler marked them, else from one optimizer call to the next, else, where a trace holds
nothing of the host, from one upload of a batch to the next, else none.

Invariant: a step that was worked out rather than recorded says so in `ranges.domain`.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import numpy as np

from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch
from traceview.ingest.sink import at_hand
from traceview.paths import content

FROM_OPTIMIZER = "from the ends of the optimizer"
FROM_COPIES = "from the largest recurring host-to-device copy"

# A step ends when the optimizer does. Where several optimizers take turns, the one that is called first counts.
_ADD = """
WITH optimizer AS (
    SELECT id, pid, tid, start_ns, start_ns + dur_ns AS end_ns, domain
    FROM stage.ranges WHERE kind = 'phase' AND name = 'optimizer'
), chosen AS (
    SELECT * FROM optimizer WHERE domain IS NOT DISTINCT FROM (SELECT arg_min(domain, start_ns) FROM optimizer)
), bounded AS (
    SELECT *, lag(end_ns) OVER (ORDER BY start_ns, id) AS previous_ns, row_number() OVER (ORDER BY start_ns, id) AS n
    FROM chosen
)
-- Above the number of every recorded event.
SELECT (CAST(1 AS BIGINT) << 39) + n AS id, pid, tid, previous_ns AS start_ns, end_ns - previous_ns AS dur_ns,
    'step' AS kind, CAST(n - 1 AS VARCHAR) AS name, $why AS domain
FROM bounded WHERE previous_ns IS NOT NULL AND end_ns > previous_ns
"""


@dataclass(frozen=True)
class Steps:
    """Steps in order of time with their numbers."""

    spans: Spans
    number: Ints

    def at(self, time: Ints) -> Ints:
        """Number of the step with start <= time < end, -1 for none. Steps count on every thread."""
        if not len(self.spans):
            return np.full(len(time), -1, np.int64)
        found = self.spans.innermost(np.zeros(len(time), np.int64), time)
        found[(found >= 0) & (self.spans.end[found] <= time)] = -1
        return np.where(found >= 0, self.number[found], -1)


def add_missing(connection: duckdb.DuckDBPyConnection) -> None:
    """Add step ranges in a trace that has none of its own: the optimizer's, or where only the device was recorded the
    uploads'."""
    if not _empty(connection, "stage.ranges WHERE kind = 'step'"):
        _keep_one_kind(connection)
        return
    if not _empty(connection, "stage.ranges WHERE kind = 'phase' AND name = 'optimizer'"):
        _add(connection, _ADD, FROM_OPTIMIZER)
    elif all(_empty(connection, f"stage.{table}") for table in ("api_calls", "ops", "ranges")):
        _add(connection, _query("steps_from_copies"), FROM_COPIES)


def _add(connection: duckdb.DuckDBPyConnection, query: str, why: str) -> None:
    connection.execute(f"INSERT INTO {at_hand(connection, 'ranges')} BY NAME {query}", {"why": why})


_KINDS = r"""SELECT count(DISTINCT (regexp_replace(name, '\d+$', ''), domain, pid, tid))
FROM stage.ranges WHERE kind = 'step'"""


def _keep_one_kind(connection: duckdb.DuckDBPyConnection) -> None:
    """Steps that overlap others become what ranges are in this trace: each moment is of one step.

    No reader lets steps wait on disk.
    """
    if connection.execute(_KINDS).fetchall()[0][0] > 1:
        connection.execute(
            f"""UPDATE {at_hand(connection, "ranges")}
            SET kind = if((SELECT bool_or(kind = 'user') FROM stage.ranges), 'user', 'nvtx')
            WHERE id IN ({_query("steps_of_another_kind")})"""
        )


def _query(name: str) -> str:
    return (content("queries") / "derive" / f"{name}.sql").read_text(encoding="utf-8")


def _empty(connection: duckdb.DuckDBPyConnection, rows: str) -> bool:
    return connection.execute(f"SELECT 1 FROM {rows} LIMIT 1").fetchall() == []


def load(connection: duckdb.DuckDBPyConnection) -> Steps:
    """The steps of the rank. A name without a number counts from 0 in order of time; so do all where a number comes
    twice, as where every epoch begins with 0: what belongs to a step is found by its number."""
    columns = fetch(
        connection,
        """SELECT id, start_ns, start_ns + dur_ns AS end_ns,
            coalesce(TRY_CAST(regexp_extract(name, '(\\d+)$', 1) AS BIGINT),
                row_number() OVER (ORDER BY start_ns, id) - 1) AS number
        FROM stage.ranges WHERE kind = 'step' ORDER BY start_ns, end_ns DESC, id""",
    )
    zeros = np.zeros(len(columns["id"]), np.int64)
    number = columns["number"]
    if len(np.unique(number)) < len(number):
        number = np.arange(len(number))
    return Steps(Spans(columns["id"], zeros, columns["start_ns"], columns["end_ns"]), number)
