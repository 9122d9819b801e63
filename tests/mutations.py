"""Damages traces, and says whether what became of one is allowed: a whole capture, or a refusal in one sentence.

Used by tests/test_mutations.py and benchmarks/fuzz.py. Every mutation follows from its seed.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb

from traceview import capture, reports, store
from traceview.errors import InputError, TraceviewError
from traceview.files import files_in
from traceview.render import renderer

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
NO_TRACES = {".py", ".md"}
TOKENS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"},{", b'"}', b"]}", b"\n", b"\r\n", b"\t", b";", b"|", b"'"),
    *(b"NaN", b"Infinity", b"-Infinity", b"null", b"true", b"-1", b"1e400", b"-1e308", b"0x10", b"", b"\0" * 40),
    *(b"9" * 40, b"-" + b"9" * 25, b"18446744073709551616", b"9223372036854775807", b"-9223372036854775808"),
    *(b"9223372036854775", b"0.0000000000001", b"1." + b"1" * 60, b"00", b"1e18", b"1e12"),
    *(b"\x1b[31m", b"\x1b]0;x\x07", b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\\ud800", b"\\u0000"),
    *(b"</script>", b"=1+1", b"'; DROP TABLE kernels; --", b"%s%n", b"\xe2\x80\xae", b"\xef\xbb\xbf", b"[" * 3000),
)
WORDS = b' \t\r\n,;:|(){}[]"'


def originals(folder: Path, limit: int = 1 << 30) -> list[Path]:
    """The traces under a folder, at most `limit` bytes each."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in NO_TRACES)
    return [path for path in found if path.stat().st_size <= limit]


def mutant(data: bytes, seed: int) -> bytes:
    """A file's bytes, damaged: mostly inside its compression, now and then the compressed bytes themselves."""
    dice = random.Random(seed)
    if not data.startswith(b"\x1f\x8b"):
        return _damaged(data, dice)
    how = dice.random()
    if how < 0.1:
        return _damaged(data, dice)
    plain = gzip.decompress(data)
    if how < 0.15:
        cut = dice.randrange(len(plain))
        members = [gzip.compress(plain[:cut], 1), gzip.compress(plain[cut:], 1)]
        spoiled = dice.randrange(2)
        members[spoiled] = _damaged(members[spoiled], dice)
        return b"".join(members)
    return _damaged(plain, dice)


def _damaged(data: bytes, dice: random.Random) -> bytes:
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


def trouble(data: bytes, folder: Path, reports_too: bool = True) -> str | None:
    """Convert damaged bytes in an empty folder; what must not happen, in words, or None when all is as promised.

    Point TMPDIR (and `tempfile.tempdir`) into `folder` to have files left there noticed too.
    """
    trace = folder / "trace"
    trace.write_bytes(data)
    try:
        made = _convert(trace, folder / "capture", reports_too)
    except Exception:
        return traceback.format_exc()
    left = {path.name for path in folder.iterdir()} - {"trace", "tmp"} - ({"capture"} if made else set())
    left |= {path.name for path in files_in(folder / "tmp")} if (folder / "tmp").exists() else set()
    for name in ("capture", *left):
        shutil.rmtree(folder / name, ignore_errors=True)
    return f"left behind: {sorted(left)}" if left else None


def _convert(trace: Path, target: Path, reports_too: bool) -> bool:
    try:
        store.convert([trace], target)
    except InputError as error:
        _check_sentence(str(error))
        return False
    _check_rows(target)
    if reports_too:
        _check_reports(target)
    return True


def _check_reports(target: Path) -> None:
    try:
        connection = capture.connect(target)
        try:
            overview = reports.run(connection, "overview")
            for form in ("table", "json", "csv", "markdown"):
                renderer(form)(overview).encode()
        finally:
            connection.close()
    except TraceviewError as error:
        raise AssertionError(f"a capture that was just written cannot be used: {error}") from error


def _check_rows(target: Path) -> None:
    """What holds for every capture: spans that do not end before they start, ids that are unique."""
    with duckdb.connect() as connection:
        for table in ("kernels", "memcpys", "primitives", "ops", "ranges", "api_calls"):
            query = "SELECT count(*) FILTER (dur_ns < 0), count(*) - count(DISTINCT id) FROM read_parquet($1)"
            found = connection.execute(query, [f"{target}/rank-*/{table}.parquet"]).fetchall()
            assert found == [(0, 0)], f"{table}: {found} negative durations, ids that are not unique"


def _check_sentence(text: str) -> None:
    assert len(text) < 1000 and text.rstrip().endswith(".") and "\n" not in text, f"no sentence: {text!r}"
    assert "Traceback" not in text and os.sep + "site-packages" not in text, text
