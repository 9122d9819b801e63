"""Every table and view says what it is and what its columns mean."""

from __future__ import annotations

import duckdb
import pytest

from traceview.analysis import schema
from traceview.errors import UsageError


def test_schema_explains_views_and_recorded_tables() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA raw")
    connection.execute("CREATE TABLE raw.kernels(id BIGINT, name VARCHAR, dur_ns BIGINT)")
    connection.execute("CREATE VIEW kernels AS SELECT *, 'conv' AS category, dur_ns AS end_ns FROM raw.kernels")
    (section,) = schema.schema(connection).sections
    assert section.name == "kernels" and section.doc.startswith("One kernel on a device stream")
    meanings = {row[0]: (row[1], row[2]) for row in section.rows}
    assert meanings["name"] == ("VARCHAR", "kernel name, as recorded")
    assert meanings["dur_ns"] == ("BIGINT", "duration in nanoseconds, never negative")
    assert "what it does" in meanings["category"][1]
    assert schema.schema(connection, "raw.kernels").sections[0].doc == "As recorded: one kernel on a device stream."
    with pytest.raises(UsageError, match="did you mean kernels"):
        schema.schema(connection, "kernel")
