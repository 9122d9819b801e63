"""The tables of Parquet files, Arrow files and Arrow streams as batches.

The one law: a file that is cut off yields what lies before the cut, and `damage` says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from traceview.decode.columns import BATCH_ROWS, Columns, Owner, conform, reason
from traceview.errors import InputError

TABLE_FILE = re.compile(r"\.(parquet|arrow|arrows|feather)$")
"""How the files of a folder end; what comes before is the name of the table."""


@dataclass
class Batches:
    """Tables whose batches other libraries decode."""

    columns: dict[str, tuple[str, ...]]
    open: dict[str, Callable[[list[str]], Iterator[pa.RecordBatch]]]
    """For each table, what yields its batches; told which columns are wanted."""
    damage: list[str] = field(default_factory=list)

    def rows(self, table: str, wanted: Columns, owner: Owner | None = None) -> Iterator[pa.RecordBatch]:
        teller = owner.column(self.columns[table]) if owner else None
        names = [*wanted, *([teller] if teller and teller not in wanted else [])]
        try:
            for batch in self.open[table]([name for name in names if name in self.columns[table]]):
                yield conform(_owned(batch, owner, teller) if owner and teller else batch, wanted)
        except (pa.ArrowException, OSError) as error:
            self.damage.append(f"table {table} could be read only in part ({reason(error)})")


def _owned(batch: pa.RecordBatch, owner: Owner, teller: str) -> pa.RecordBatch:
    number = pc.cast(batch.column(teller), pa.int64(), safe=False)
    process = pc.bit_wise_and(pc.shift_right(number, 24), 0xFFFFFF)
    inside = pc.is_in(process, pa.array(sorted(owner.pids), pa.int64()))
    return batch.filter(pc.invert(inside) if owner.outsiders else inside)


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
    return tables


def _file(file: Path) -> tuple[list[str], Callable[[list[str]], Iterator[pa.RecordBatch]]]:
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(file) as opened:
            names: list[str] = opened.schema_arrow.names
        return names, lambda columns: _parquet(file, columns)
    with _ipc(file) as reader:
        return reader.schema.names, lambda columns: _arrow(file)


def _parquet(file: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        yield from opened.iter_batches(BATCH_ROWS, columns=columns)


def _ipc(file: Path) -> Any:
    with file.open("rb") as start:
        is_file = start.read(6) == b"ARROW1"
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(pa.OSFile(str(file)))


def _arrow(file: Path) -> Iterator[pa.RecordBatch]:
    with _ipc(file) as reader:
        if isinstance(reader, pa.ipc.RecordBatchFileReader):
            yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            yield from reader


def open_stream(path: Path, name: str, damage: str | None) -> Batches:
    """Arrow streams one after the other in a file, each with its table's name in the schema's metadata."""
    tables = Batches({}, {}, [damage] if damage else [])
    with pa.OSFile(str(path)) as file:
        size = file.size()
        while file.tell() < size:
            begin = file.tell()
            try:
                with pa.ipc.open_stream(file) as reader:
                    schema = reader.schema
                    for _ in reader:
                        pass
            except (pa.ArrowException, OSError) as error:
                if not tables.columns and begin == 0:
                    raise InputError(f"{name} is no database that can be read ({reason(error)}).") from error
                tables.damage.append(f"the file is cut off or damaged ({reason(error)})")
                break
            table = (schema.metadata or {}).get(b"table_name", b"").decode("utf-8", "replace")
            tables.columns[table] = tuple(schema.names)
            tables.open[table] = _at(path, begin)
    return tables


def _at(path: Path, begin: int) -> Callable[[list[str]], Iterator[pa.RecordBatch]]:
    def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
        with pa.OSFile(str(path)) as file:
            file.seek(begin)
            yield from pa.ipc.open_stream(file)

    return batches
