"""Opens another tool's database, whatever it is stored as: SQLite, a folder of Parquet or Arrow files, an Arrow stream.

Which of these a file is stands in its content; a compressed one is unpacked for as long as it is read.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from traceview.decode import sqlite
from traceview.decode.arrow import open_folder, open_stream
from traceview.decode.columns import Tables
from traceview.decode.files import plain_file
from traceview.decode.sqlite import open_sqlite
from traceview.errors import InputError

_CREATE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[\"`\[]?(\w+)")


@contextlib.contextmanager
def open_tables(path: Path) -> Iterator[Tables]:
    """The tables behind a path. Raises `InputError` for a file that is not a database or whose catalogue is damaged."""
    if path.is_dir():
        yield open_folder(path)
        return
    with plain_file(path) as (plain, damage):
        with plain.open("rb") as file:
            is_sqlite = file.read(len(sqlite.MAGIC)) == sqlite.MAGIC
        if is_sqlite:
            with open_sqlite(plain, path.name) as tables:
                tables.damage.extend([damage] if damage else [])
                yield tables
        else:
            yield open_stream(plain, path.name, damage)


def sqlite_tables(path: Path, head: bytes) -> frozenset[str]:
    """Names of the tables of a SQLite database; none for any other file.

    Of a database whose catalogue is damaged, the ones whose definitions lie in the head, so that its reader is found
    and can say what is wrong.
    """
    if not head.startswith(sqlite.MAGIC):
        return frozenset()
    status = path.stat()
    names = _names(path, status.st_size, status.st_mtime_ns)
    return names or frozenset(match.group(1).decode() for match in _CREATE.finditer(head))


@lru_cache(maxsize=8)
def _names(path: Path, size: int, mtime_ns: int) -> frozenset[str]:
    """Several readers ask in turn, and a compressed database must be unpacked to answer."""
    try:
        with open_tables(path) as tables:
            return frozenset(tables.columns)
    except InputError:
        return frozenset()
