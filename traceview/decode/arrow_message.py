"""What the messages of an Arrow stream claim, before any of them is decoded.

Invariant: no length is believed that the file has no room for, and no compressed body that would unpack to more than
`MAX_UNPACKED_BYTES`. Format: https://arrow.apache.org/docs/format/Columnar.html (messages are FlatBuffers).
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from traceview.decode.text_bounds import MAX_UNPACKED_BYTES

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
        """Where a field lies; 0 where there is none."""
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
