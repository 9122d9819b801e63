"""Small captures from rows that read aloud: given these rows, expect those. Times are in microseconds.

They go the way of any trace: through the sink, `derive` and the files of a capture.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from asked import ONE, connected
from asked import rows as rows

from traceview import sql
from traceview.ingest.finish import Export, finish
from traceview.ingest.sink import Sink
from traceview.paths import content
from traceview.store.staging import Stages

US = 1000
STAGES = Stages()
"""Small ranks in turn, as those of a job are read."""
Shape = Sequence[int]


class Given:
    """One process; `open` makes it a capture. Every method returns self's running correlation where that matters."""

    def __init__(self, rank: int = 0) -> None:
        self.rank = rank
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.about: dict[str, Any] = {}
        """Facts that `traceview collect` would note about this process."""
        self.command: list[str] | None = None
        self.correlation = 0
        self.host: str | None = None
        self.groups: Sequence[Sequence[int]] = ()
        """Process groups that this process is in, by their ranks."""
        self.origin_unix_ns: int | None = None
        """The wall clock at time 0."""

    def add(self, table: str, **row: Any) -> None:
        """Any row as it is."""
        self.rows.setdefault(table, []).append(row)

    def device(self, name: str, **facts: Any) -> None:
        self.add("devices", **{"device": 0, "name": name, "kind": "gpu", **facts})

    def span(self, kind: str, name: str, start: float, end: float) -> None:
        """A range: step, module, phase."""
        self.add("ranges", kind=kind, name=name, pid=1, tid=1, **_time(start, end))

    def op(
        self,
        name: str,
        start: float,
        end: float,
        tensors: Sequence[Shape] = (),
        values: Sequence[Any] = (),
        dtype: str = "float",
    ) -> None:
        """An operator with the shapes of its inputs and, where they are not tensors, their values."""
        facts: dict[str, Any] = {}
        if tensors:
            facts = {
                "shapes": json.dumps([list(shape) for shape in tensors]),
                "types": json.dumps([dtype if shape else "" for shape in tensors]),
                "inputs": json.dumps([str(value) for value in values]),
            }
        self.add("ops", name=name, pid=1, tid=1, **_time(start, end), **facts)

    def launch(self, at: float | None, name: str = "cudaLaunchKernel", lasting: float = 1) -> int:
        """A call that puts something on the device; without a time only its number."""
        self.correlation += 1
        if at is not None:
            call = {"name": name, "kind": "runtime", "correlation": self.correlation, "pid": 1, "tid": 1}
            self.add("api_calls", **call, **_time(at, at + lasting))
        return self.correlation

    def kernel(self, name: str, start: float, end: float, launched: float | None = None, **facts: Any) -> None:
        row = {"device": 0, "stream": 7, "name": name, "correlation": self.launch(launched), **facts}
        self.add("kernels", **row, **_time(start, end))

    def copy(self, direction: str, start: float, end: float, launched: float | None = None, **facts: Any) -> None:
        number = self.launch(launched, "cudaMemcpyAsync")
        row = {"device": 0, "stream": 7, "name": f"Memcpy {direction}", "direction": direction, "correlation": number}
        self.add("memcpys", **{**row, **facts}, **_time(start, end))

    def call(self, name: str, start: float, end: float) -> None:
        """A call of the runtime that puts nothing on the device."""
        self.add("api_calls", name=name, kind="runtime", pid=1, tid=1, **_time(start, end))

    def primitive(self, kind: str, start: float, end: float, **facts: Any) -> None:
        """A call into oneDNN."""
        row = {"kind": kind, "library": "oneDNN 3.12.0", "impl": "jit:avx512_core", **facts}
        self.add("primitives", **row, **_time(start, end))

    def collective(self, name: str, start: float, end: float, **facts: Any) -> None:
        """A collective that a CPU runs: name, kind, size_bytes, group_size."""
        self.add("collectives", name=name, **facts, **_time(start, end))

    def open(self, folder: Path) -> duckdb.DuckDBPyConnection:
        """The capture of these rows."""
        write(folder, self)
        return connected(folder)


def write(folder: Path, *ranks: Given, world_size: int | None = None) -> None:
    """A capture of one or several processes, of a job of as many or of more."""
    for given in ranks:
        with STAGES.open(folder, ONE, 0) as connection:
            sink = Sink(connection)
            sink.rank = given.rank
            groups = [{"pg_size": len(group), "ranks": list(group)} for group in given.groups]
            row = {"world_size": world_size or len(ranks), "pid": 1, "host": given.host}
            sink.write_rows("ranks", [{**row, "process_groups": json.dumps(groups) if groups else None}])
            for table, rows in given.rows.items():
                # The columns of all rows: those that only later rows have would be lost.
                names = dict.fromkeys(name for row in rows for name in row)
                sink.write_rows(table, [{name: row.get(name) for name in names} for row in rows])
            sink.fact(source="given", format="given", n_kept=1, n_events=1)
            if given.about or given.command:
                noted = [{"rank": given.rank, **given.about}] if given.about else []
                sink.fact(options=json.dumps({"command": given.command, "ranks": noted}))
            sink.end_source()
            finish(Export(sink, folder / f"rank-{given.rank:04d}", origin_unix_ns=given.origin_unix_ns))


def conv(
    given: Given,
    at: float,
    x: Shape,
    w: Shape,
    stride: int = 1,
    padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int = 1,
    dtype: str = "float",
) -> None:
    """A forward convolution as PyTorch records it, 10 microseconds long."""
    bias, dims = [w[0]], len(w) - 2
    paddings = [padding] * dims if isinstance(padding, int) else list(padding)
    values = ["", "", "", [stride] * dims, paddings, [dilation] * dims, False, [0] * dims, groups]
    given.op("aten::convolution", at, at + 10, [x, w, bias, (), (), (), (), (), ()], values, dtype)


def conv_backward(given: Given, at: float, x: Shape, w: Shape, y: Shape, stride: int = 1, padding: int = 0) -> None:
    """Its gradient, 10 microseconds long."""
    values = ["", "", "", [w[0]], [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, [True, True, True]]
    given.op("aten::convolution_backward", at, at + 10, [y, x, w, *[()] * 8], values)


def _time(start: float, end: float) -> dict[str, int]:
    return {"start_ns": round(start * US), "dur_ns": round((end - start) * US)}


def section(connection: duckdb.DuckDBPyConnection, name: str, **params: Any) -> list[dict[str, Any]]:
    """The rows of one section of a report (`copies/small`), each by its columns."""
    query = sql.load(content("queries") / f"{name}.sql")
    return [dict(zip(query.columns, row, strict=True)) for row in query.run(connection, params)]


def pick(found: list[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of rows."""
    return [tuple(row[column] for column in columns) for row in found]
