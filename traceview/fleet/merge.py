"""Parts of some dozen ranks become a shard: an ordinary capture whose tables are one file each.

Invariant: here ranks get their numbers, one clock and ids that are unique in the job, exactly as they have them where
one process reads one file after the other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview.errors import InputError
from traceview.fleet.parts import BUILDING, Part
from traceview.ingest.finish import columns
from traceview.ingest.options import Options
from traceview.lazy import duckdb
from traceview.paths import literal, temporary_folder
from traceview.sql import PARQUET
from traceview.store import cache, confine, conversion
from traceview.tables import RANK_SHIFT, SCHEMA_VERSION, TABLES, Table

SHARD_RANKS = 64
SHARD_ROWS = 8_000_000


@dataclass(frozen=True)
class Member:
    """One rank of a shard: where its part lies, and what is added to its numbers."""

    place: str
    rank: int
    origin_ns: int
    origin_unix_ns: int | None


@dataclass(frozen=True)
class Shard:
    """The ranks of one shard, in order of their numbers."""

    members: tuple[Member, ...]
    place: str
    left_out: tuple[conversion.Refusal, ...]
    """Traces of the whole job that could not be read, told once, in the first shard."""
    options: Options


def plan(
    parts: Iterable[Part], folder: Path, refused: list[conversion.Refusal], jobs: int, options: Options
) -> list[Shard]:
    """Number the ranks, put them on one clock and divide them among shards. Adds to `refused` those seen twice."""
    numbering, clock = conversion.Numbering(), conversion.Clock()
    members: list[tuple[Member, int]] = []
    for part in parts:
        if not part.refused:
            try:
                rank = numbering.free(part, Path(part.name))
            except InputError as error:
                refused.append((Path(part.name).name, str(error)))
                continue
            origin, known = clock.origin(part.earliest_ns, part.zero_unix_ns)
            members.append((Member(part.place, rank, origin, known), part.n_rows))
    members.sort(key=lambda entry: entry[0].rank)
    pieces: list[list[Member]] = []
    n_rows = 0
    for member, rows in members:
        if not pieces or len(pieces[-1]) == SHARD_RANKS or n_rows + rows > SHARD_ROWS:
            pieces.append([])
            n_rows = 0
        pieces[-1].append(member)
        n_rows += rows
    share = Options(options.threads, options.memory_bytes and max(1, options.memory_bytes // jobs))
    told = tuple(refused)
    return [
        Shard(tuple(piece), str(folder / f"shard-{number:04d}"), () if number else told, share)
        for number, piece in enumerate(pieces)
    ]


def merge(shard: Shard) -> str:
    """Write the tables of a shard; returns its folder. One that is there already is complete."""
    place = Path(shard.place)
    if place.exists():
        return shard.place
    with temporary_folder(BUILDING, place.parent) as building:
        first, last = shard.members[0].rank, shard.members[-1].rank
        ranks = building / f"ranks-{first:04d}-{last:04d}"
        ranks.mkdir()
        config = {**confine.SETTINGS, "threads": shard.options.threads or 1}
        with duckdb.connect(":memory:", config=config) as connection:
            connection.execute("SET temp_directory = $1", [str(building / "spill")])
            if shard.options.memory_bytes:
                connection.execute("SET memory_limit = $1", [f"{shard.options.memory_bytes // 1_000_000}MB"])
            for table in TABLES:
                if not table.optional or _files(table, shard):
                    _write(connection, table, shard, ranks / f"{table.name}.parquet")
        cache.write_key(building, {"schema": SCHEMA_VERSION})
        building.chmod(0o755)
        with contextlib.suppress(OSError):
            building.rename(place)
    return shard.place


def _files(table: Table, shard: Shard) -> list[tuple[str, Member]]:
    """The files of a table, each with its rank; a rank without rows in it has none."""
    files = [Path(member.place) / "tables" / f"{table.name}.parquet" for member in shard.members]
    return [(literal(file), member) for file, member in zip(files, shard.members, strict=True) if file.exists()]


def _write(connection: duckdb.DuckDBPyConnection, table: Table, shard: Shard, path: Path) -> None:
    there = _files(table, shard)
    values: dict[str, Any] = {"path": str(path)}
    if there:
        values["files"] = [file for file, _ in there]
        members = [member for _, member in there]
        offsets: dict[str, list[int | None]] = {
            "rank": [member.rank for member in members],
            "shift": [member.rank << RANK_SHIFT for member in members],
            "origin": [member.origin_ns for member in members],
            "unix": [member.origin_unix_ns for member in members],
        }
        # The rows of all parts, in their order.
        selected, used = columns(table, lambda column: f'"{column.name}"', "[CAST(file_index AS BIGINT) + 1]")
        query = f"SELECT {selected} FROM read_parquet($files, hive_partitioning = false)"
        values |= {name: offsets[name] for name in used}
    else:
        nothing = ", ".join(f'CAST(NULL AS {column.sql_type}) AS "{column.name}"' for column in table.columns)
        query = f"SELECT CAST(NULL AS INTEGER) AS rank, {nothing} LIMIT 0"
    if table.name == "captures" and shard.left_out:
        query, added = conversion.with_left_out(query, shard.left_out)
        values |= added
    connection.execute(f"COPY ({query}) TO $path ({PARQUET}, COMPRESSION zstd, COMPRESSION_LEVEL 1)", values)
