"""Damages traces: bytes anywhere, rows and cells inside databases, fields inside protobuf messages.

Used by tests/test_mutations.py and benchmarks/fuzz.py. Invariant: a mutation follows from its number alone.
"""

from __future__ import annotations

import contextlib
import gzip
import random
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from event_mutations import mutated_events
from messages import read_varint, varint

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
NO_TRACES = {".ipynb", ".md", ".py", ".toml"}
TOKENS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"},{", b'"}', b"]}", b"\n", b"\r\n", b"\t", b";", b"|", b"'"),
    *(b"NaN", b"Infinity", b"-Infinity", b"null", b"true", b"-1", b"1e400", b"-1e308", b"0x10", b"", b"\0" * 40),
    *(b"9" * 40, b"-" + b"9" * 25, b"18446744073709551616", b"9223372036854775807", b"-9223372036854775808"),
    *(b"9223372036854775", b"0.0000000000001", b"1." + b"1" * 60, b"00", b"1e18", b"1e12"),
    *(b"\x1b[31m", b"\x1b]0;x\x07", b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\\ud800", b"\\u0000"),
    *(b"</script>", b"=1+1", b"'; DROP TABLE kernels; --", b"%s%n", b"\xe2\x80\xae", b"\xef\xbb\xbf", b"[" * 3000),
)
GZIP = b"\x1f\x8b"
SQLITE = b"SQLite format 3\0"
XSPACE = b"\x0a"
CELLS: tuple[Any, ...] = (
    *(None, 0, -1, 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), 1e308, -1e308, float("inf"), 0.5, 1e18, 10**18),
    *("", "x", "0", "-1", "1e400", b"", b"\xff\xfe", b"\0" * 40),
    *("x" * 5000, "</script>", "=1+1", "'; DROP TABLE kernels; --", "\x1b[31m", "\n", "\0", "{", '{"a": ', "3.13.2"),
)
NUMBERS = (0, 1, 2, 127, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 10**15, 10**18)
WORDS = b' \t\r\n,;:|(){}[]"'


def originals(folder: Path, limit: int = 1 << 30) -> list[Path]:
    """The traces under a folder, at most `limit` bytes each."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in NO_TRACES)
    # A test may have left a cache beside a sample, or imported a script.
    chosen = [path for path in found if not any(part.endswith((".traceview", "__pycache__")) for part in path.parts)]
    return [path for path in chosen if path.stat().st_size <= limit]


def mutant(data: bytes, seed: int) -> bytes:
    """A file's bytes, damaged: mostly inside its compression, now and then the compressed bytes themselves."""
    dice = random.Random(seed)
    if not data.startswith(GZIP):
        return _inside(data, dice)
    how = dice.random()
    if how < 0.1:
        return damaged(data, dice)
    try:
        plain = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return damaged(data, dice)
    if how < 0.15:
        cut = dice.randrange(len(plain) + 1)
        members = [gzip.compress(plain[:cut], 1), gzip.compress(plain[cut:], 1)]
        spoiled = dice.randrange(2)
        members[spoiled] = damaged(members[spoiled], dice)
        return b"".join(members)
    return _inside(plain, dice)


def _inside(data: bytes, dice: random.Random) -> bytes:
    """Half of the time damage that keeps the form of events, a database or a message, to reach what reads them."""
    if data[:1] in (b"{", b"[") and dice.random() < 0.5:
        return mutated_events(data, dice) or damaged(data, dice)
    if data.startswith(SQLITE) and dice.random() < 0.6:
        data = _in_database(data, dice)
        return data if dice.random() < 0.8 else damaged(data, dice)
    if data.startswith(XSPACE) and dice.random() < 0.6:
        for _ in range(dice.choice((1, 2, 5, 20))):
            data = _in_message(data, dice)
        return data
    return damaged(data, dice)


def damaged(data: bytes, dice: random.Random) -> bytes:
    """Bytes change anywhere."""
    for _ in range(dice.choice((1, 1, 2, 3, 8))):
        if len(data) > 1:
            data = dice.choice(MUTATIONS)(data, dice)
    return data


def _flip(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 4, 30))):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data))]


def _behead(data: bytes, dice: random.Random) -> bytes:
    return data[dice.randrange(min(len(data), 4000)) :]


def _block(data: bytes, dice: random.Random) -> tuple[int, int]:
    size = min(len(data), dice.choice((1, 10, 100, 1000, 50_000)))
    start = dice.randrange(len(data) - size + 1)
    return start, start + size


def _remove(data: bytes, dice: random.Random) -> bytes:
    start, end = _block(data, dice)
    return data[:start] + data[end:]


def _repeat(data: bytes, dice: random.Random) -> bytes:
    start, end = _block(data, dice)
    return data[:end] + data[start:end] * dice.choice((1, 1, 5)) + data[end:]


def _swap(data: bytes, dice: random.Random) -> bytes:
    (a, b), (c, d) = sorted((_block(data, dice), _block(data, dice)))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:] if b <= c else _flip(data, dice)


def _insert(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + dice.choice(TOKENS) + data[at:]


def _replace_word(data: bytes, dice: random.Random) -> bytes:
    """A whole word or number becomes something else, so that the structure around it stays whole."""
    start = end = dice.randrange(len(data))
    while start and data[start - 1] not in WORDS:
        start -= 1
    while end < len(data) and data[end] not in WORDS:
        end += 1
    return data[:start] + dice.choice(TOKENS) + data[end:]


def _swap_bytes(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + dice.randbytes(dice.choice((1, 2, 4, 8))) + data[at + 1 :]


MUTATIONS: Sequence[Callable[[bytes, random.Random], bytes]] = (
    *(_flip, _cut, _behead, _remove, _repeat, _swap, _insert, _insert, _replace_word, _replace_word, _replace_word),
    _swap_bytes,
)


def _in_database(data: bytes, dice: random.Random) -> bytes:
    """Cells, rows, columns and tables of a database change; the file stays a database."""
    with tempfile.NamedTemporaryFile(prefix="traceview-mutant-") as file:
        file.write(data)
        file.flush()
        with contextlib.suppress(sqlite3.Error):
            connection = sqlite3.connect(file.name, isolation_level=None)
            connection.execute("PRAGMA journal_mode = OFF")
            with contextlib.closing(connection), contextlib.suppress(sqlite3.Error):
                tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                for _ in range(dice.choice((1, 2, 5, 20)) if tables else 0):
                    _change_table(connection, dice.choice(tables)[0].replace('"', '""'), dice)
        return Path(file.name).read_bytes()


def _change_table(connection: sqlite3.Connection, table: str, dice: random.Random) -> None:
    columns = [row[1].replace('"', '""') for row in connection.execute(f'PRAGMA table_info("{table}")')]
    if not columns:
        return
    column, other = dice.choice(columns), dice.choice(columns)
    rows = f'FROM "{table}" ORDER BY rowid LIMIT 1 OFFSET {dice.randrange(50)}'
    one = dice.choice(("true", f"rowid = (SELECT rowid {rows})", f"rowid = (SELECT rowid {rows})"))
    how = dice.random()
    if how < 0.6:
        connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE {one}', [dice.choice(CELLS)])
    elif how < 0.7:
        connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = "{other}" WHERE {one}')
    elif how < 0.8:
        connection.execute(f'INSERT OR IGNORE INTO "{table}" SELECT * {rows}')
    elif how < 0.86:
        connection.execute(f'DELETE FROM "{table}" WHERE {one}')
    elif how < 0.92:
        connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{column}_x"')
    elif how < 0.96:
        connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
    else:
        connection.execute(dice.choice((f'DROP TABLE "{table}"', f'ALTER TABLE "{table}" RENAME TO "{table}_x"')))


def _in_message(data: bytes, dice: random.Random, depth: int = 0) -> bytes:
    """One field of a protobuf message, or of a message inside it, changes; lengths around it are right again."""
    fields = fields_of(data)
    if not fields:
        return dice.choice((b"", dice.choice(TOKENS), _flip(data, dice) if data else b"\x08"))
    number = dice.randrange(len(fields))
    start, body, end, wire = fields[number]
    if wire == 2 and depth < 6 and dice.random() < 0.85:
        inside = _in_message(data[body:end], dice, depth + 1)
        tag = tag_of(data, start)
        return data[:start] + tag + varint(len(inside)) + inside + data[end:]
    how = dice.random()
    if how < 0.2:
        return data[:start] + data[end:]
    if how < 0.4:
        return data[:end] + data[start:end] * dice.choice((1, 30)) + data[end:]
    if how < 0.5:
        other = dice.choice(fields)
        return data[:end] + data[other[0] : other[2]] + data[end:]
    if wire == 0:
        return data[:start] + tag_of(data, start) + varint(dice.choice(NUMBERS)) + data[end:]
    return data[:body] + dice.randbytes(end - body) + data[end:]


def fields_of(data: bytes) -> list[tuple[int, int, int, int]]:
    """Start, start of the value, end and wire type of each field, as far as they can be told."""
    found, at = [], 0
    while at < len(data):
        start = at
        tag, at = read_varint(data, at)
        wire, body = tag & 7, at
        if wire == 0:
            _, at = read_varint(data, at)
        elif wire == 2:
            length, body = read_varint(data, at)
            at = body + length
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            break
        if at > len(data) or tag < 8:
            break
        found.append((start, body, at, wire))
    return found


def tag_of(data: bytes, start: int) -> bytes:
    return data[start : read_varint(data, start)[1]]
