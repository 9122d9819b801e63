"""Dependencies within a step: nodes in the order of time, and edges between them, as columns.

Invariant: every edge leads forward in time, so the recorded times are one schedule that keeps all of them; a node
begins with its last edge exactly when it was recorded to begin. What is inferred, not recorded, is a kind of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from traceview.ingest.derive.nesting import Ints

THREAD, STREAM, LAUNCH, SYNC, EVENT, INFERRED, HANDOFF, ARRIVAL, EDGE = range(9)
"""Kinds of edges: after each other on a thread, on a stream; launch to device; device to a call that waits;
recorded event; an event that is not recorded; from one thread to another (not recorded either); ranks that meet;
start and end."""
KINDS = ("thread", "stream", "launch", "synchronisation", "event", "inferred", "handoff", "ranks", "edge")
TASK, MEET, RETURN, BEGIN, FINISH = range(5)
"""Kinds of nodes: a task, or the part of it before it waits; all ranks are at a collective; the part after waiting."""
IDLE_NS = 10_000
"""A pause of a host thread from which on it may have waited for another one."""
QUEUED_NS = 1_000_000
"""Minimum time of work in a queue between launch and begin: the launch may wait for room in the queue."""
UNEXPLAINED_NS = 20_000
"""A wait from which on it is looked for what it was for: something of another stream that ended less than that ago."""


@dataclass(frozen=True)
class Graph:
    """Nodes by start, edges by target. `delay` is from the end of the source, or its start where `at_start`."""

    task: Ints
    """Number of the task; -1 for nodes of no task."""
    role: Ints
    rank: Ints
    start: Ints
    end: Ints
    source: Ints
    target: Ints
    kind: Ints
    delay: Ints
    at_start: Ints
    binding: Ints
    """For each node the edge that it waited for longest, -1 for none."""
    n_dropped: int
    """Dependencies that the recorded times contradict."""
    n_overlapping: int
    """Tasks that begin before the one ahead of them on their stream or thread has ended."""


class _Nodes:
    """Nodes as they are made, and edges between them by the places at which they were made."""

    def __init__(self) -> None:
        self.columns: list[tuple[Ints, ...]] = []
        self.edges: list[tuple[Ints, Ints, Ints]] = []
        self.n = 0

    def add(self, task: Ints, role: int, rank: Ints, start: Ints, end: Ints, after: Ints | None = None) -> Ints:
        """The places of new nodes. `after`: a task that comes before them where both begin at once."""
        places = np.arange(self.n, self.n + len(task))
        turn = task if after is None else np.maximum(task, after)
        self.columns.append((task, np.full(len(task), role), rank, start, end, turn))
        self.n += len(task)
        return places

    def link(self, source: Ints, target: Ints, kind: int) -> None:
        self.edges.append((source, target, np.full(len(source), kind)))


def build(tasks: Mapping[str, Ints], events: Mapping[str, Ints], begin: int, finish: int) -> Graph:
    """The graph of tasks (the columns of `queries/graph/columns.sql`) between two times."""
    nodes = _Nodes()
    before = _before_on_lane(tasks)
    # What begins while the one ahead of it still runs (rounded times, programmatic launches) depends on it all the
    # same: it counts from there on, so that a nanosecond does not cut the chain.
    freed = np.where(before >= 0, tasks["end_ns"][before], begin)
    start, end, rank = np.maximum(tasks["start_ns"], freed), tasks["end_ns"], tasks["rank"]
    n_overlapping = int((start > tasks["start_ns"]).sum())
    is_met = tasks["match_id"] >= 0
    waited = _waited_for(tasks)
    is_split = waited >= 0
    # A call that waits is two nodes: until it waits, and after what it waited for has ended.
    back = np.where(is_split, np.clip(end[np.maximum(waited, 0)], start, end), end)
    first_end = np.where(is_split | is_met, start, end)
    head = nodes.add(tasks["number"], TASK, rank, start, first_end)
    tail = head.copy()
    (split,) = np.nonzero(is_split)
    tail[split] = nodes.add(split, RETURN, rank[split], back[split], end[split], waited[split])
    nodes.link(head[split], tail[split], SYNC)
    full = _full(tasks)
    for source, target in _all_waited_for(tasks, split, waited):
        is_full = np.isin(target, full)
        nodes.link(tail[source[~is_full]], tail[target[~is_full]], SYNC)
        nodes.link(tail[source[is_full]], tail[target[is_full]], INFERRED)
    (met,) = np.nonzero(is_met)
    joint, last = _meet(nodes, tasks, met, head, start)
    # Clocks of ranks drift: a rank that was to see the last one come before that began by the job's clock waits for it.
    meet = np.clip(np.maximum(tasks["last_ns"][met], start[last]), start[met], end[met])
    tail[met] = nodes.add(met, RETURN, rank[met], meet, end[met], last)
    nodes.link(joint, tail[met], ARRIVAL)
    nodes.link(head[met], tail[met], ARRIVAL)
    (follows,) = np.nonzero(before >= 0)
    on_device = tasks["class"] == 0
    for kind, chosen in ((STREAM, follows[on_device[follows]]), (THREAD, follows[~on_device[follows]])):
        nodes.link(tail[before[chosen]], head[chosen], kind)
    call = places(tasks["call_id"], tasks["launch_id"])
    (launched,) = np.nonzero(call >= 0)
    nodes.link(head[call[launched]], head[launched], LAUNCH)
    nodes.link(tail[events["source"]], head[events["target"]], EVENT)
    source, target = _handoffs(tasks, before)
    nodes.link(tail[source], head[target], HANDOFF)
    known = np.maximum(np.where(before >= 0, end[before], begin), np.where(call >= 0, end[call], begin))
    np.maximum.at(known, events["target"], end[events["source"]])
    source, target = _inferred(tasks, known)
    nodes.link(tail[source], head[target], INFERRED)
    return _ordered(nodes, begin, finish, n_overlapping)


def places(ids: Ints, sought: Ints) -> Ints:
    """Return the position of each sought id in `ids`, -1 where it is not."""
    if not len(ids):
        return np.full(len(sought), -1)
    order = np.argsort(ids, kind="stable")
    at = np.minimum(np.searchsorted(ids, sought, sorter=order), len(ids) - 1)
    return np.where((sought >= 0) & (ids[order[at]] == sought), order[at], -1)


def _before_on_lane(tasks: Mapping[str, Ints]) -> Ints:
    """The earlier task on each one's lane that ends last, if it ends before this one does; -1 for none.

    What begins and ends while another one runs is beside it; so is all that overlaps where no stream is recorded."""
    order = np.lexsort((tasks["number"], tasks["lane"]))
    before, end = np.full(len(order), -1), tasks["end_ns"][order]
    if not len(order):
        return before
    lane = tasks["lane"][order]
    keys = lane * (int(end.max()) - min(int(end.min()), 0) + 1) + end
    latest = np.maximum.accumulate(np.where(keys == np.maximum.accumulate(keys), np.arange(len(order)), 0))
    before[order[1:]] = np.where(lane[1:] == lane[latest[:-1]], order[latest[:-1]], -1)
    has_ended = tasks["end_ns"][before] <= tasks["start_ns"]
    is_ahead = (tasks["end_ns"][before] < tasks["end_ns"]) & (tasks["tid"] >= 0)
    return np.where((before >= 0) & (has_ended | is_ahead), before, -1)


def _last_ended(tasks: Mapping[str, Ints], among: Ints, at: Ints, rank: Ints) -> Ints:
    """Return the task of this rank `among` those that was the last to end until `at`; -1 for none."""
    if not len(among):
        return np.full(len(at), -1)
    order = among[np.lexsort((tasks["end_ns"][among], tasks["rank"][among]))]
    # Rank and time as one number: ranks are few, and times of a window fit 50 bits.
    low = int(min(tasks["start_ns"].min(), at.min())) if len(at) else 0
    span = int(tasks["end_ns"].max()) - low + 2
    keys = tasks["rank"][order] * span + (tasks["end_ns"][order] - low)
    place = np.searchsorted(keys, rank * span + np.clip(at - low, 0, span - 1), side="right") - 1
    found = order[np.maximum(place, 0)]
    return np.where((place >= 0) & (tasks["rank"][found] == rank), found, -1)


def _waited_for(tasks: Mapping[str, Ints]) -> Ints:
    """For each call that waits for the device what it waited for; -1 for none, and for what does not wait."""
    waited = np.full(len(tasks["number"]), -1)
    (device,) = np.nonzero(tasks["class"] == 0)
    (calls,) = np.nonzero(tasks["is_sync"] == 1)
    streams = tasks["sync_stream"]
    for stream in sorted(set(streams[calls].tolist())):
        chosen = calls[streams[calls] == stream]
        among = device if stream < 0 else device[tasks["tid"][device] == stream]
        waited[chosen] = _last_ended(tasks, among, tasks["end_ns"][chosen], tasks["rank"][chosen])
    full = _full(tasks)
    waited[full] = _last_ended(tasks, device, tasks["end_ns"][full], tasks["rank"][full])
    # What a call put on the device ended before the call did: a copy that blocks.
    call = places(tasks["call_id"], tasks["launch_id"])
    (blocking,) = np.nonzero((call >= 0) & (tasks["end_ns"] <= tasks["end_ns"][call]))
    waited[call[blocking]] = blocking
    (found,) = np.nonzero(waited >= 0)
    has_waited = tasks["end_ns"][waited[found]] > tasks["start_ns"][found]
    waited[found[~has_waited]] = -1
    return waited


def _full(tasks: Mapping[str, Ints]) -> Ints:
    """Calls that launch and last long while the device has much left to do: they wait for room in its queue."""
    is_long = tasks["end_ns"] - tasks["start_ns"] > UNEXPLAINED_NS
    (found,) = np.nonzero(is_long & (tasks["queued_ns"] > QUEUED_NS) & (tasks["is_sync"] == 0))
    return found


def _all_waited_for(tasks: Mapping[str, Ints], split: Ints, waited: Ints) -> list[tuple[Ints, Ints]]:
    """Return the tasks that waiting calls waited for: the last to end; of the whole device that of every stream."""
    found = [(waited[split], split)]
    whole = split[(tasks["is_sync"][split] == 1) & (tasks["sync_stream"][split] < 0)]
    lanes = tasks["lane"]
    for lane in sorted(set(lanes[tasks["class"] == 0].tolist())) if len(whole) else []:
        (among,) = np.nonzero(lanes == lane)
        last = _last_ended(tasks, among, tasks["end_ns"][whole], tasks["rank"][whole])
        known = (last >= 0) & (last != waited[whole])
        found.append((last[known], whole[known]))
    return found


def _meet(nodes: _Nodes, tasks: Mapping[str, Ints], met: Ints, head: Ints, start: Ints) -> tuple[Ints, Ints]:
    """All ranks' arrivals lead to one node per collective. For each of their tasks that node, and who came last."""
    matches, of = np.unique(tasks["match_id"][met], return_inverse=True)
    last = np.zeros(len(matches), np.int64)
    order = np.argsort(start[met], kind="stable")
    last[of[order]] = met[order]
    at = start[last]
    joint = nodes.add(np.full(len(matches), -1), MEET, tasks["rank"][last], at, at, last)
    nodes.link(head[met], joint[of], ARRIVAL)
    return joint[of], last[of]


def _handoffs(tasks: Mapping[str, Ints], before: Ints) -> tuple[Ints, Ints]:
    """Link a task after an idle host thread to the last one that ended on another thread, as if it had waited."""
    (host,) = np.nonzero(tasks["class"] > 0)
    idle_from = np.where(before >= 0, tasks["end_ns"][before], np.iinfo(np.int64).min)
    # A first task has been idle since ever: half of the lowest number, so that nothing overflows.
    idle_from = np.maximum(idle_from, -(2**62))
    (chosen,) = np.nonzero((tasks["class"] == 1) & (tasks["start_ns"] - idle_from > IDLE_NS))
    found = _last_ended(tasks, host, tasks["start_ns"][chosen], tasks["rank"][chosen])
    is_other = (found >= 0) & (tasks["lane"][found] != tasks["lane"][chosen])
    is_later = tasks["end_ns"][found] > idle_from[chosen]
    # Communication by the host is started by what its thread did before.
    (sent,) = np.nonzero(tasks["class"] == 2)
    (own,) = np.nonzero(tasks["class"] == 1)
    starter = _last_ended(tasks, own, tasks["start_ns"][sent], tasks["rank"][sent])
    keep, known = is_other & is_later, starter >= 0
    return np.concatenate([found[keep], starter[known]]), np.concatenate([chosen[keep], sent[known]])


def _inferred(tasks: Mapping[str, Ints], known: Ints) -> tuple[Ints, Ints]:
    """Device work that starts long after all that it is known to wait for, and soon after the end of something else."""
    (device,) = np.nonzero(tasks["class"] == 0)
    late = device[tasks["start_ns"][device] - known[device] > UNEXPLAINED_NS]
    found = _last_ended(tasks, device, tasks["start_ns"][late], tasks["rank"][late])
    is_near = (found >= 0) & (tasks["start_ns"][late] - tasks["end_ns"][found] < UNEXPLAINED_NS)
    is_near &= (tasks["end_ns"][found] > known[late]) & (tasks["lane"][found] != tasks["lane"][late])
    return found[is_near], late[is_near]


def _ordered(nodes: _Nodes, begin: int, finish: int, n_overlapping: int) -> Graph:
    """Nodes by time with a start and an end around them, and of the edges those that lead forward."""
    task, role, rank, start, end, turn = (np.concatenate(column) for column in zip(*nodes.columns, strict=True))
    order = np.lexsort((role, turn, start))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(1, len(order) + 1)
    source, target, kind = (np.concatenate(column) for column in zip(*nodes.edges, strict=True))
    source, target = place[source], place[target]
    n = len(order) + 2

    def framed(values: Ints, first: int, last: int) -> Ints:
        return np.concatenate([[first], values[order], [last]])

    start, end = framed(start, begin, finish), framed(end, begin, finish)
    at_start = (kind == LAUNCH).astype(np.int64)
    available = np.where(at_start == 1, start[source], end[source])
    is_forward = (source < target) & (available <= start[target])
    n_dropped = int((~is_forward).sum())
    source, target, kind = source[is_forward], target[is_forward], kind[is_forward]
    has_edge = np.zeros(n, np.bool_)
    has_edge[target] = True
    (roots,) = np.nonzero(~has_edge[:-1])
    roots = roots[roots > 0]
    leads_on = np.zeros(n, np.bool_)
    leads_on[source] = True
    (leaves,) = np.nonzero(~leads_on[:-1])
    source = np.concatenate([source, np.zeros(len(roots), np.int64), leaves])
    target = np.concatenate([target, roots, np.full(len(leaves), n - 1)])
    kind = np.concatenate([kind, np.full(len(roots) + len(leaves), EDGE)])
    by_target = np.argsort(target, kind="stable")
    source, target, kind = source[by_target], target[by_target], kind[by_target]
    at_start = (kind == LAUNCH).astype(np.int64)
    delay, binding = _bound(start, np.where(at_start == 1, start[source], end[source]), target, kind)
    task, role, rank = framed(task, -1, -1), framed(role, BEGIN, FINISH), framed(rank, -1, -1)
    edges = source, target, kind, delay, at_start, binding
    return Graph(task, role, rank, start, end, *edges, n_dropped, n_overlapping)


def _tenth(values: Ints) -> int:
    """Return the value below which a tenth of them lie. (`np.quantile` loads all of masked arrays, 0.01 s.)"""
    ordered, place = np.sort(values), 0.1 * (len(values) - 1)
    low, high = ordered[int(place)], ordered[min(int(place) + 1, len(values) - 1)]
    return int(low + (high - low) * (place - int(place)))


def _bound(start: Ints, available: Ints, target: Ints, kind: Ints) -> tuple[Ints, Ints]:
    """The delays of edges, and the edge that each node waited for longest: that one has all of the delay, others the
    usual one if that is less. `available`: when each edge's source let it begin."""
    delay = start[target] - available
    usual = np.zeros(len(delay), np.int64)
    # What was there long before it was needed has no delay of its own: a kernel in a queue waits for the queue.
    came_last = np.zeros(len(delay), np.bool_)
    latest = np.lexsort((kind, -delay, target))
    came_last[latest[np.append(target[latest[1:]] != target[latest[:-1]], True)]] = True
    for each in (STREAM, LAUNCH, EVENT):
        chosen = kind == each
        known = chosen & came_last
        if known.any():
            # Of a few waits a tenth may be one whose cause is not known: that is no other one's.
            usual[chosen] = _tenth(delay[known]) if each == LAUNCH else min(_tenth(delay[known]), UNEXPLAINED_NS)
    shortest = np.minimum(delay, usual)
    ready = start[target] - delay + shortest
    # The latest of each node's edges is the last of them when sorted by when they let it begin.
    rows = np.lexsort((kind, ready, target))
    binding = np.full(len(start), -1)
    binding[target[rows]] = rows
    bound = np.zeros(len(delay), np.bool_)
    bound[binding[binding >= 0]] = True
    return np.where(bound, delay, shortest), binding
