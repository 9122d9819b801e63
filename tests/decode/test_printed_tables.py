"""Places and units of columns, from a header."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from traceview.decode.printed_tables import Header, register

NAMES = {"Start": "start", "Size": "size", "Bytes": "size", "Name": "name"}


def test_places_and_units() -> None:
    header = Header(("Name", "Start", "Bytes"), True, ("", "ms"))
    assert header.places(NAMES).to_pylist() == [
        {
            "h": {
                "width": 3,
                "start": 2,
                "start_unit": "ms",
                "size": 3,
                "size_unit": None,
                "name": 1,
                "name_unit": "",
            }
        }
    ]
    assert "Bytes" in header and "Size" not in header


def test_a_column_that_is_not_there_is_null() -> None:
    with duckdb.connect() as connection:
        register(connection, pa.array(["k 5"]), Header(("Name", "Start"), False).places(NAMES))
        query = "SELECT string_split(line, ' ')[h.start], string_split(line, ' ')[h.size] FROM lines, header"
        assert connection.execute(query).fetchall() == [("5", None)]
