"""An answer in Python: prints as a table, shows as HTML in a notebook, and gives its sections as data frames.

Invariant: text of a trace is shown and never obeyed: every character that HTML would act on is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from traceview.analysis.model import Report, Section
from traceview.analysis.values import plain, unique
from traceview.errors import UsageError, meant
from traceview.render import for_people

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from traceview.render.plot import Plot

ROWS = 30
"""Rows of a section that are shown; data frames hold all."""
WHOLE = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "HUGEINT"))
REAL = frozenset(("FLOAT", "DOUBLE"))


class Answer:
    """A report, advice, a comparison or a part of one: `answer["section"]` is an answer too.

    `data` holds all of it as plain data; `shown` is what people see of it.
    """

    def __init__(self, data: Report, shown: Report | None = None) -> None:
        self.data = data
        self.shown = shown or data

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of its tables, in order."""
        return tuple(section.name for section in self.data.sections)

    def __getitem__(self, name: str) -> Answer:
        section = self._section(name)
        return Answer(Report(section.name, "", "", (section,), ()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.sections)

    def __len__(self) -> int:
        return len(self.data.sections)

    def to_pandas(self, section: str | None = None) -> pd.DataFrame:
        """A table as a data frame: the section of that name, else the first one. Exact values, all rows."""
        import pandas as pd
        import pyarrow as pa

        table = self.to_arrow(section)
        frame = table.to_pandas()
        for name, column in zip(table.column_names, table.columns, strict=True):
            # Whole numbers stay exact where some are missing.
            if pa.types.is_int64(column.type) and column.null_count:
                frame[name] = pd.array(column.to_pylist(), dtype="Int64")
        return frame

    def to_arrow(self, section: str | None = None) -> pa.Table:
        """A table as an Arrow table: the section of that name, else the first one. Exact values, all rows."""
        return arrow(self._section(section))

    def plot(self, section: str | None = None) -> Plot:
        """A chart: of the section of that name, else of the first one that says how it is drawn, else of the first.

        It is the chart of the page; `.save("x.svg")` writes it, and `.save("x.png")` with the extra `plot`. Raises
        `UsageError` where there is nothing to draw.
        """
        from traceview.render import plot

        drawn = next((each.name for each in self.data.sections if plot.is_drawn(each)), None)
        return plot.plot(self._section(section or drawn))

    def _section(self, name: str | None) -> Section:
        for section in self.data.sections:
            if name in (None, section.name):
                return section
        raise UsageError(
            f"there is no section {name!r}; {meant(str(name), self.sections)}The sections are: "
            f"{', '.join(self.sections)}."
        )

    def _brief(self) -> Report:
        """Return the report for people, with at most `ROWS` rows of each table."""
        totals = {section.name: len(section.rows) for section in self.data.sections}
        sections = (_shortened(section, totals.get(section.name)) for section in self.shown.sections)
        return replace(self.shown, sections=tuple(sections))

    def __repr__(self) -> str:
        from traceview.render import table

        return table.render(self._brief()).rstrip("\n")

    def _repr_html_(self) -> str:
        from traceview.render import page

        form = (files("traceview.render") / "notebook.html").read_text(encoding="utf-8")
        return page.environment().from_string(form).render(report=for_people(self._brief()))


def _shortened(section: Section, total: int | None) -> Section:
    """At most `ROWS` rows, or those that a limit left, with a note of where all are."""
    if len(section.rows) > ROWS and not section.unseen:
        section = replace(section, rows=section.rows[:ROWS], unseen=section.rows[ROWS:])
    if not section.unseen:
        return section
    more = (
        f"to_pandas({section.name!r}) has all {total:,} rows." if total else f"{len(section.unseen):,} rows left out."
    )
    return replace(section, note=more)


def arrow(section: Section) -> pa.Table:
    """The rows of a section. The field of a column says in its metadata what the column means (`doc`)."""
    import pyarrow as pa

    names = unique([column.name for column in section.columns])
    columns = zip(*section.rows, strict=True) if section.rows else [() for _ in names]
    arrays = [_array(column.type, values) for column, values in zip(section.columns, columns, strict=True)]
    fields = [
        pa.field(name, array.type, metadata={"doc": column.doc})
        for name, column, array in zip(names, section.columns, arrays, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema(fields))


def _array(type_: str, values: Any) -> pa.Array:
    """Values of a DuckDB type; what has no plain type of Arrow becomes text."""
    import pyarrow as pa

    base = type_.partition("(")[0]
    if base in WHOLE:
        try:
            return pa.array(values, pa.int64())
        except (OverflowError, pa.ArrowInvalid):
            return pa.array(values, pa.decimal128(38, 0))
    if base in REAL or base == "DECIMAL":
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if base == "BOOLEAN":
        return pa.array(values, pa.bool_())
    if type_ == "VARCHAR[]":
        return pa.array([None if value is None else list(value) for value in values], pa.list_(pa.string()))
    if type_.endswith("[]") and values:
        return pa.array([plain(value) for value in values])
    return pa.array([None if value is None else str(plain(value)) for value in values], pa.string())
