"""The tables of Parquet files, Arrow files and Arrow streams as batches.

Invariant: a file that is cut off yields what lies before the cut, and `damage` says so; what a file says about its
sizes is checked before memory is asked for.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from traceview.decode.arrow_message import Survey, survey
from traceview.decode.columns import Columns, Processes, conform_bounded, reason
from traceview.decode.parquet_pages import check_pages
from traceview.decode.text_bounds import BATCH_ROWS
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
        texts = [name for name in columns if _is_text(schema.field(name).type)]
    # A dictionary's texts stay in it, once: a page of a few bytes may name one of them a million times.
    with pq.ParquetFile(file, read_dictionary=texts) as opened:
        yield from opened.iter_batches(BATCH_ROWS, columns=columns)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_binary(type_))


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
