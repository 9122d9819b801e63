"""Reads files as streams of bytes, whatever they are compressed with.

Invariant: memory does not grow with the file, and a damaged end never loses what came before it: the stream yields
all that could be decompressed and says in `Stream.damage` what went wrong.
"""

from __future__ import annotations

import contextlib
import mmap
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from isal import igzip_lib

from traceview.errors import InputError
from traceview.paths import temporary_folder

T = TypeVar("T")
_JSON_STARTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_STARTS = ZSTD_MAGIC[:1] + bytes(range(0x50, 0x60))
"""First bytes of frames; the others hold what a reader skips."""
PEEK_BYTES = 256 * 1024
READ_BYTES = 1 << 20
FIRST_BYTES, BLOCK_BYTES = PEEK_BYTES, 8 << 20
"""Decompressed bytes of the first block, which may be all that anybody looks at, and of the others."""
LOOK_BYTES = 256 << 20
"""How far into a JSON file its beginning is looked for behind a value that fills what is peeked at."""
MAX_RATIO = 2000
"""Decompressed bytes per compressed byte beyond which a file is called a bomb (deflate itself cannot exceed 1032)."""
PIECE_BYTES = 4096
"""Compressed bytes that are decompressed at a time: what a piece with damaged data stands for is lost."""
TRAILER_BYTES = 8
"""Check sum and size at the end of gzip data: a piece of their own, so that wrong ones cost nothing before them."""
FREE_BYTES = 1 << 30
"""Output up to this size is never called a bomb."""


@dataclass(frozen=True)
class Peek:
    """Content by which a reader may recognise its format: never the file's name."""

    path: Path
    head: bytes
    """First bytes after decompression, at most `PEEK_BYTES`; none of a folder."""
    compression: str | None
    """gzip, zstd or None."""


@dataclass
class Stream:
    """A file as decompressed blocks. Iterate once; `damage` is set when the end could not be read."""

    path: Path
    progress: Callable[[int], None] | None = None
    """Called with the number of bytes read from disk so far."""
    damage: str | None = None
    compression: str | None = field(default=None, init=False)
    """gzip, zstd or None, once the first block is there."""
    n_read: int = field(default=0, init=False)
    n_out: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            magic = file.read(4)
            file.seek(0)
            blocks = iter(lambda: self._read(file), b"")
            if magic.startswith(GZIP_MAGIC):
                self.compression = "gzip"
                yield from self._bounded(
                    _joined(self._members(blocks, GZIP_MAGIC[:1], _gzip_member, igzip_lib.IsalError))
                )
            elif magic == ZSTD_MAGIC:
                self.compression = "zstd"
                frame, error = zstd().ZstdDecompressor, zstd().ZstdError
                yield from self._bounded(_joined(self._members(blocks, _ZSTD_STARTS, frame, error)))
            else:
                yield from blocks

    def _read(self, file: object) -> bytes:
        # Whoever asks for a block is done with the one before.
        if self.progress:
            self.progress(self.n_read)
        block: bytes = file.read(READ_BYTES)  # type: ignore[attr-defined]
        self.n_read += len(block)
        return block

    def _bounded(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self.n_out += len(block)
            if self.n_out > FREE_BYTES and self.n_out > MAX_RATIO * self.n_read:
                raise InputError(
                    f"{self.path.name} expands to more than {MAX_RATIO} times its size; "
                    "decompress it yourself if you trust it."
                )
            yield block

    def _members(
        self, blocks: Iterator[bytes], starts: bytes, decompressor: Callable[[], Any], error_type: Any
    ) -> Iterator[bytes]:
        """Yield every member of a gzip or zstd file; a cut or damaged one ends the stream and is reported."""
        member = None
        for piece in _pieces(blocks):
            rest = piece
            while rest or (member is not None and not member.needs_input):
                if member is None:
                    # Writers may pad a finished member with zeros.
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    if rest[0] not in starts:
                        self.damage = f"there is something else after the end of the {self.compression} data"
                        return
                    member = decompressor()
                try:
                    yield member.decompress(rest, FIRST_BYTES)
                except error_type as error:
                    self.damage = f"{self.compression} data is damaged ({error})"
                    return
                rest, member = (member.unused_data, None) if member.eof else (b"", member)
        if member is not None:
            self.damage = f"{self.compression} data is cut off"


def zstd() -> Any:
    """Return Python's zstd module; a package has it for Pythons before 3.14."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd as module
        else:
            from backports import zstd as module
    except ImportError as error:
        raise InputError("this Python was built without zstd: decompress the file yourself.") from error
    return module


def _gzip_member() -> Any:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        body = block[:-TRAILER_BYTES]
        yield from (body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES))
        yield block[-TRAILER_BYTES:]


def _joined(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Put small blocks together: one of `FIRST_BYTES`, then blocks of `BLOCK_BYTES`."""
    held, size, enough = [], 0, FIRST_BYTES
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= enough:
            yield b"".join(held)
            held, size, enough = [], 0, BLOCK_BYTES
    if size:
        yield b"".join(held)


def ahead(blocks: Iterable[T]) -> Iterator[T]:
    """Yield the blocks; while one is used, the next is made in another thread."""
    from concurrent.futures import ThreadPoolExecutor

    source = iter(blocks)
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, source, None)
        while (block := coming.result()) is not None:
            coming = pool.submit(next, source, None)
            yield block


def peek(path: Path) -> Peek:
    """The first bytes of a file, decompressed. Raises `InputError` for what cannot be opened or is empty.

    A folder can be a trace too: its reader looks at what lies in `Peek.path`.
    """
    if path.is_dir():
        return Peek(path, b"", None)
    try:
        stream = Stream(path)
        head = _head(iter(stream))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from error
    if not head:
        why = f"holds nothing that can be read: {stream.damage}" if stream.damage else "is empty"
        raise InputError(f"{path} {why}.")
    return Peek(path, head, stream.compression)


def _head(blocks: Iterator[bytes]) -> bytes:
    """The first `PEEK_BYTES`; of a JSON file without the inside of a value that would fill half of them, or more."""
    head = _first(blocks, PEEK_BYTES)
    half = PEEK_BYTES // 2
    if len(head) < PEEK_BYTES or b"{" in head[half:PEEK_BYTES] or not _JSON_STARTS.match(head):
        return head[:PEEK_BYTES]
    rest, n_seen = head[half:], len(head)
    while (brace := rest.find(b"{")) < 0:
        block = next(blocks, b"")
        n_seen += len(block)
        if not block or n_seen > LOOK_BYTES:
            return head[:PEEK_BYTES]
        rest = rest[-half // 2 :] + block
    behind = rest[max(0, brace - half // 2) :]
    return (head[:half] + behind + _first(blocks, half - len(behind)))[:PEEK_BYTES]


def _first(blocks: Iterator[bytes], size: int) -> bytes:
    found = bytearray()
    while len(found) < size and (block := next(blocks, b"")):
        found += block
    return bytes(found)


def files_in(path: Path) -> list[Path]:
    """The files of a trace: the file itself, or all that lie in a folder that is one trace."""
    return sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]


@contextlib.contextmanager
def plain_file(path: Path) -> Iterator[tuple[Path, str | None]]:
    """The file itself or, while the context lasts, a decompressed copy; and what was wrong with the compression."""
    with path.open("rb") as file:
        magic = file.read(4)
    if not magic.startswith(GZIP_MAGIC) and magic != ZSTD_MAGIC:
        yield path, None
        return
    with temporary_folder("traceview-plain-") as folder:
        stream = Stream(path)
        with (folder / "plain").open("wb") as copy:
            copy.writelines(stream)
        yield folder / "plain", stream.damage


def mapped(blocks: Iterable[bytes], folder: Path | None, n_after: int) -> mmap.mmap:
    """The blocks, and `n_after` zeros, as memory that the system can take back: they lie in a file without a name.

    A file that somebody else may cut short while it is read is never mapped itself: to read behind its end is fatal.
    """
    if folder:
        folder.mkdir(exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.writelines(blocks)
        file.write(bytes(n_after))
        file.flush()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
