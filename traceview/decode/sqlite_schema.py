"""How large the list of tables of a SQLite file is, before SQLite reads it, which it does as a whole and in memory.

Invariant: no more pages are looked at than a list of `most` bytes has. Format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_INTERIOR, _LEAF = 5, 13
_LEAST_PAGE = 512


def is_larger(path: Path, most: int) -> bool:
    """Whether the statements that make the tables have more bytes than `most`; damaged, as far as they go."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(18)[16:], "big")
        size = 1 << 16 if size == 1 else max(size, _LEAST_PAGE)
        pages, n_pages, n_bytes = [1], 0, 0
        while pages:
            number = pages.pop()
            n_pages += 1
            try:
                below, added = _page(file, number, size)
            except (struct.error, IndexError):
                continue
            pages += below
            n_bytes += added
            if n_bytes > most or n_pages + len(pages) > most // _LEAST_PAGE:
                return True
    return False


def _page(file: BinaryIO, number: int, size: int) -> tuple[list[int], int]:
    """The pages below one, and the bytes of the rows that it holds."""
    file.seek((number - 1) * size)
    page = file.read(size)
    start = 100 if number == 1 else 0
    kind, count = page[start], struct.unpack_from(">H", page, start + 3)[0]
    if kind == _INTERIOR:
        cells = struct.unpack_from(f">{count}H", page, start + 12)
        right = struct.unpack_from(">I", page, start + 8)[0]
        return [right, *(struct.unpack_from(">I", page, cell)[0] for cell in cells)], 0
    cells = struct.unpack_from(f">{count}H", page, start + 8) if kind == _LEAF else ()
    return [], sum(_varint(page, cell) for cell in cells)


def _varint(page: bytes, at: int) -> int:
    value = 0
    for byte in page[at : at + 9]:
        value = value << 7 | byte & 127
        if byte < 128:
            break
    return value
