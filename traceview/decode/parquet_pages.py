"""What the pages of a Parquet file claim, before any of them is unpacked.

Invariant: no page is read that would unpack to more than `MAX_UNPACKED_BYTES`, nor one in which a few bytes can stand
for many texts. Format: https://parquet.apache.org/docs/file-format/ (headers are Thrift structs, compact protocol).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from traceview.decode.text_bounds import MAX_UNPACKED_BYTES

HEADER_BYTES = 1 << 16
"""Where a header, with the least and greatest value of its page, ends at the latest."""
_UNPACKED, _PACKED, _PAGE_1, _PAGE_2 = 2, 3, 5, 8
_ENCODINGS = ((_PAGE_1, 2), (_PAGE_2, 4))
_PREFIXES = 7
"""DELTA_BYTE_ARRAY: a text is a part of the one before it and a rest, so a page holds texts without end."""
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 6, 7, 8, 12
_DEPTH = 4


def check_pages(file: Path, metadata: Any, columns: list[str]) -> None:
    """Raise `pa.ArrowInvalid` where a page of these columns is not to be read."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        for group in range(metadata.num_row_groups):
            row_group = metadata.row_group(group)
            for number in range(row_group.num_columns):
                chunk = row_group.column(number)
                if chunk.path_in_schema in columns:
                    first = chunk.data_page_offset
                    if chunk.dictionary_page_offset and chunk.dictionary_page_offset > 0:
                        first = min(first, chunk.dictionary_page_offset)
                    _check_chunk(opened, first, min(size, first + chunk.total_compressed_size), chunk.path_in_schema)


def _check_chunk(file: BinaryIO, at: int, end: int, column: str) -> None:
    while 0 <= at < end:
        file.seek(at)
        try:
            header, length = _struct(file.read(HEADER_BYTES), 0, _DEPTH)
            unpacked, packed = int(header.get(_UNPACKED, 0)), int(header.get(_PACKED, 0))
        except (IndexError, ValueError, TypeError) as error:
            raise pa.ArrowInvalid(f"the header of a page of column {column} is damaged") from error
        if unpacked > MAX_UNPACKED_BYTES:
            raise pa.ArrowInvalid(f"a page of column {column} unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB")
        for page, field in _ENCODINGS:
            part = header.get(page)
            if isinstance(part, dict) and part.get(field) == _PREFIXES:
                raise pa.ArrowInvalid(f"column {column} is stored as DELTA_BYTE_ARRAY, which is not read")
        if packed < 0:
            raise pa.ArrowInvalid(f"the header of a page of column {column} is damaged")
        at += length + packed


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """The numbers and structs of a struct by field, and where it ends. Raises IndexError or ValueError for damage."""
    found: dict[int, Any] = {}
    number = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _whole(data, at)
        found[number], at = _value(data, at, kind, depth)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return data[at], at + 1
    if _BYTE < kind <= _I64:
        return _whole(data, at)
    if kind == _DOUBLE:
        return None, at + 8
    if kind == _BINARY:
        length, at = _varint(data, at)
        return None, at + length
    if kind == _STRUCT and depth:
        return _struct(data, at, depth - 1)
    raise ValueError("not in the header of a page")


def _whole(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError("a number without end")
