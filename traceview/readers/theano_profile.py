"""Theano's profile: time per apply node, operation and class of operations of every compiled function.

Capture with `THEANO_FLAGS=profile=True,profiling.n_apply=1000 python train.py 2> theano.txt`; format:
`theano/compile/profiling.py` in https://github.com/Theano/Theano. Apply nodes become `layer_times` with the direction
that the operation's name tells; operations, classes and what compiling took become `summaries`. Theano prints the top
20 unless told otherwise; what it left out stands in the capture's warnings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from traceview.decode.files import Peek, Stream
from traceview.ingest.layer_times import LayerLog, LayerTime, ns, whole
from traceview.ingest.sink import Sink

NAME = "theano_profile"
TITLE = "Theano profile text"
HOW = "THEANO_FLAGS=profile=True,profiling.n_apply=1000 python train.py 2> theano.txt"

_LABELS = re.compile(r"^\s*<% ?time> .*<(Class|Op|Apply) name>")
_ROW = re.compile(r"^\s*[\d.]+%\s+[\d.]+%\s+\S+s\s")
_MESSAGE = re.compile(r"^\s*Message: (.*\S)")
_CALLS = re.compile(r"Time in (\d+) calls to Function\.__call__: (\S+)s")
_COMPILING = re.compile(r"^\s*(Total compile|Theano Optimizer|Theano Linker) time[^:]*: (\S+)s")
_LEFT_OUT = re.compile(r"\.\.\. \(remaining ([1-9]\d*) (?:Classes|Ops|Apply instances) account for.*\)")
_LINES = (
    r"^\s*<% ?time> |^\s*[\d.]+%\s+[\d.]+%\s+\S+s\s|^\s*Message: |calls to Function\.__call__: |\.\.\. \(remaining |"
    r"^\s*(?:Total compile|Theano Optimizer|Theano Linker) time|"
    r"^\s*(?:Function|Scan Op) profiling"
)
_OPERATION = re.compile(r"[^({<]*(?:\{(?:[^{}]|\{[^{}]*\})*\})?")
"""An operation before its inputs, with its parameters in braces."""
_DIRECTIONS = (
    (re.compile(r"(?i)conv.*grad_?w|gradweights"), "backward_filter"),
    (re.compile(r"(?i)conv.*grad_?i|gradinputs"), "backward_data"),
    (re.compile(r"(?i)grad|dx$"), "backward"),
    (re.compile(r"(?i)conv|corrmm|(?<!down)pool|softmax|downsample"), "forward"),
)


@dataclass
class _Table:
    """The table that rows now belong to: what a row is, and what its columns are."""

    what: str = ""
    columns: list[str] = field(default_factory=list)


def sniff(peek: Peek) -> bool:
    """The heading of one of Theano's tables."""
    return bool(re.search(rb"(?m)^[ \t]*<% ?time> <sum ?%> <apply time> .*<(?:Class|Op|Apply) name>", peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Keep every row of the three tables of every function."""
    log = LayerLog(stream, sink)
    network: str | None = None
    table = _Table()
    for line in log.lines(_LINES):
        if re.match(r"\s*(?:Function|Scan Op) profiling", line):
            log.run, network, table = log.run + 1, None, _Table()
        elif found := _MESSAGE.match(line):
            network = found[1]
        elif found := _LABELS.match(line):
            table = _Table(found[1], re.findall(r"<([^>]*)>", line))
        elif found := _CALLS.search(line):
            n, total = whole(found[1]), ns(found[2], "s")
            average = total // n if n and total is not None else total
            log.add(LayerTime(average, None, n=n, network=network))
        elif found := _COMPILING.match(line):
            facts = {"section": "Compiling", "scope": None, "network": network, "calls": 1}
            log.add_row("summary", found[1].removeprefix("Theano "), {**facts, "total_ns": ns(found[2], "s")})
        elif (found := _LEFT_OUT.search(line)) and table.what == "Apply":
            sink.warnings.append(f"Theano left out {found[1]} apply nodes of {network or 'a function'}: {line.strip()}")
        elif _ROW.match(line) and table.columns:
            _add_row(log, table, line, network)
    log.close()
    sink.fact(tool="Theano profile", framework="Theano")


def _add_row(log: LayerLog, table: _Table, line: str, network: str | None) -> None:
    cells = line.split(None, len(table.columns) - 1)
    row = dict(zip(table.columns, cells, strict=False))
    name = row.get(f"{table.what} name", "").strip()
    n = whole(row.get("#call"))
    if not name:
        log.add(LayerTime(None, None))
    elif table.what == "Apply":
        operation = _OPERATION.match(name)
        kind = operation[0] if operation else name
        direction = next((way for pattern, way in _DIRECTIONS if pattern.search(kind.split("{")[0])), None)
        per_call = ns(row.get("time per call", "").removesuffix("s"), "s")
        log.add(LayerTime(per_call, direction, name, n, kind, network=network))
    else:
        total = ns(row.get("apply time", "").removesuffix("s"), "s")
        average = ns(row.get("time per call", "").removesuffix("s"), "s")
        section = "Ops" if table.what == "Op" else "Classes"
        args = {"section": section, "scope": None, "network": network, "calls": n, "total_ns": total, "avg_ns": average}
        log.add_row("summary", name, args)
