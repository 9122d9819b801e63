"""Damages a capture: its Parquet files, its JSON, and what was materialized of it.

Invariant: a mutation follows from its number alone, and from what lies in the capture.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from mutations import CELLS, damaged

ODD: tuple[Any, ...] = (*(cell for cell in CELLS if not isinstance(cell, bytes)), [], {}, [[]], {"a": 1}, True)
_TYPES = (pa.string(), pa.int8(), pa.float64(), pa.bool_(), pa.binary(), pa.list_(pa.int64()), pa.null())


def mutate_capture(capture: Path, materialized: Path, seed: int) -> str:
    """Damage one file of a capture, or below the folder of what was materialized; returns which and how."""
    dice = random.Random(seed)
    files = sorted(path for path in capture.rglob("*") if path.is_file())
    stored = sorted(path for path in materialized.rglob("*") if path.is_file())
    path = dice.choice(stored) if stored and dice.random() < 0.25 else dice.choice(files)
    if path.suffix == ".json" and dice.random() < 0.7:
        ways: tuple[Callable[[Path, random.Random], None], ...] = (_json_value,)
    elif path.suffix == ".parquet" and dice.random() < 0.6:
        ways = (_columns,)
    else:
        ways = (_bytes, _bytes, _cut, _other, _gone, _no_file)
    way = dice.choice(ways)
    way(path, dice)
    return f"{way.__name__[1:]} of {path.name}"


def _bytes(path: Path, dice: random.Random) -> None:
    path.write_bytes(damaged(path.read_bytes(), dice))


def _cut(path: Path, dice: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: dice.choice((0, 4, dice.randrange(len(data) + 1)))])


def _other(path: Path, dice: random.Random) -> None:
    """Another file of the capture in its place."""
    path.write_bytes(dice.choice(sorted(other for other in path.parent.iterdir() if other.is_file())).read_bytes())


def _gone(path: Path, dice: random.Random) -> None:
    path.unlink()


def _no_file(path: Path, dice: random.Random) -> None:
    """A folder, a link that leads out of the capture, or a pipe that nobody writes to."""
    path.unlink()
    dice.choice((Path.mkdir, lambda it: it.symlink_to("/etc/hostname"), os.mkfifo))(path)


def _json_value(path: Path, dice: random.Random) -> None:
    """A value, anywhere, becomes another; a key goes, or comes."""
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        _bytes(path, dice)
        return
    places = list(_places(content))
    if not places or dice.random() < 0.05:
        path.write_text(dice.choice(("[" * 100_000, '{"a": ' * 5000, "null", "[]", json.dumps(dice.choice(ODD)))))
        return
    holder, key = dice.choice(places)
    if isinstance(holder, dict) and dice.random() < 0.3:
        value = holder.pop(key)
        if dice.random() < 0.5:
            holder[dice.choice(("../x", "/dev/zero", "rank-0000/x.parquet", "", "\ud800", f"{key}x"))] = value
    else:
        holder[key] = dice.choice((*ODD, "../../x", "/dev/zero", "\x1b[31m"))
    path.write_text(json.dumps(content))


def _places(content: Any) -> list[tuple[Any, Any]]:
    """Every value inside, as what holds it and its key or number."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [place for key, value in pairs for place in [(content, key), *_places(value)]]


def _columns(path: Path, dice: random.Random) -> None:
    """A column has another name, type or content; columns or rows come twice or are gone. The file stays Parquet."""
    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException):
        _bytes(path, dice)
        return
    at = dice.randrange(table.num_columns) if table.num_columns else 0
    name, column = (table.column_names[at], table.column(at)) if table.num_columns else ("x", pa.chunked_array([[]]))
    how = dice.randrange(7)
    if how == 0:
        table = table.rename_columns([*table.column_names[:at], f"{name}_x", *table.column_names[at + 1 :]])
    elif how == 1:
        kind = dice.choice(_TYPES)
        table = table.set_column(at, name, pa.nulls(len(table), kind) if len(table) else pa.array([], kind))
    elif how == 2:
        table = table.drop_columns([name])
    elif how == 3:
        table = table.append_column(dice.choice(("extra", name)), column)
    elif how == 4:
        table = pa.concat_tables([table] * dice.choice((2, 50))) if dice.random() < 0.7 else table.slice(0, 0)
    elif how == 5 and pa.types.is_integer(column.type):
        value = dice.choice((-(2**62), -1, 0, 2**31, 2**62))
        table = table.set_column(at, name, pa.array([value] * len(table), pa.int64()))
    else:
        value = dice.choice(("", "x" * 70_000, "</script>", "\x1b[31m", "{", "=1+1"))
        table = table.set_column(at, name, pa.array([value] * len(table), pa.string()))
    pq.write_table(table, path)
