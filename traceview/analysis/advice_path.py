"""Advice in the order of what it can give on the critical path of a step: the rules' answers, with that bound.

Invariant: a finding whose work is not on the path stays, after those that are; where no path can be had the order is
that of the rules' own bounds. A rule that says what its change takes away (`removes` in its header, a file of
`queries/advice/removes`) is bounded by what the step becomes without it, as the graph of dependencies has it. What is
not certain is not known, and then the bound of the rule stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from traceview import sql
from traceview.analysis import advice, certainty, critical, dependencies
from traceview.analysis.certainty import NOT_KNOWN, OFF, ON
from traceview.analysis.dependencies import Graph
from traceview.analysis.model import Finding
from traceview.ingest.derive.nesting import Ints
from traceview.lazy import duckdb
from traceview.paths import content
from traceview.store import views

UNCERTAIN = "which work the change removes is not certain"
MOST = 50_000
"""Tasks of a graph for advice: some 0.5 s of processor time."""
MOST_RANKS = 16
"""Ranks of one graph; of more it holds those for which the others wait."""
LAUNCHED_PCT = 90
"""Work of a device whose launching call must be recorded: else what it waited for is not known."""

AHEAD = 0.1
"""Minimum lead of the host over the device, as a fraction of the step, to count as running ahead."""
BUSY = 0.9
"""Fraction of the step until which the host has to work, for that."""


def removal(rule: sql.Query) -> sql.Query | None:
    """The query of what the rule's change takes away, whose `gone` says what of it; None where that is not certain."""
    name = rule.extra.get("removes")
    return sql.load(content("queries") / "advice" / "removes" / f"{name}.sql") if name else None


def run(
    connection: duckdb.DuckDBPyConnection,
    rules: Sequence[sql.Query],
    params: Mapping[str, str] | None = None,
    at_least_pct: float = 0.0,
) -> list[Finding]:
    """As `advice.run`, each finding bounded by the path of the step, and in the order of that bound."""
    removals = {rule.name: query for rule in rules if (query := removal(rule))}
    with views.beside(connection) as second, ThreadPoolExecutor(1) as pool:
        # Rules are many short queries, the path is few: side by side, where neither needs the memory of the other.
        early = pool.submit(work_out, second) if removals and views.has_room(connection) else None
        said = advice.run(connection, rules, params, at_least_pct)
        steady = [f for f in said if f.status == advice.FOUND and f.saving_ns and f.run_ns is None]
        certain = [(f, removals[f.rule]) for f in steady if f.rule in removals]
        found = {f.rule: replace(f, path=NOT_KNOWN, path_reason=UNCERTAIN) for f in steady}
        if certain:
            path = (early or pool.submit(work_out, second)).result()
            for f in bounded(second, path, certain, params or {}):
                lacking = _lacking(connection, removals[f.rule]) if f.path == OFF else ""
                unknown = replace(f, path=NOT_KNOWN, path_reason=lacking, path_saving_ns=None, path_slack_ns=None)
                found[f.rule] = unknown if lacking else _as_bounded(f, at_least_pct)
    return advice.ordered(found.get(finding.rule, finding) for finding in said)


def _lacking(connection: duckdb.DuckDBPyConnection, removed: sql.Query) -> str:
    """Say what would have to be recorded to know that this is not on the path; empty where it is."""
    absent = advice.lacking(connection, removed.extra.get("needs", ()))
    return absent.missing if absent else ""


def _as_bounded(finding: Finding, at_least_pct: float) -> Finding:
    """The finding with what the path leaves of its saving; what is too little is not found."""
    if finding.path_saving_ns is None:
        return finding
    share = 100.0 * finding.path_saving_ns / finding.step_ns if finding.step_ns else None
    finding = replace(finding, saving_ns=finding.path_saving_ns, saving_pct=share)
    # A guess does not lead anyway, and is what there is to say of a device that idles.
    is_guess = certainty.level(finding) == certainty.LOW
    if finding.path == OFF or is_guess or share is None or share >= at_least_pct:
        return finding
    reason = f"there is some, but without it {finding.of} is {share:.2f} % shorter at most"
    return replace(finding, status=advice.NOT_FOUND, reason=reason)


@dataclass(frozen=True)
class Path:
    """The graph of one step."""

    graph: Graph
    tasks: Mapping[str, Ints]
    loading: Ints
    """Loading of data within each delay."""
    slack: Ints
    whole_ns: int
    what: str
    """The step, in words."""


def bounded(
    connection: duckdb.DuckDBPyConnection,
    path: Path | str,
    findings: Sequence[tuple[Finding, sql.Query]],
    params: Mapping[str, str],
) -> list[Finding]:
    """Findings, each with the query of what its change takes away, with what they can give on the path.

    `path` is what `work_out` returned for the same connection.
    """
    if isinstance(path, str):
        return [replace(found, path=NOT_KNOWN, path_reason=path) for found, _ in findings]
    return [_bounded(connection, path, removed, params, found) for found, removed in findings]


def work_out(connection: duckdb.DuckDBPyConnection) -> Path | str:
    """The graph of the median step, or why there is none that tells."""
    told = critical.query("advice_step").run(connection, {"launched_pct": LAUNCHED_PCT})
    step, n = critical.choose(connection, {"step": str(told[0][0])} if told else {}, MOST, MOST_RANKS)
    what = "the recording" if step is None else f"step {step}"
    if n > MOST:
        return f"{n:,} things take time in one rank in {what}, more than the {MOST:,} of a graph for advice"
    worked = critical.work_out(connection)
    if worked.graph is None:
        return "nothing that was recorded takes time on a stream or a thread"
    on_device = worked.tasks["class"] == 0
    if 100 * (worked.tasks["launch_id"][on_device] >= 0).sum() < LAUNCHED_PCT * on_device.sum():
        return "the trace does not say which call launched what runs on the device"
    if worked.n_messages:
        return "ranks send to each other, and which of them waited for which is not in the graph"
    if _runs_ahead(worked.graph, worked.tasks):
        return f"in {what} the host runs ahead of the device, and nothing says where it waits for it"
    loading = critical.loading_of(worked.graph, worked.data)
    lasts = worked.graph.end - worked.graph.start
    whole_ns = critical.end_of(worked.graph, lasts, worked.graph.delay)
    return Path(worked.graph, worked.tasks, loading, critical.slack(worked.graph), whole_ns, what)


def _runs_ahead(graph: Graph, tasks: Mapping[str, Ints]) -> bool:
    """Whether the host works until the end for later steps, and never waits: its time does not bound the device's."""
    begin, finish = int(graph.start[0]), int(graph.end[-1])
    on_host = tasks["class"] == 1
    if not on_host.any() or int(tasks["queued_ns"].max()) <= AHEAD * (finish - begin):
        return False
    returns = graph.task[(graph.role == dependencies.RETURN) & (graph.task >= 0)]
    is_late = finish - int(tasks["end_ns"][on_host].max()) < (1 - BUSY) * (finish - begin)
    return is_late and not on_host[returns].any()


def _bounded(
    connection: duckdb.DuckDBPyConnection, path: Path, removed: sql.Query, params: Mapping[str, str], found: Finding
) -> Finding:
    values = removed.typed(connection, params)
    wrapped = replace(removed, body=f"WITH removed AS (\n{removed.body}\n)\n{critical.query('removed').body}")
    rows = wrapped.run(connection, values)
    chosen = np.array([number for number, *_ in rows if number is not None], np.int64)
    counted = {rank: (ns, mean_ns) for number, rank, ns, mean_ns in rows if number is None}
    here_ns, mean_ns = counted.get(found.rank, (0, 0.0))
    is_shared = removed.name == "communication"
    if not is_shared:  # What the rule counts, and no less of it.
        mean_ns = found.saving_ns or 0
    if found.rank not in path.graph.rank:
        if not is_shared:
            return replace(found, path=NOT_KNOWN, path_reason=f"rank {found.rank} is not in the graph of {path.what}")
        # Ranks communicate with each other: the step has as much of it for one that the graph has no room for.
        here_ns, mean_ns = max(counted.values(), default=(0, 0.0))
    if not here_ns:
        return replace(found, path=NOT_KNOWN, path_reason=f"there is none of it in {path.what}, which the path is of")
    saved_ns = _saved(path, chosen, removed.extra["gone"])
    # Where the mean step has more of it than this one, the same part of it is on the path.
    most_ns = min(found.saving_ns or 0, round(saved_ns * max(1.0, mean_ns / here_ns)))
    if most_ns or not len(chosen):
        return replace(found, path=ON, path_saving_ns=most_ns)
    slack_ns = int(path.slack[chosen].min())
    return replace(found, path=OFF, path_saving_ns=0, path_slack_ns=slack_ns)


def _saved(path: Path, chosen: Ints, gone: Collection[str]) -> int:
    """Return the time by which the step becomes shorter without these tasks."""
    graph, n = path.graph, int(path.graph.task.max()) + 1
    if "launches" in gone:
        chosen = np.concatenate([chosen, _launches(path.tasks, chosen)])
    stays, is_free = np.full(n, 100), np.zeros(n, np.int64)
    if "time" in gone:
        stays[chosen] = 0
    if "waits" in gone:
        is_free[chosen] = 1
    loading = path.loading if "loading" in gone else 0 * path.loading
    return path.whole_ns - critical.changed(graph, stays, loading, is_free)


def _launches(tasks: Mapping[str, Ints], chosen: Ints) -> Ints:
    """Calls that launched these tasks and no others, and operators that launched nothing else."""
    call = dependencies.places(tasks["call_id"], tasks["launch_id"])
    is_chosen, is_gone, is_other = (np.zeros(len(call), np.bool_) for _ in range(3))
    is_chosen[chosen] = True
    # To sort them out with `np.unique` would load all of masked arrays.
    is_gone[call[is_chosen & (call >= 0)]] = True
    is_other[call[~is_chosen & (call >= 0)]] = True
    gone, others = np.flatnonzero(is_gone & ~is_other), np.flatnonzero(is_other)
    (pieces,) = np.nonzero(tasks["op_id"] >= 0)
    if not len(gone) or not len(pieces):
        return gone
    _, first, of = np.unique(tasks["op_id"][pieces], return_index=True, return_inverse=True)
    lane = tasks["lane"][pieces[first]]
    begins, ends = np.full(len(first), 2**62), np.full(len(first), -(2**62))
    np.minimum.at(begins, of, tasks["start_ns"][pieces])
    np.maximum.at(ends, of, tasks["end_ns"][pieces])

    def inside(calls: Ints) -> Ints:
        """How many of these calls each operator holds."""
        order = calls[np.lexsort((tasks["start_ns"][calls], tasks["lane"][calls]))]
        low = int(tasks["start_ns"].min())
        span = int(tasks["end_ns"].max()) - low + 2
        keys = tasks["lane"][order] * span + tasks["start_ns"][order] - low
        first, last = (np.searchsorted(keys, lane * span + at - low) for at in (begins, ends))
        return np.asarray(last - first, np.int64)

    is_gone = (inside(gone) > 0) & (inside(others) == 0)
    return np.concatenate([gone, pieces[is_gone[of]]])
