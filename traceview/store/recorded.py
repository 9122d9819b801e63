"""The recorded tables of a capture: regular files of its own with exactly the columns of `tables.py`.

Invariant: nothing outside the folder is read, whatever is linked or named in it; a capture that another program changed
is said to be damaged before a query meets it.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from traceview.errors import InputError, UsageError
from traceview.lazy import duckdb
from traceview.paths import literal
from traceview.store.integrity import is_plain
from traceview.tables import BY_NAME, TABLES, Table

_NAME = re.compile(r"rank-[0-9]+|ranks-[0-9]+-[0-9]+", re.ASCII)
_SHARD = re.compile(r"shard-[0-9]+", re.ASCII)
_FILES = frozenset(("converted.json", *(f"{table.name}.parquet" for table in TABLES)))
"""Files that a conversion puts into these folders."""
RANK = ("rank", "INTEGER")
"""The column before those of the table."""


def ranks(folder: Path, chosen: Collection[int] = ()) -> list[Path]:
    """The folders of tables of a capture: `rank-NNNN` holds one process, `ranks-NNNN-NNNN` of a shard holds several.

    Symlinks and unknown names are ignored. `chosen`: only those that may hold one of these ranks.
    """
    found = _folders(folder, _NAME) + [path for shard in shards(folder) for path in _folders(shard, _NAME)]
    return [path for path in found if may_hold(path.name, chosen)]


def may_hold(name: str, chosen: Collection[int]) -> bool:
    """Whether a folder may by its name hold tables of one of these ranks; any may, where none is chosen."""
    numbers = [int(number) for number in name.split("-")[1:]] if _NAME.fullmatch(name) else []
    return not chosen or any(numbers[0] <= rank <= numbers[-1] for rank in chosen if numbers)


def shards(folder: Path) -> list[Path]:
    """The parts of the capture of a large job, each an ordinary capture itself; none of one that is in one piece."""
    return _folders(folder, _SHARD)


def made(folder: Path, written: Collection[str] = ()) -> list[Path]:
    """Return the folders of tables in a folder, which a conversion made and the next one replaces.

    Raises `UsageError` where something has such a name, or lies in such a folder, that is neither the file of a table
    nor among those `written`: it is the user's own, and never removed.
    """
    if folder.is_symlink():
        return []
    found = sorted(path for path in folder.glob("*-*") if _NAME.fullmatch(path.name) or _SHARD.fullmatch(path.name))
    for path in (inner for outer in found for inner in (outer, *outer.rglob("*"))):
        name = path.relative_to(folder).as_posix()
        in_shard = _SHARD.fullmatch(path.parent.name) and _NAME.fullmatch(path.name)
        is_place = stat.S_ISDIR(path.lstat().st_mode) and (path in found or in_shard)
        is_file = is_plain(path) and path not in found and (path.name in _FILES or name in written)
        if not is_place and not is_file:
            raise in_the_way(path)
    return found


def in_the_way(path: Path) -> UsageError:
    """The error for what traceview did not make and so does not remove."""
    return UsageError(f"{path} is in the way of the tables and was not made by traceview; move it away.")


def _folders(folder: Path, name: re.Pattern[str]) -> list[Path]:
    found = (path for path in folder.glob("*-*") if name.fullmatch(path.name))
    return sorted(path for path in found if stat.S_ISDIR(path.lstat().st_mode))


def files(folder: Path, chosen: Collection[int] = ()) -> dict[str, list[Path]]:
    """The files of each table, with absolute paths; an optional table may have none. `chosen` as for `ranks`.

    Raises `InputError` when the folder is not a capture, or one of its files is absent or no regular file, and
    `UsageError` where no file holds a chosen rank.
    """
    places = ranks(folder.absolute(), chosen)
    if not places and chosen and ranks(folder.absolute()):
        raise not_there(chosen)
    if not places:
        raise InputError(f"{folder} is not a capture: it has no rank-* folder.")
    found = {table.name: [place / f"{table.name}.parquet" for place in places] for table in TABLES}
    for table in (table for table in TABLES if table.optional):
        found[table.name] = [path for path in found[table.name] if path.exists() or path.is_symlink()]
    for path in (path for paths in found.values() for path in paths):
        if not is_plain(path):
            name = path.relative_to(folder.absolute())
            what = "is missing" if not path.exists() and not path.is_symlink() else "is not a regular file"
            raise damage(folder, f"{name} {what}")
    return found


def not_there(absent: Collection[int]) -> UsageError:
    """The sentence for ranks that a capture does not hold."""
    named = ", ".join(map(str, sorted(absent)))
    return UsageError(f"the capture has no rank {named}; `traceview sql INPUT 'SELECT rank FROM ranks'` lists them.")


def damage(folder: Path, what: str) -> InputError:
    """The sentence for a capture that is not as traceview wrote it."""
    return InputError(f"{folder} is damaged ({what}); convert its trace again.")


def identity(folder: Path) -> str:
    """A hash that changes with any of a capture's files, without reading them. Raises as `files` does.

    It is of what the file system says (inode, size, times of change), which nobody can set at will, and not of sums
    that the capture brings along.
    """
    found = hashlib.sha256()
    for path in (path for paths in files(folder).values() for path in paths):
        status = path.lstat()
        told = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        found.update(repr((f"{path.parent.name}/{path.name}", *told)).encode())
    return found.hexdigest()


def check(connection: duckdb.DuckDBPyConnection, folder: Path, chosen: Collection[int] = ()) -> None:
    """Raise `InputError` for a file whose columns are not exactly those of its table, by name, type and order."""
    found = files(folder, chosen)
    every = [literal(path) for paths in found.values() for path in paths]
    query = "SELECT file_name, name, duckdb_type, num_children FROM parquet_schema($1)"
    seen: dict[str, list[tuple[str, str, int | None]]] = {}
    for file, *element in connection.execute(query, [every]).fetchall():
        seen.setdefault(file, []).append(tuple(element))
    for table in TABLES:
        for path in found[table.name]:
            _compare(folder, path, table, list(_columns(seen.get(str(path), ()))))


def _columns(elements: Sequence[tuple[str, str, int | None]]) -> Iterator[tuple[str, str]]:
    """Name and type of the columns of a Parquet schema: the parts of a column stand behind it, the root before all."""
    n_parts = 0
    for name, type_, n_children in elements[1:]:
        if n_parts:
            n_parts -= 1
        else:
            yield name, type_
        n_parts += n_children or 0


def _compare(folder: Path, path: Path, table: Table, found: Collection[tuple[str, str]]) -> None:
    expected = [RANK, *((column.name, column.sql_type) for column in table.columns)]
    if list(found) == expected:
        return
    types = dict(found)
    name = f"{path.parent.name}/{path.name}"
    for column, type_ in expected:
        if column not in types:
            raise damage(folder, f"{name} has no column {column}")
        if types[column] != type_:
            raise damage(folder, f"{name} has a column {column} that is not {type_}")
    raise damage(folder, f"{name} has columns that traceview does not write")


def patterns(folder: Path, chosen: Collection[int] = ()) -> dict[str, list[str]]:
    """The files of each table as DuckDB reads them: the variable `raw`, for `bound`. Raises as `files` does."""
    # A variable, because a view cannot be prepared; SQL is never put together from a path.
    return {name: [literal(path) for path in paths] for name, paths in files(folder, chosen).items()}


def counts(connection: duckdb.DuckDBPyConnection, of: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many rows the files of each of these tables hold, by `patterns`."""
    found = dict.fromkeys(of, 0)
    query = "SELECT file_name, num_rows FROM parquet_file_metadata($1)"
    for file, n_rows in connection.execute(query, [[file for files in of.values() for file in files]]).fetchall():
        found[Path(file).stem] += n_rows
    return found


def choose(connection: duckdb.DuckDBPyConnection, chosen: Collection[int]) -> None:
    """Raise `UsageError` where `raw.captures` lacks a chosen rank."""
    found = connection.execute("SELECT DISTINCT rank FROM raw.captures").fetchall()
    absent = set(chosen) - {rank for (rank,) in found}
    if absent:
        raise not_there(absent)


def bound(name: str, chosen: Collection[int], is_held: bool = False) -> str:
    """Return the statement that makes a recorded table `raw.NAME`, of all ranks or those that are `chosen`, from the
    files in the variable `raw`.

    `is_held`: a table in memory and no view, which a query plans sooner than files that it has to look into.
    """
    of_them = f" WHERE rank IN ({', '.join(map(str, sorted(map(int, chosen))))})" if chosen else ""
    # Names of folders such as `name=x` are not columns.
    rows = f"SELECT * FROM read_parquet(getvariable('raw').{name}, hive_partitioning = false){of_them}"
    kind = "TABLE" if is_held else "VIEW"
    return f"CREATE OR REPLACE {kind} raw.{name} AS {rows}"


def without_rows(names: Iterable[str]) -> str:
    """Return statements that make these tables, as `raw.NAME`, with their columns and no row."""
    made = []
    for name in names:
        columns = [RANK, *((column.name, column.sql_type) for column in BY_NAME[name.removeprefix("raw.")].columns)]
        written = ", ".join(f'"{column}" {kind}' for column, kind in columns)
        made.append(f"CREATE OR REPLACE TABLE {name} ({written})")
    return "; ".join(made)
