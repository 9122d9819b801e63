"""A section as an Arrow table or a pandas data frame: exact values, with the meaning of each column beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from traceview.analysis.model import Section
from traceview.analysis.values import plain, unique

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

WHOLE = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "HUGEINT"))
REAL = frozenset(("FLOAT", "DOUBLE"))


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


def pandas(section: Section) -> pd.DataFrame:
    """Return a section as a data frame; whole numbers stay exact where some are missing (`Int64`)."""
    import pandas as pd
    import pyarrow as pa

    table = arrow(section)
    frame = table.to_pandas()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_int64(column.type) and column.null_count:
            frame[name] = pd.array(column.to_pylist(), dtype="Int64")
    return frame


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
