"""The longest path through a graph of dependencies, what is not on it by how much, and the graph with other durations.

Invariant: with the recorded durations and delays every node begins when it did, so a changed graph differs from the
recording by the change alone.
"""

from __future__ import annotations

import numpy as np

from traceview.analysis.dependencies import Graph
from traceview.ingest.derive.nesting import Ints


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
    return latest


def slack(graph: Graph) -> Ints:
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
