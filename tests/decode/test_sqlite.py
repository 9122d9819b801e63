"""Databases that hold more than they should: long texts, pages without end, names that mean something else."""

from __future__ import annotations

import itertools
import sqlite3
import struct
from pathlib import Path
from typing import Any

import pytest
from databases import write

from traceview.decode import sqlite
from traceview.decode.columns import Processes
from traceview.decode.databases import open_tables
from traceview.decode.text_bounds import MAX_BATCH_BYTES, MAX_NAME_BYTES, MAX_TEXT_BYTES
from traceview.errors import InputError

TEXT = {"value": "VARCHAR"}


def read(path: Path, table: str, columns: dict[str, str], processes: Processes | None = None) -> tuple[list[Any], Any]:
    """The first column of a table, and the tables."""
    with open_tables(path) as tables:
        batches = list(tables.rows(table, columns, processes))
        assert all(batch.nbytes < MAX_BATCH_BYTES + MAX_TEXT_BYTES for batch in batches)
        return [value for batch in batches for value in batch.column(0).to_pylist()], tables


def test_a_text_that_is_too_long_is_null_and_counted(tmp_path: Path) -> None:
    values = ["short", "m" * 5000, "x" * MAX_TEXT_BYTES, "x" * (MAX_TEXT_BYTES + 1), b"\1\2", bytes(MAX_TEXT_BYTES)]
    path = write(tmp_path / "a.db", {"names": [{"value": value} for value in values]})
    found, tables = read(path, "names", TEXT)
    assert found == ["short", "0102", "m" * 5000, "x" * MAX_TEXT_BYTES, None, None]
    assert (tables.long_texts, tables.damage) == ({"names": 2}, [])


def test_texts_that_claim_a_length_are_not_made(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {"names": [{"value": 1}]}, "UPDATE names SET value = zeroblob(2000000)")
    raw = path.read_bytes()
    # To look at the text would be to meet pages that lead nowhere.
    path.write_bytes(raw[:65536].ljust(len(raw), b"\xff"))
    found, tables = read(path, "names", TEXT)
    assert found == [None]
    assert (tables.long_texts, tables.damage) == ({"names": 1}, [])


def test_many_long_texts_come_in_small_batches(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {"names": [{"value": "y" * 600_000}] * 150})
    found, _ = read(path, "names", TEXT)
    assert [len(value) for value in found] == [600_000] * 150


def test_a_number_written_as_a_long_text_is_none(tmp_path: Path) -> None:
    values = ["12", "0" * 1_000_000 + "1", 3, float("inf"), "-9223372036854775808"]
    path = write(tmp_path / "a.db", {"t": [{"value": value} for value in values]})
    assert read(path, "t", {"value": "BIGINT"})[0] == [12, None, 3, 2**63 - 1, -(2**63)]


def test_a_view_in_place_of_a_table_is_not_asked(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n) SELECT value FROM n"
    path = write(tmp_path / "a.db", {"t": [{"value": 1}], "u": [{"value": 1}]}, f"CREATE VIEW v AS {endless}")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        # The list says of `v` that it is a table with a page of its own, and what it lists as `u` makes the view.
        connection.execute("UPDATE sqlite_master SET name = 'v', tbl_name = 'v' WHERE name = 't'")
        connection.execute("UPDATE sqlite_master SET name = 't', tbl_name = 't' WHERE type = 'view'")
    connection.close()
    with open_tables(path) as tables:
        assert "v" not in tables.columns
        assert tables.columns["u"] == ("value",)


def test_pages_that_lead_to_each_other_end(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {"t": [{"value": "n", "globalPid": 5 << 24}] * 20_000})
    raw = bytearray(path.read_bytes())
    size = struct.unpack_from(">H", raw, 16)[0]
    with sqlite3.connect(path) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master").fetchall()[0][0]
    connection.close()
    is_leaf = [raw[number * size] == 13 for number in range(len(raw) // size)]
    leaf = is_leaf.index(True) + 1
    chain = [root, *[number + 1 for number in range(root, len(is_leaf)) if number + 1 != leaf][:6], leaf]
    for page, below in itertools.pairwise(chain):
        cells = [struct.pack(">IB", below, 1) for _ in range(100)]
        start = size - 5 * len(cells)
        places = b"".join(struct.pack(">H", start + 5 * n) for n in range(len(cells)))
        head = struct.pack(">BHHHBI", 5, 0, len(cells), start, 0, below) + places
        raw[(page - 1) * size : page * size] = head.ljust(start, b"\0") + b"".join(cells)
    path.write_bytes(raw)
    for processes in (None, Processes(frozenset({7}), False, ("globalPid",))):
        found, tables = read(path, "t", {"value": "VARCHAR"}, processes)
        assert len(found) <= len(raw)
        assert tables.damage == ["table t claims to hold more than its file has room for"]


def test_texts_that_a_file_has_no_room_for_end_the_table(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.db", {"t": [{"value": n} for n in range(70_000)]},
        f"ALTER TABLE t ADD COLUMN name TEXT DEFAULT '{'z' * 900}'",
    )  # fmt: skip
    found, tables = read(path, "t", {"name": "VARCHAR"})
    assert len(found) < 70_000
    assert tables.damage == ["table t claims to hold more than its file has room for"]


def test_more_tables_than_anyone_writes_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MAX_TABLES", 3)
    path = write(tmp_path / "a.db", {f"t{n}": [{"value": n}] for n in range(5)})
    with open_tables(path) as tables:
        assert sorted(tables.columns) == ["t0", "t1", "t2"]
        assert tables.damage == ["more than 3 tables: the others were not looked at"]


def test_unusual_tables_are_read_as_they_are(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.db", {"it's; DROP": [{"value": 1}]},
        'CREATE TABLE "w" (value TEXT PRIMARY KEY, "a""b" INT, twice AS (value || value)) WITHOUT ROWID',
        "INSERT INTO w VALUES ('k', 7)",
        "CREATE INDEX i ON w (hex(value))",
        f"CREATE TABLE wide ({', '.join(f'c{n}' for n in range(2000))})",
        "INSERT INTO wide (c1999) VALUES ('last')",
        f'CREATE TABLE "{"n" * 1_000_000}" (value)',
    )  # fmt: skip
    assert read(path, "it's; DROP", {"value": "BIGINT"})[0] == [1]
    assert read(path, "w", {'a"b': "BIGINT", "value": "VARCHAR", "twice": "VARCHAR"})[0] == [7]
    found, tables = read(path, "wide", {"c1999": "VARCHAR"})
    assert found == ["last"]
    assert sorted(map(len, tables.columns)) == [1, 4, 10]
    assert tables.columns["w"] == ("value", 'a"b')


def test_a_name_is_shorter_than_other_texts_may_be(tmp_path: Path) -> None:
    values = ["a", "b" * MAX_NAME_BYTES, "c" * (MAX_NAME_BYTES + 1), "d" * 100_000]
    path = write(tmp_path / "a.db", {"names": [{"value": value} for value in values]})
    found, tables = read(path, "names", {"value": "NAME"})
    assert found == ["a", "b" * MAX_NAME_BYTES, None, None]
    assert tables.long_texts == {"names": 2}


def test_a_list_of_tables_beyond_bounds_is_refused_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.db", {f"table_{n}": [{"value": n}] for n in range(300)})
    monkeypatch.setattr(sqlite, "MAX_SCHEMA_BYTES", 30_000)
    with open_tables(path) as tables:
        assert len(tables.columns) == 300
    monkeypatch.setattr(sqlite, "MAX_SCHEMA_BYTES", 10_000)
    with pytest.raises(InputError, match="more tables"), open_tables(path):
        pass
