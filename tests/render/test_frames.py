"""Sections as Arrow: every type keeps its values, and columns keep their meaning."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from traceview import sql
from traceview.analysis import reports
from traceview.analysis.model import Report, Section
from traceview.render import notebook


def asked(body: str) -> Section:
    return reports.section(duckdb.connect(), sql.Query("q", "Q", "", body))


@pytest.mark.parametrize(
    ("value", "type_", "found"),
    [
        ("1::TINYINT", pa.int64(), 1),
        ("sum(9007199254740993::BIGINT)", pa.int64(), 9007199254740993),
        ("170141183460469231731687303715884105727::HUGEINT // 100", pa.decimal128(38, 0), None),
        ("1.5::DOUBLE", pa.float64(), 1.5),
        ("1.25::DECIMAL(9, 2)", pa.float64(), 1.25),
        ("true", pa.bool_(), True),
        ("'x'", pa.string(), "x"),
        ("['a', NULL]", pa.list_(pa.string()), ["a", None]),
        ("[1, 2]", pa.list_(pa.int64()), [1, 2]),
        ("DATE '2026-01-02'", pa.string(), "2026-01-02"),
        ("NULL::BIGINT", pa.int64(), None),
        ("NULL::VARCHAR", pa.string(), None),
    ],
)
def test_a_value_of_every_type(value: str, type_: pa.DataType, found: object) -> None:
    section = asked(f"SELECT {value} AS v")
    table = notebook.arrow(section)
    assert table.schema.field("v").type == type_
    if type_ == pa.decimal128(38, 0):
        found = section.rows[0][0]
    assert table.column("v").to_pylist() == [found]


def test_an_empty_section_has_its_columns() -> None:
    section = asked("SELECT 1::BIGINT AS n, 'x' AS name, 0.5::DOUBLE AS d, ['a'] AS l WHERE false")
    table = notebook.arrow(section)
    assert table.schema.types == [pa.int64(), pa.string(), pa.float64(), pa.list_(pa.string())]
    assert list(notebook.Answer(Report("", "", "", (section,), ())).to_pandas().columns) == ["n", "name", "d", "l"]


def test_columns_keep_their_meaning_and_two_of_a_name_stay_two() -> None:
    body = '-- title = "T"\n-- [columns]\n-- a = "what it is"\nSELECT 1 AS a, 2 AS a'
    query = sql.Query("q", "T", "", body, columns={"a": "what it is"})
    table = notebook.arrow(reports.section(duckdb.connect(), query))
    assert table.schema.field("a").metadata == {b"doc": b"what it is"}
    assert table.column_names == ["a", "a_1"]
