"""traceview: any profiler trace as the same few tables, queried with DuckDB SQL.

import traceview
traceview.report("trace.json.gz", "conv")         # a table; .to_pandas(), .to_arrow()
traceview.advise("trace.json.gz")
traceview.compare("old.json.gz", "new.json.gz")
trace = traceview.open("trace.json.gz")
trace.sql("SELECT name, sum(dur_ns) FROM kernels GROUP BY ALL ORDER BY 2 DESC").df()
with traceview.record() as run:                   # PyTorch in this process; run.step() ends a step
    train()
run.overview
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    import duckdb

    from traceview.render.notebook import Answer

    Input = str | PathLike[str]

__version__ = "0.1.0"
__all__ = ["Trace", "__version__", "advise", "compare", "convert", "open", "record", "report"]


def __getattr__(name: str) -> Any:
    """`traceview.schedule.apply(model, plan)`: what needs PyTorch is imported when it is asked for."""
    if name == "schedule":
        from importlib import import_module

        return import_module("traceview.convolution.runtime")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def convert(inputs: Input | Sequence[Input], capture: Input, *, jobs: int | None = None) -> Path:
    """Read trace files, or folders of them, into a new capture folder and return its path.

    `jobs`: traces that are read at a time, in processes of this machine; a script then needs its
    `if __name__ == "__main__":`. Left out, this process reads one after the other. Raises
    `traceview.errors.TraceviewError` with a sentence that says what to do.
    """
    from traceview import store
    from traceview.errors import named

    return store.convert([named(path) for path in _listed(inputs)], named(capture, "capture"), _options(jobs))


def _listed(given: Input | Sequence[Input]) -> list[Input]:
    """One path or several, as a list. Raises `UsageError` where it is empty."""
    from collections.abc import Iterable

    from traceview.errors import UsageError

    paths = list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else [given]
    if not paths:
        raise UsageError("an empty list names no trace; give one path or several.")
    return paths


def _options(jobs: int | None) -> Any:
    from importlib import import_module

    from traceview.store import Options

    # By name: modules that ask for the version are not to rest on it.
    return Options(many=import_module("traceview.fleet").Fleet(jobs)) if jobs and jobs > 1 else Options()


def open(path: Input, *, jobs: int | None = None) -> Trace:  # noqa: A001
    """A capture, a trace file or a folder of traces, ready to be asked: a DuckDB connection with the public views.

    A trace is converted on the way, into a cache beside it; `jobs` as for `convert`. Times are nanoseconds; see
    `traceview sql PATH .schema`.
    The connection is confined: it reads the capture, makes tables in memory, and sees no other file of the machine.
    Raises `traceview.errors.InputError` for what cannot be read.
    """
    from traceview import store
    from traceview.errors import named

    return Trace(store.open_capture(named(path), _options(jobs)), named(path).name)


def record() -> Any:
    """Record what PyTorch does in a `with` block: `run.step()` ends a step, and after the block `run` is what `open`
    returns. Raises `UsageError` where torch is not imported.
    """
    from importlib import import_module

    return import_module("traceview.recording.cell").Recording(open)


def report(trace: Input | Trace, name: str = "overview", *, admissible: bool = False, **params: object) -> Answer:
    """One report (`traceview list reports`). `params` are those of its queries (`traceview report X NAME --show-sql`).

    `admissible`: with "conv", also which algorithms each layer could use. Raises `traceview.errors.TraceviewError`.
    """
    from traceview.analysis import findings, reports
    from traceview.render.notebook import ROWS, Answer

    options = ["admissible"] if admissible else []
    recipe = reports.load(name, options)
    values = reports.texts(params, [recipe])
    with _connected(trace) as connection:
        done = reports.run(connection, name, values, options, best=findings.best)
    return Answer(done, reports.shown(done, ROWS))


def advise(trace: Input | Trace, *rules: str, at_least_pct: float = 0.5, **params: object) -> Answer:
    """Find changes worth making, with the upper bound of what each saves per step; all rules where none is named.

    The data frame has one row per rule, found or not (`status`). Raises `traceview.errors.TraceviewError`.
    """
    from traceview.analysis import advice, findings, reports
    from traceview.render.notebook import Answer

    chosen = advice.load(rules)
    values = reports.texts(params, [reports.Recipe("advice", "", "", tuple(chosen))])
    with _connected(trace) as connection:
        answers = findings.run(connection, chosen, values, at_least_pct)
    return Answer(findings.exact(answers), findings.for_people(answers))


def compare(*runs: Input | Sequence[Input], accept: Iterable[str] = ()) -> Answer:
    """Runs side by side, each compared with the first; a list is several recordings of one run.

    `accept`: conditions that may differ (model, batch, precision, passes, work).
    Raises `traceview.errors.TraceviewError`.
    """
    from traceview.analysis import compare as comparing
    from traceview.analysis.compare import Run
    from traceview.errors import UsageError, named
    from traceview.render.notebook import Answer

    def measured(path: Input, whole: bool) -> Run:
        with _connected(path) as connection:
            return comparing.measure(connection, named(path).name, None, whole or not comparing.has_steps(connection))

    if len(runs) < 2:
        raise UsageError("name at least two runs to compare.")
    measures, whole = comparing.measures([_listed(run) for run in runs], measured)
    done = comparing.compare(measures, accept, whole)
    return Answer(done, comparing.in_words(done))


class Trace:
    """An opened trace: what DuckDB's connection has (`sql`, `execute` ...), `report` and `advise`.

    `connection` is the connection itself.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str) -> None:
        self.connection = connection
        self.name = name
        self._summary: Answer | None = None

    def sql(self, query: str, **options: Any) -> duckdb.DuckDBPyRelation:
        """A query over the tables and views of the trace; `.df()` or `.arrow()` gives its rows."""
        return self.connection.sql(query, **options)

    def report(self, name: str = "overview", *, admissible: bool = False, **params: object) -> Answer:
        """See `traceview.report`."""
        return report(self, name, admissible=admissible, **params)

    def advise(self, *rules: str, at_least_pct: float = 0.5, **params: object) -> Answer:
        """See `traceview.advise`."""
        return advise(self, *rules, at_least_pct=at_least_pct, **params)

    @property
    def overview(self) -> Answer:
        """The report of that name."""
        return self.report()

    def page(
        self, path: Input, step: int | None = None, steps: int | str | None = None, events: int = 1_000_000
    ) -> None:
        """Write the page of `traceview page` to a file, with its options."""
        from traceview.analysis import page
        from traceview.errors import named, writing
        from traceview.render.page import render

        file = named(path, "page")
        text = render(page.gather(self.connection.cursor(), self.name, events, step, steps), __version__)
        with writing(str(file)):
            file.write_text(text, encoding="utf-8")

    def export(self, path: Input, rank: int | None = None, step: int | None = None) -> None:
        """Write the timeline for another tool, which the name of the file says (`traceview export`)."""
        from importlib import import_module
        from pathlib import Path

        from traceview.errors import UsageError, writing

        exports = import_module("traceview.exports")
        form = exports.of_file(str(path))
        if form is None:
            endings = ", ".join(exports.exporter(name).EXTENSION for name in exports.FORMATS)
            raise UsageError(f"name a file that ends in {endings}.")
        exporter, connection = exports.exporter(form), self.connection.cursor()
        if not exporter.choose(connection, rank, step):
            raise UsageError("this trace has no timeline to export.")
        with writing(str(path)), Path(path).open("wb") as file:
            file.writelines(exporter.pieces(connection))

    def summary(self) -> Answer:
        """Sum up the trace: framework, devices, ranks, steps, rows."""
        if self._summary is None:
            from traceview.analysis import reports
            from traceview.render.notebook import Answer

            self._summary = Answer(reports.summary(self.connection, self.name))
        return self._summary

    def __getattr__(self, name: str) -> Any:
        # Python asks for these of any object, also of one that is not whole yet.
        if name.startswith("__") or name == "connection":
            raise AttributeError(name)
        return getattr(self.connection, name)

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *rest: object) -> None:
        self.connection.close()

    def __repr__(self) -> str:
        return self._shown("__repr__")

    def _repr_html_(self) -> str:
        return self._shown("_repr_html_")

    def _shown(self, how: str) -> str:
        """The summary; that it is closed, where it is."""
        import duckdb

        try:
            self.connection.execute("SELECT 1")
        except duckdb.ConnectionException:
            return f"{self.name} (closed)"
        return str(getattr(self.summary(), how)())


@contextmanager
def _connected(trace: Input | Trace) -> Iterator[duckdb.DuckDBPyConnection]:
    """The connection of an opened trace, or one that lasts as long as the question."""
    from traceview import sql, store
    from traceview.errors import named

    connection = trace.connection if isinstance(trace, Trace) else store.open_capture(named(trace))
    try:
        yield connection
    except sql.unreadable_kinds() as error:
        raise sql.unreadable(error) from error
    finally:
        if not isinstance(trace, Trace):
            connection.close()
