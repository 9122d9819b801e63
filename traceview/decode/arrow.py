"""The tables of Parquet files, Arrow files and Arrow streams as batches.

Invariant: a file that is cut off yields what lies before the cut, and `damage` says so; what a file says about its
sizes is checked before memory is asked for (a process with a memory limit of its own would take 0.2 s to start, twice
what reading a small file may cost, 2026-11-25): lengths of messages and bodies (FlatBuffers,
https://arrow.apache.org/docs/format/Columnar.html), and headers of pages (Thrift's compact protocol,
https://parquet.apache.org/docs/file-format/), none of which may unpack to more than `MAX_UNPACKED_BYTES`.
"""

from __future__ import annotations

import itertools
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from traceview.decode.columns import Columns, Processes, conform_bounded, reason
from traceview.decode.text_bounds import BATCH_ROWS, MAX_UNPACKED_BYTES
from traceview.errors import InputError

TABLE_FILE = re.compile(r"\.(parquet|arrow|arrows|feather)$")
"""How the files of a folder end; what comes before is the name of the table."""
ROWS_PER_BYTE = 64
"""More rows than this in a byte are not a recording: a column of zero bytes can claim any number of rows."""
_FILE_MAGIC = b"ARROW1\0\0"


@dataclass
class Batches:
    """Tables whose batches other libraries decode."""

    columns: dict[str, tuple[str, ...]]
    open: dict[str, Callable[[list[str]], Iterator[pa.RecordBatch]]]
    """For each table, what yields its batches; told which columns to read."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of each table's file."""
    damage: list[str] = field(default_factory=list)
    long_texts: dict[str, int] = field(default_factory=dict)

    def rows(self, table: str, columns: Columns, processes: Processes | None = None) -> Iterator[pa.RecordBatch]:
        process_column = processes.column(self.columns[table]) if processes else None
        asked = {**columns, process_column: "BIGINT"} if process_column else columns
        n_rows = n_long = 0
        try:
            for batch in self.open[table]([name for name in asked if name in self.columns[table]]):
                n_rows += len(batch)
                if n_rows > ROWS_PER_BYTE * self.sizes[table]:
                    raise pa.ArrowInvalid("it claims to hold more rows than its file has room for")
                for piece, n_found in conform_bounded(batch, asked):
                    n_long += n_found
                    if processes and process_column:
                        piece = _of_processes(piece, processes, process_column)
                    yield piece.select(list(columns))
        except (pa.ArrowException, OSError) as error:
            damage = f"table {table} could be read only in part ({reason(error)})"
            self.damage.extend([damage] if damage not in self.damage else [])
        self.long_texts[table] = max(n_long, self.long_texts.get(table, 0))


def _of_processes(batch: pa.RecordBatch, processes: Processes, process_column: str) -> pa.RecordBatch:
    process = pc.bit_wise_and(pc.shift_right(batch.column(process_column), 24), 0xFFFFFF)
    inside = pc.is_in(process, pa.array(sorted(processes.pids), pa.int64()))
    return batch.filter(pc.invert(inside) if processes.is_all_others else inside)


def open_folder(path: Path) -> Batches:
    """A folder with one file per table, named like it."""
    tables = Batches({}, {})
    for file in sorted(path.iterdir()):
        if file.is_file() and TABLE_FILE.search(file.name):
            try:
                names, batches = _file(file)
            except (pa.ArrowException, OSError) as error:
                tables.damage.append(f"{file.name} cannot be read ({reason(error)})")
                continue
            table = TABLE_FILE.sub("", file.name)
            tables.columns[table], tables.open[table] = tuple(names), batches
            tables.sizes[table] = file.stat().st_size
    return tables


def _file(file: Path) -> tuple[list[str], Callable[[list[str]], Iterator[pa.RecordBatch]]]:
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(file) as opened:
            names: list[str] = opened.schema_arrow.names
        return names, lambda columns: _parquet(file, columns)
    # An Arrow file is a stream between a magic word and a list of its batches, which need not be asked.
    with file.open("rb") as start:
        begin = len(_FILE_MAGIC) if start.read(len(_FILE_MAGIC)) == _FILE_MAGIC else 0
    with pa.OSFile(str(file)) as stream:
        stream.seek(begin)
        names = pa.ipc.open_stream(stream).schema.names
    return names, partial(_stream, file, begin, survey(file, begin))


def _parquet(file: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        schema = opened.schema_arrow
        check_pages(file, opened.metadata, columns)
        texts = [name for name in columns if schema.field(name).type in (pa.string(), pa.binary())]
    # A dictionary's texts stay in it, once: a page of a few bytes may name one of them a million times.
    with pq.ParquetFile(file, read_dictionary=texts) as opened:
        yield from opened.iter_batches(BATCH_ROWS, columns=columns)


def open_stream(path: Path, name: str, damage: str | None) -> Batches:
    """Arrow streams one after the other in a file, each with its table's name in the schema's metadata."""
    tables = Batches({}, {}, damage=[damage] if damage else [])
    size = path.stat().st_size
    begin = 0
    with pa.OSFile(str(path)) as file:
        while begin < size:
            found = survey(path, begin)
            file.seek(begin)
            try:
                if found.end == begin:
                    raise pa.ArrowInvalid(found.damage or "it holds no table")
                schema = pa.ipc.open_stream(file).schema
            except (pa.ArrowException, OSError) as error:
                if not tables.columns and begin == 0:
                    raise InputError(f"{name} is not a database that can be read ({reason(error)}).") from error
                tables.damage.append(f"the file is cut off or damaged ({reason(error)})")
                break
            table = (schema.metadata or {}).get(b"table_name", b"").decode("utf-8", "replace")
            tables.columns[table] = tuple(schema.names)
            tables.open[table] = partial(_stream, path, begin, found)
            tables.sizes[table] = size
            if found.damage:
                tables.damage.append(f"the file is cut off or damaged ({found.damage})")
                break
            begin = found.end
    return tables


def _stream(path: Path, begin: int, found: Survey, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """The batches of a stream, as far as it is sound; all columns come with them."""
    with pa.OSFile(str(path)) as file:
        file.seek(begin)
        yield from itertools.islice(pa.ipc.open_stream(file), found.n_batches)
    if found.damage:
        raise pa.ArrowInvalid(found.damage)


_CONTINUATION = b"\xff\xff\xff\xff"
_DICTIONARY, _RECORDS = 2, 3
_TYPE, _HEADER, _BODY = 1, 2, 3
_BUFFERS, _COMPRESSION = 2, 3


@dataclass
class Survey:
    """The sound part of a stream: how many batches of rows it has, and where it ends."""

    n_batches: int
    end: int
    damage: str | None


def survey(path: Path, begin: int) -> Survey:
    """Walk the messages of the stream that begins there, without reading their bodies."""
    found = Survey(0, begin, None)
    n_dictionary = 0
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            while metadata := _metadata(file, found.end, size):
                body = file.tell()
                table = _Table(metadata, struct.unpack_from("<I", metadata)[0])
                kind, length = table.number(_TYPE, "<B"), table.number(_BODY, "<q")
                if not 0 <= length <= size - body:
                    raise ValueError("the file is cut off")
                header = table.table(_HEADER)
                batch = header.table(1) if kind == _DICTIONARY else header if kind == _RECORDS else None
                n_bytes = _unpacked(file, body, length, batch) if batch else 0
                n_dictionary += n_bytes if kind == _DICTIONARY else 0
                if max(n_bytes, n_dictionary) > MAX_UNPACKED_BYTES:
                    raise ValueError(f"a batch unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB")
                found.n_batches += kind == _RECORDS
                found.end = body + length
            found.end = file.tell()
        except (ValueError, struct.error) as error:
            found.damage = str(error) if isinstance(error, ValueError) else "a message is damaged"
    return found


def _metadata(file: BinaryIO, at: int, size: int) -> bytes:
    """The description of the message there; nothing where the stream ends."""
    file.seek(at)
    start = file.read(4)
    if start == _CONTINUATION:
        start = file.read(4)
    length = struct.unpack("<i", start)[0] if start else 0
    if not 0 <= length <= size - file.tell():
        raise ValueError("the file is cut off")
    return file.read(length)


class _Table:
    """A table of a FlatBuffer: numbers and tables at places that a table of its own tells."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self._places = at - int(struct.unpack_from("<i", data, at)[0])
        if self._places < 0:
            raise ValueError("a message is damaged")

    def place(self, number: int) -> int:
        """Return the position of a field; 0 where there is none."""
        if 4 + 2 * number >= struct.unpack_from("<H", self.data, self._places)[0]:
            return 0
        offset: int = struct.unpack_from("<H", self.data, self._places + 4 + 2 * number)[0]
        return self.at + offset if offset else 0

    def number(self, number: int, kind: str) -> int:
        """A field's number, 0 where there is none."""
        place = self.place(number)
        return int(struct.unpack_from(kind, self.data, place)[0]) if place else 0

    def table(self, number: int) -> _Table:
        """A field's table."""
        place = self.place(number)
        if not place:
            raise ValueError("a message is damaged")
        return _Table(self.data, place + struct.unpack_from("<I", self.data, place)[0])

    def pairs(self, number: int) -> list[tuple[int, int]]:
        """A field's list of pairs of 64-bit numbers."""
        place = self.place(number)
        if not place:
            return []
        place += struct.unpack_from("<I", self.data, place)[0]
        count = struct.unpack_from("<I", self.data, place)[0]
        numbers = np.frombuffer(self.data, "<i8", 2 * count, place + 4).reshape(-1, 2)
        return [(first, second) for first, second in numbers.tolist()]


def _unpacked(file: BinaryIO, body: int, length: int, batch: _Table) -> int:
    """Bytes that the compressed buffers of a batch say they unpack to; each begins with its size."""
    if not batch.place(_COMPRESSION):
        return 0
    total = 0
    for offset, size in batch.pairs(_BUFFERS):
        if size >= 8 and 0 <= offset <= length - 8:
            file.seek(body + offset)
            total += max(0, struct.unpack("<q", file.read(8))[0])
    return total


HEADER_BYTES = 1 << 16
"""Maximum size of a header, with the least and greatest value of its page."""
_UNPACKED, _PACKED, _PAGE_1, _PAGE_2 = 2, 3, 5, 8
_ENCODINGS = ((_PAGE_1, 2), (_PAGE_2, 4))
_PREFIXES = 7
"""DELTA_BYTE_ARRAY: a text is a part of the one before it and a rest, so a page holds texts without end."""
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 6, 7, 8, 12
_DEPTH = 4


def check_pages(file: Path, metadata: Any, columns: list[str]) -> None:
    """Raise `pa.ArrowInvalid` where a page of these columns is not to be read."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        for group in range(metadata.num_row_groups):
            row_group = metadata.row_group(group)
            for number in range(row_group.num_columns):
                chunk = row_group.column(number)
                if chunk.path_in_schema in columns:
                    first = chunk.data_page_offset
                    if chunk.dictionary_page_offset and chunk.dictionary_page_offset > 0:
                        first = min(first, chunk.dictionary_page_offset)
                    _check_chunk(opened, first, min(size, first + chunk.total_compressed_size), chunk.path_in_schema)


def _check_chunk(file: BinaryIO, at: int, end: int, column: str) -> None:
    while 0 <= at < end:
        file.seek(at)
        try:
            header, length = _struct(file.read(HEADER_BYTES), 0, _DEPTH)
            unpacked, packed = int(header.get(_UNPACKED, 0)), int(header.get(_PACKED, 0))
        except (IndexError, ValueError, TypeError) as error:
            raise pa.ArrowInvalid(f"the header of a page of column {column} is damaged") from error
        if unpacked > MAX_UNPACKED_BYTES:
            raise pa.ArrowInvalid(f"a page of column {column} unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB")
        for page, number in _ENCODINGS:
            part = header.get(page)
            if isinstance(part, dict) and part.get(number) == _PREFIXES:
                raise pa.ArrowInvalid(f"column {column} is stored as DELTA_BYTE_ARRAY, which is not read")
        if packed < 0:
            raise pa.ArrowInvalid(f"the header of a page of column {column} is damaged")
        at += length + packed


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """The numbers and structs of a struct by field, and where it ends. Raises IndexError or ValueError for damage."""
    found: dict[int, Any] = {}
    number = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _zigzag(data, at)
        found[number], at = _value(data, at, kind, depth)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return data[at], at + 1
    if _BYTE < kind <= _I64:
        return _zigzag(data, at)
    if kind == _DOUBLE:
        return None, at + 8
    if kind == _BINARY:
        length, at = _varint(data, at)
        return None, at + length
    if kind == _STRUCT and depth:
        return _struct(data, at, depth - 1)
    raise ValueError("not in the header of a page")


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError("a number without end")
