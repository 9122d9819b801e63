"""Facts that a run's collector knew and its trace lacks: what ran between steps, layers of the model, shapes, lines.

Invariant: it comes from `capture.json`, which anyone may have written: what has another form than the collector's is
left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from traceview.ingest.sink import LATEST_NS, Sink
from traceview.sql import of_rows, texts

_sql = texts("ingest/collected")
KINDS = ("parameter", "buffer", "gradient", "optimizer_state")
MOST_HELD = 10_000
"""Tensors of which memory may be noted."""
FACTS = ("shapes", "inputs", "types", "output_shapes")


def add(sink: Sink, about: dict[str, Any]) -> None:
    """Complete the rows of a rank that has been read with what `about`, its part of `capture.json`, says."""
    steps = about.get("steps")
    gaps = [pair for pair in _list(steps.get("between") if isinstance(steps, dict) else None) if _is_gap(pair)]
    if gaps and sink.zero_unix_ns is not None:
        times = [(start - sink.zero_unix_ns, end - sink.zero_unix_ns) for start, end in gaps]
        _keep(sink, "collected_gap", {"start_ns": "BIGINT", "end_ns": "BIGINT"}, times)
        sink.replace("ranges", _sql("steps"))
    layers = [(scope, layer) for scope, layer in _dict(about.get("layers")).items() if isinstance(layer, str)]
    shapes = [
        (node, *(json.dumps(told.get(fact)) for fact in FACTS))
        for node, told in _dict(about.get("convolutions")).items()
        if isinstance(told, dict)
    ]
    graph = _dict(about.get("lines"))
    stacks = {at: text for at, text in enumerate(_list(graph.get("stacks"))) if isinstance(text, str)}
    places = [(node, at) for node, at in _dict(graph.get("nodes")).items() if type(at) is int]
    lines = [(node, stacks[at]) for node, at in places if at in stacks]
    if layers or shapes or lines:
        _keep(sink, "collected_layer", dict.fromkeys(("scope", "layer"), "VARCHAR"), layers)
        _keep(sink, "collected_convolution", dict.fromkeys(("node", *FACTS), "VARCHAR"), shapes)
        _keep(sink, "collected_line", dict.fromkeys(("node", "stack"), "VARCHAR"), lines)
        sink.replace("ops", _sql("ops"))
    noted = _dict(about.get("memory"))
    tensors = {(*row, when) for when in ("start", "end") for row in _list(noted.get(when))[:MOST_HELD] if _is_held(row)}
    if tensors:
        columns = dict.fromkeys(("kind", "label"), "VARCHAR")
        columns |= dict.fromkeys(("device", "address", "size_bytes"), "BIGINT") | {"at": "VARCHAR"}
        _keep(sink, "collected_tensor", columns, sorted(tensors, key=repr))
        sink.replace("allocations", _sql("allocations", first=str(sink.next_id)))
        sink.next_id += len(tensors)


def _is_held(row: Any) -> bool:
    if not isinstance(row, list) or len(row) != 5 or row[0] not in KINDS or not isinstance(row[1], str):
        return False
    is_whole = all(type(number) is int and 0 <= number < 1 << 50 for number in (row[2] or 0, row[4]))
    return is_whole and type(row[3]) is int and 0 < row[3] < 1 << 63


def _is_gap(pair: Any) -> bool:
    if not isinstance(pair, list) or len(pair) != 2 or not all(type(at) is int for at in pair):
        return False
    return bool(0 <= pair[0] <= pair[1] <= LATEST_NS)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _keep(sink: Sink, table: str, columns: dict[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
    query, values = of_rows(columns, rows)
    sink.connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {query}", values)
