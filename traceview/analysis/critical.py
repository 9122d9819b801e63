"""The critical path of a step: what would make it shorter, and what would not, however long it takes.

Makes the temporary tables `critical_*`, of which the report `critical`, advice, pages and exports select.
Invariant: the pieces of the path follow one another from the start of the step to its end, and add up to it.
With the recorded durations and delays every node begins when it did, so a changed graph differs by the change alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from traceview.analysis import dependencies
from traceview.analysis.dependencies import KINDS, Graph
from traceview.errors import UsageError
from traceview.ingest.derive.nesting import Ints
from traceview.ingest.derive.spans import fetch, publish
from traceview.lazy import duckdb
from traceview.paths import content
from traceview.sql import Query, load
from traceview.store import views

MOST = 400_000
"""Tasks of a graph: each of a dozen scenarios takes some 0.03 s per 100,000."""
MOST_OF_LANE = 100_000
"""Maximum number of tasks for a timeline, of which the path is one row."""
PIECE = ("position", "task", "other", "node_rank", "edge", "role", "from_ns", "dur_ns", "data_ns")
BOUNDS = {"critical_from_ns": "min(from_ns)", "critical_until_ns": "max(until_ns)", "critical_among": "list(rank)"}
"""Limits of all windows and their ranks, as variables of the connection: a constant is known before tables are read."""
NO_DATA = "no data loading"
NO_SKEW = "no rank waits for another"


def query(name: str) -> Query:
    """Load `queries/graph/<name>.sql`."""
    return load(content("queries") / "graph" / f"{name}.sql")


@dataclass(frozen=True)
class Worked:
    """The graph of a window, and what it was made of."""

    graph: Graph | None
    """None where nothing takes time."""
    tasks: Mapping[str, Ints]
    """The columns of `queries/graph/columns.sql`."""
    data: Mapping[str, Ints]
    """When the program loads data."""
    n_messages: int
    """Sends and receives between its ranks, which no dependency stands for."""


def prepare(
    connection: duckdb.DuckDBPyConnection, params: Mapping[str, str], most: int = MOST, is_lane: bool = False
) -> None:
    """Work out the path of the step in `params`, else of the one whose length is closest to the median.

    Of ranks with more tasks than the graph may have it is of those for which the others wait. Raises `UsageError` for a
    step that the capture has not, and for one in which one rank alone has more.
    """
    step, n = choose(connection, params, most)
    if n > most and not is_lane:
        told = f"{n:,} things take time there in one rank, more than the {most:,} of a graph"
        raise UsageError(f"{told}; {'record less' if step is None else 'choose another step: --set step=N'}.")
    if n > most:
        connection.execute("TRUNCATE critical_window")
    worked = work_out(connection)
    pieces = np.empty(0, np.int64) if worked.graph is None else path(worked.graph)
    _tell(connection, worked, pieces, -1 if step is None else step)
    connection.execute(f"CREATE OR REPLACE TEMP VIEW critical_part AS {query('parts').body}")
    _what_if(connection, worked.graph, worked.data)


def choose(
    connection: duckdb.DuckDBPyConnection, params: Mapping[str, str], most: int, most_ranks: int | None = None
) -> tuple[int | None, int]:
    """The step that a path is of (None: the whole recording) as `critical_window`; how many things take time in it.

    Of more things or ranks than these it holds the ranks for which the others wait longest, one at least: what another
    rank does is then no part of the graph, so that what a change gives is still at most what the graph says.
    """
    window = query("window")
    step = window.typed(connection, params).get("step")
    if step is None:
        middle = middle_step().run(connection)
        step = middle[0][0] if middle else None
    else:
        check(connection, "steps", "step", step)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE critical_window AS {window.body}", {"step": step})
    sizes = query("size").run(connection)
    sums = np.cumsum([n for _, n in sizes])
    taken = min(max(int(np.searchsorted(sums, most, side="right")), 1), most_ranks or len(sizes), len(sizes))
    connection.execute("SET VARIABLE critical_ranks = $1", [len(sizes)])
    if taken < len(sizes):
        query("narrow").run(connection, {"ranks": [rank for rank, _ in sizes[:taken]]})
    return step, int(sums[taken - 1]) if taken else 0


def middle_step() -> Query:
    """The query of the step whose length and busy time are closest to the medians."""
    return load(content("queries") / "timeline" / "middle_step.sql")


def check(
    connection: duckdb.DuckDBPyConnection, view: str, column: str, value: int | None, rank: int | None = None
) -> None:
    """Raises `UsageError` for a rank or a step that the capture has not."""
    if value is None:
        return
    where = "WHERE $1 IS NULL OR rank = $1"
    there = connection.execute(f"SELECT DISTINCT {column} FROM {view} {where} ORDER BY 1", [rank]).fetchall()
    numbers = [number for (number,) in there]
    if value not in numbers:
        several = f"{column}s {numbers[0]} to {numbers[-1]}" if numbers else f"no {column}s"
        known = f"{column} {numbers[0]}" if len(numbers) == 1 else several
        raise UsageError(f"the capture has no {column} {value}; it has {known}.")


def work_out(connection: duckdb.DuckDBPyConnection) -> Worked:
    """The graph of `critical_window`, whose tasks become `critical_task`."""
    bounds = (f"SET VARIABLE {name} = (SELECT {bound} FROM critical_window)" for name, bound in BOUNDS.items())
    connection.execute("; ".join(bounds))
    views.give_back(connection)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE critical_task AS {query('tasks').body}")
    views.give_back(connection)
    tasks = fetch(connection, query("columns").body)
    graph = None
    if len(tasks["number"]):
        events = fetch(connection, query("event_waits").body)
        begin, finish = int(tasks["start_ns"].min()), int(tasks["end_ns"].max())
        for start, end in connection.execute(query("edges").body).fetchall():
            begin, finish = min(begin, start), max(finish, end)
        graph = dependencies.build(tasks, events, begin, finish)
    n_messages = 0
    if len(tasks["rank"]) and tasks["rank"].min() < tasks["rank"].max():
        ((n_messages,),) = connection.execute(query("messages").body).fetchall()
    return Worked(graph, tasks, fetch(connection, query("data_phases").body), n_messages)


def lane(connection: duckdb.DuckDBPyConnection, step: int | None) -> None:
    """Make the path of a step for a timeline; an empty one where the graph would be large."""
    prepare(connection, {} if step is None else {"step": str(step)}, MOST_OF_LANE, is_lane=True)


def _tell(connection: duckdb.DuckDBPyConnection, worked: Worked, pieces: Ints, step: int) -> None:
    """The tables of the path, of the slack of every task, and of what the graph rests on."""
    graph = worked.graph
    if graph is None:
        _table(connection, "critical_piece", dict.fromkeys(PIECE, pieces))
        _table(connection, "critical_slack", {"number": pieces, "slack_ns": pieces})
        _table(connection, "critical_fact", {"step": pieces, "kind": pieces, "n": pieces})
        return
    source, target, kind = graph.source[pieces], graph.target[pieces], graph.kind[pieces]
    # Of a call only the time until the launch is on the path: it is part of the edge.
    leaves_early = np.append(graph.at_start[pieces][1:], 0) == 1
    delay = graph.delay[pieces]
    length = np.where(leaves_early, 0, graph.end[target] - graph.start[target])
    n = len(pieces)
    place = np.arange(n)
    task, rank, role, nothing = graph.task[target], graph.rank[target], graph.role[target], np.full(n, -1)
    begun, loading = graph.start[target], loading_of(graph, worked.data)[pieces]
    edges = (2 * place, task, graph.task[source], rank, kind, role, begun - delay, delay, loading)
    nodes = (2 * place + 1, task, nothing, rank, nothing, role, begun, length, np.zeros(n, np.int64))
    both = [np.concatenate(pair) for pair in zip(edges, nodes, strict=True)]
    _table(connection, "critical_piece", dict(zip(PIECE, both, strict=True)))
    least = slack(graph)
    _table(connection, "critical_slack", {"number": np.arange(len(least)), "slack_ns": least})
    counts = [int((graph.kind == each).sum()) for each in range(len(KINDS))]
    counts += [graph.n_dropped, graph.n_overlapping, worked.n_messages]
    facts = {"step": np.full(len(counts), step), "kind": np.arange(len(counts))}
    _table(connection, "critical_fact", {**facts, "n": np.array(counts)})


def slack(graph: Graph) -> Ints:
    """For each task by how much it may end later without the end being later."""
    spare, of_task = node_slack(graph), graph.task >= 0
    least = np.full(int(graph.task.max()) + 1, 2**62)
    np.minimum.at(least, graph.task[of_task], spare[of_task])
    return least


def _table(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Ints]) -> None:
    """A temporary table of these columns; times may be negative, everything else is NULL where it is -1."""
    body = "FROM found_columns"
    if "from_ns" in columns:
        low, body = min(columns["from_ns"].tolist(), default=0), query("pieces").body
        columns = {**columns, "from_ns": columns["from_ns"] - low}
        connection.execute("SET VARIABLE critical_low = $1", [low])
    publish(connection, "found_columns", columns)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {body}")
    connection.unregister("found_columns")


def loading_of(graph: Graph, data: Mapping[str, Ints]) -> Ints:
    """Return the loading of data in the delay of each edge along a thread of the host, or from the start."""
    found = np.zeros(len(graph.kind), np.int64)
    is_host = np.isin(graph.kind, (dependencies.THREAD, dependencies.HANDOFF, dependencies.EDGE))
    ranks = graph.rank[graph.target]
    for rank in sorted(set(data["rank"].tolist())):
        chosen = data["rank"] == rank
        starts, ends = data["start_ns"][chosen], np.maximum.accumulate(data["end_ns"][chosen])
        before = np.concatenate([[0], np.cumsum(data["end_ns"][chosen] - starts)])

        def until(at: Ints, starts: Ints = starts, ends: Ints = ends, before: Ints = before) -> Ints:
            place = np.searchsorted(starts, at, side="right")
            last = np.maximum(place - 1, 0)
            return before[place] - np.where(place > 0, np.maximum(ends[last] - at, 0), 0)

        (rows,) = np.nonzero(is_host & (ranks == rank))
        begun = graph.start[graph.target[rows]]
        found[rows] = until(begun) - until(begun - graph.delay[rows])
    return np.clip(found, 0, graph.delay)


def _what_if(connection: duckdb.DuckDBPyConnection, graph: Graph | None, data: Mapping[str, Ints]) -> None:
    """The end of the step in each scenario."""
    rows: list[tuple[str, int, int]] = []
    if graph is not None:
        length = graph.end - graph.start
        whole = end_of(graph, length, graph.delay)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE critical_change AS {query('scenarios').body}")
        changes = fetch(connection, query("changes").body)
        names = [name for (name,) in connection.execute(query("names").body).fetchall()]
        loading = loading_of(graph, data)
        if loading.any() and NO_DATA not in names:
            names.append(NO_DATA)
        for place, name in enumerate(names):
            chosen = changes["scenario"] == place
            stays = np.full(max(int(graph.task.max()) + 1, 1), 100)
            stays[changes["number"][chosen]] = changes["stays_pct"][chosen]
            gone = loading if name == NO_DATA else 0 * loading
            rows.append((name, whole, changed(graph, stays, gone)))
        is_other = (graph.kind == dependencies.ARRIVAL) & (graph.role[graph.source] == dependencies.MEET)
        if is_other.any():
            rows.append((NO_SKEW, whole, end_of(graph, length, np.where(is_other, -(2**60), graph.delay))))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE critical_scenario AS {query('scenario_table').body}")
    for row in rows:
        connection.execute("INSERT INTO critical_scenario VALUES ($1, $2, $3)", row)


def changed(graph: Graph, stays: Ints, gone: Ints, is_free: Ints | None = None) -> int:
    """The end with what stays of each task, in percent, and without what is gone of each delay.

    What stays of a call that launches stays of the time until what it launched begins, too. Tasks that are free (1)
    wait for no device and for no other rank.
    """
    of_node = np.where(graph.task >= 0, stays[np.maximum(graph.task, 0)], 100)
    factor = np.full(len(graph.kind), 100)
    launches = graph.kind == dependencies.LAUNCH
    factor[launches] = of_node[graph.source[launches]]
    # Time between two things on a thread is what both need: Python between two operators. Between waits it stays.
    needed = of_node if is_free is None else np.where((graph.task >= 0) & (is_free[graph.task] == 1), 100, of_node)
    between = np.isin(graph.kind, (dependencies.THREAD, dependencies.HANDOFF))
    factor[between] = np.maximum(needed[graph.source], needed[graph.target])[between]
    delay = (graph.delay - gone) * factor // 100
    if is_free is not None:
        source, target = graph.task[graph.source], graph.task[graph.target]
        is_wait = np.isin(graph.kind, (dependencies.SYNC, dependencies.ARRIVAL, dependencies.INFERRED))
        cut = is_wait & (graph.role[graph.target] == dependencies.RETURN) & (source != target)
        delay[cut & (is_free[np.maximum(target, 0)] == 1)] = -(2**60)
    return end_of(graph, (graph.end - graph.start) * of_node // 100, delay)


def path(graph: Graph) -> Ints:
    """The edges of the longest path, first to last: back from the end, each time to what was waited for longest."""
    source, binding = graph.source.tolist(), graph.binding.tolist()
    found = []
    node = len(binding) - 1
    while node > 0 and binding[node] >= 0:
        found.append(binding[node])
        node = source[binding[node]]
    return np.array(found[::-1], np.int64)


def end_of(graph: Graph, duration: Ints, delay: Ints) -> int:
    """When everything has ended, after the start, with these durations of nodes and delays of edges.

    One pass over the edges in the order of their targets: some 0.03 s for 100,000.
    """
    n = len(graph.start)
    began, ended = [0] * n, [0] * n
    lasts = duration.tolist()
    at, latest = 0, 0
    for source, target, wait, at_start in zip(
        graph.source.tolist(), graph.target.tolist(), delay.tolist(), graph.at_start.tolist(), strict=True
    ):
        if target != at:
            began[at], ended[at] = latest, latest + lasts[at]
            at, latest = target, 0
        ready = (began[source] if at_start else ended[source]) + wait
        if ready > latest:
            latest = ready
    # What only a wait led from to the end is over by then, too, where nothing waits for it.
    return max(latest, *ended)


def node_slack(graph: Graph) -> Ints:
    """By how much each node may end later without the end being later: nothing on the longest path."""
    n = len(graph.start)
    spare = [2**62] * n
    spare[n - 1] = 0
    left = (
        graph.start[graph.target]
        - graph.delay
        - np.where(graph.at_start == 1, graph.start[graph.source], graph.end[graph.source])
    )
    rows = range(len(left) - 1, -1, -1)
    source, target, rest = graph.source.tolist(), graph.target.tolist(), left.tolist()
    for row in rows:
        more = spare[target[row]] + rest[row]
        if more < spare[source[row]]:
            spare[source[row]] = more
    found = np.array(spare, np.int64)
    return np.where(found >= 2**61, graph.end[-1] - graph.end, found)
