"""Writes what a framework's own log says about its layers: average times, without a timeline.

Invariant: a time is the number in the log, converted through its decimal digits; no row gets a place in time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from traceview.decode.files import Stream
from traceview.decode.text_lines import Lines
from traceview.ingest.sink import Sink

NO_TIMELINE = "a log of average times has no timeline: its rows are in the view `layer_times`"
MAX_ROWS = 1_000_000
SECONDS = {"s": 9, "ms": 6, "us": 3, "ns": 0}


@dataclass(frozen=True)
class LayerTime:
    """The average time of a layer in one direction; without a layer that of the whole network."""

    ns: int | None
    direction: str | None
    """forward, backward, backward_data, backward_filter, forward_backward; None where the log does not tell."""
    layer: str | None = None
    n: int | None = None
    """Calls that the average is of."""
    type: str | None = None
    impl: str | None = None
    network: str | None = None
    deviation_ns: int | None = None
    workspace: str | None = None
    shape: str | None = None
    """Shape of a convolution, as traceview writes layers: 64x3x227x227 k96 11x11 s4."""


@dataclass
class LayerLog:
    """A log that is being read: its lines that matter, and the rows found in it."""

    stream: Stream
    sink: Sink
    run: int = 0
    """Counts the programs whose output the log holds."""
    rows: list[dict[str, Any]] = field(default_factory=list)

    def lines(self, pattern: str) -> Iterator[str]:
        """The lines in which a pattern is found, with their ends off; what is wrong with the file is reported."""
        lines = Lines(self.stream)
        for batch in lines:
            yield from pc.filter(batch, pc.match_substring_regex(batch, pattern)).to_pylist()
        lines.report(self.sink.problem)

    def add(self, time: LayerTime, category: str = "layer_time") -> None:
        """Keep one average; a time that could not be read is counted."""
        if time.ns is None:
            self.sink.count("n_events", 1)
            self.sink.count("n_dropped", 1)
            self.sink.problem("times that cannot be read")
        else:
            self.add_row(category, time.layer, asdict(time))

    def add_row(self, category: str, name: str | None, args: dict[str, Any]) -> None:
        """Keep any row, with the file it comes from and the run it belongs to."""
        self.sink.count("n_events", 1)
        if len(self.rows) >= MAX_ROWS:
            self.sink.count("n_dropped", 1)
            self.sink.problem(f"more than {MAX_ROWS} rows in one log")
            return
        self.sink.count("n_kept", 1)
        facts = {"source": self.stream.path.name, "run": max(self.run, 1), **args}
        self.rows.append({"category": category, "name": name, "args": json.dumps(facts)})

    def add_steps(self, steps: list[tuple[str, int, int]]) -> None:
        """Write the steps that a collector saw, as (number, start, duration): the only times with a place."""
        rows = [{"kind": "step", "name": name, "start_ns": start, "dur_ns": ns} for name, start, ns in steps]
        self.sink.write_rows("ranges", rows)
        if rows:
            self.sink.zero_unix_ns = 0
            self.sink.fact(clock="wall clock of the steps; average times have no place in time")

    def close(self) -> None:
        """Write the rows. The log is of one process."""
        if self.rows:
            schema = pa.schema([(name, pa.string()) for name in ("category", "name", "args")])
            self.sink.write("events", pa.Table.from_pylist(self.rows, schema=schema))
            self.sink.fact(clock=NO_TIMELINE)
        self.sink.write_rows("ranks", [{"world_size": None, "host": None}])


def ns(number: str, unit: str) -> int | None:
    """Nanoseconds of a decimal number, exactly; None for what is none or negative. Units: s, ms, us, ns."""
    try:
        value = Decimal(number)
        exact = value.scaleb(SECONDS[unit])
        # A number of this size is not a time, and would fill the memory with digits.
        return int(exact.to_integral_value(ROUND_HALF_EVEN)) if exact.is_finite() and 0 <= exact < 10**18 else None
    except ArithmeticError:
        return None


def whole(number: str | None) -> int | None:
    """A count, None where the text is not a number or absurdly long."""
    return int(number) if number is not None and re.fullmatch(r"\d{1,18}", number) else None
