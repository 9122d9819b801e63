"""Arrow and Parquet that hold more than they should: long texts, bodies that unpack without end, lying lengths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from traceview.decode import arrow
from traceview.decode.databases import open_tables
from traceview.decode.text_bounds import MAX_BATCH_BYTES, MAX_TEXT_BYTES

TYPES = (
    pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(),
    pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.large_string()),
)  # fmt: skip


def stream(path: Path, table: pa.Table, **options: Any) -> Path:
    """An Arrow stream that says which table it is."""
    table = table.replace_schema_metadata({"table_name": "names"})
    with pa.ipc.new_stream(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return path


def folder(path: Path, table: pa.Table, **options: Any) -> Path:
    """A folder of Parquet with one table."""
    path.mkdir()
    pq.write_table(table, path / "names.parquet", **options)
    return path


def read(path: Path, kind: str = "VARCHAR") -> tuple[list[Any], Any]:
    """The values of the column, and the tables."""
    with open_tables(path) as tables:
        batches = list(tables.rows("names", {"value": kind}))
        assert all(batch.nbytes < MAX_BATCH_BYTES + MAX_TEXT_BYTES for batch in batches)
        return [value for batch in batches for value in batch.column(0).to_pylist()], tables


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_a_text_that_is_too_long_is_null_and_counted(tmp_path: Path, type_: pa.DataType) -> None:
    raw = [b"a", None, b"x" * (MAX_TEXT_BYTES + 1), b"b"]
    is_bytes = type_ in TYPES[3:6]
    values = raw if is_bytes else [value.decode() if value else None for value in raw]
    table = pa.table({"value": pa.array(values, type_)})
    found, tables = read(stream(tmp_path / "trace", table))
    assert found == (["61", None, None, "62"] if is_bytes else ["a", None, None, "b"])
    assert (tables.long_texts, tables.damage) == ({"names": 1}, [])


def test_parquet_too(tmp_path: Path) -> None:
    table = pa.table({"value": ["a", None, "x" * (MAX_TEXT_BYTES + 1), "b"]})
    found, tables = read(folder(tmp_path / "trace", table))
    assert (found, tables.long_texts) == (["a", None, None, "b"], {"names": 1})


@pytest.mark.slow
@pytest.mark.parametrize("write", [stream, folder])
def test_a_text_that_many_rows_name_is_decoded_a_few_rows_at_a_time(tmp_path: Path, write: Any) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), ["y" * MAX_TEXT_BYTES])
    path = write(tmp_path / "trace", pa.table({"value": column}))
    with open_tables(path) as tables:
        batches = [(len(batch), batch.nbytes < 65 << 20) for batch in tables.rows("names", {"value": "VARCHAR"})]
    assert batches == [(64, True), (64, True), (64, True), (8, True)]


def test_a_batch_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "MAX_UNPACKED_BYTES", 3 << 20)
    zeros = pa.table({"value": pa.array([0] * 1_000_000)})
    for name, compression in (("a", "zstd"), ("b", "lz4")):
        found, tables = read(stream(tmp_path / name, zeros, compression=compression), "BIGINT")
        assert found == []
        assert "the file is cut off or damaged (a batch unpacks to more than 3 MiB)" in tables.damage
    assert len(read(stream(tmp_path / "plain", zeros), "BIGINT")[0]) == 1_000_000


def test_rows_that_a_file_has_no_room_for_are_not_read(tmp_path: Path) -> None:
    found, tables = read(stream(tmp_path / "trace", pa.table({"value": pa.nulls(1 << 20)})))
    assert found == []
    reason = "it claims to hold more rows than its file has room for"
    assert tables.damage == [f"table names could be read only in part ({reason})"]


def test_offsets_that_lie_make_a_column_null(tmp_path: Path) -> None:
    path = stream(tmp_path / "trace", pa.table({"value": ["abc", "def", "ghi"]}))
    raw = path.read_bytes()
    offsets = b"".join(n.to_bytes(4, "little") for n in (0, 3, 6, 9))
    assert offsets in raw
    path.write_bytes(raw.replace(offsets, b"".join(n.to_bytes(4, "little") for n in (0, 3, 1 << 30, 9))))
    assert read(path)[0] == [None] * 3


def test_a_page_that_unpacks_to_too_much_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "MAX_UNPACKED_BYTES", 1 << 16)
    table = pa.table({"value": ["z" * 100_000]})
    found, tables = read(folder(tmp_path / "trace", table, use_dictionary=False, compression="zstd"))
    assert found == []
    reason = "a page of column value unpacks to more than 0 MiB"
    assert tables.damage == [f"table names could be read only in part ({reason})"]


def test_texts_as_parts_of_each_other_are_not_read(tmp_path: Path) -> None:
    options = {"use_dictionary": False, "column_encoding": {"value": "DELTA_BYTE_ARRAY"}}
    found, tables = read(folder(tmp_path / "trace", pa.table({"value": ["name"] * 3}), **options))
    assert found == []
    assert "DELTA_BYTE_ARRAY" in tables.damage[0]


def test_a_cut_stream_gives_what_lies_before_the_cut(tmp_path: Path) -> None:
    whole = pa.table({"value": pa.chunked_array([["a"], ["b" * 1000], ["c" * 1000]])})
    path = stream(tmp_path / "trace", whole)
    path.write_bytes(path.read_bytes()[:-700])
    found, tables = read(path)
    assert found == ["a", "b" * 1000]
    assert "the file is cut off or damaged (the file is cut off)" in tables.damage
