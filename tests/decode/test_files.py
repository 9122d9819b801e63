"""Peeking at the head of a file is enough to recognise it; what a damaged one still holds is read."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from traceview.decode.files import BLOCK_BYTES, PEEK_BYTES, READ_BYTES, Stream, peek, zstd
from traceview.readers import detect

EVENT = '{"name": "k", "ph": "X", "cat": "kernel", "ts": 1, "dur": 1}'


@pytest.mark.parametrize("text", [
    '{"schemaVersion": "%s", "traceEvents": [' + EVENT + "]}",
    '[{"name": "%s", "ph": "X", "cat": "kernel", "ts": 1, "dur": 1}, ' + EVENT + "]",
    '\ufeff {"a": "%s", "traceEvents": [' + EVENT + ", " + EVENT + "]}",
])  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_a_value_that_fills_the_head_is_looked_behind(text: str, packed: bool, tmp_path: Path) -> None:
    data = (text % ("x" * (3 << 20))).encode()
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    found = peek(path)
    assert detect(found).NAME == "kineto"
    assert len(found.head) <= PEEK_BYTES


@pytest.mark.parametrize("size", [10, PEEK_BYTES, 3 << 20])
def test_another_file_shows_its_beginning(size: int, tmp_path: Path) -> None:
    for number, start in enumerate((b"==PROF== ", b'{"a": "')):
        path = tmp_path / str(number)
        path.write_bytes(start + b"x" * size)
        assert peek(path).head == (start + b"x" * size)[:PEEK_BYTES]


PACKED = pytest.mark.parametrize("pack", [gzip.compress, zstd().compress], ids=["gzip", "zstd"])
LINES = random.Random(1).randbytes(1 << 20).hex().encode()


def read(path: Path, data: bytes) -> tuple[bytes, str]:
    path.write_bytes(data)
    stream = Stream(path)
    return b"".join(stream), stream.damage or ""


@PACKED
def test_members_follow_each_other_and_padding_ends_them(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    empty, member = pack(b""), pack(LINES)
    assert read(tmp_path / "a", member) == (LINES, "")
    assert read(tmp_path / "a", empty + member + bytes(10_000) + member + bytes(10_000)) == (LINES * 2, "")
    text, damage = read(tmp_path / "a", member + b"more")
    assert text == LINES and "there is something else after the end" in damage


@PACKED
@pytest.mark.parametrize("left_out", [1, 3, 5, 100_000])
def test_a_cut_file_is_read_to_its_end_and_reported(
    pack: Callable[[bytes], bytes], left_out: int, tmp_path: Path
) -> None:
    packed = pack(LINES)
    text, damage = read(tmp_path / "a", packed[:-left_out])
    assert "data is cut off" in damage
    assert LINES.startswith(text) and len(text) > len(LINES) * (1 - left_out / len(packed)) - (1 << 18)


@PACKED
def test_what_lies_before_damaged_bytes_is_kept(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    packed = pack(LINES)
    text, damage = read(tmp_path / "a", packed[:-8] + bytes(byte ^ 1 for byte in packed[-8:-4]) + packed[-4:])
    assert "data is damaged" in damage
    assert text and LINES.startswith(text) and len(text) > len(LINES) - (1 << 18)


@pytest.mark.parametrize("size", [READ_BYTES - 4, READ_BYTES + 3, READ_BYTES + 9, READ_BYTES + 9000])
def test_a_wrong_check_sum_of_gzip_costs_nothing(size: int, tmp_path: Path) -> None:
    """Wherever the blocks that are read cut the file."""
    noise = random.Random(2).randbytes(size - 18 - 5 * (size // 65_535))
    packed = gzip.compress(noise, 0, mtime=0)
    noise = random.Random(2).randbytes(len(noise) + size - len(packed))
    packed = gzip.compress(noise, 0, mtime=0)
    assert len(packed) == size
    text, damage = read(tmp_path / "a", packed[:-8] + bytes(4) + packed[-4:])
    assert (text == noise, damage) == (True, "gzip data is damaged (Error -6 Incorrect checksum found)")


def test_frames_that_are_to_be_skipped_are(tmp_path: Path) -> None:
    skipped, frame = b"\x5a\x2a\x4d\x18\x04\0\0\0abcd", zstd().compress(b"text")
    assert read(tmp_path / "a", frame + skipped + frame) == (b"texttext", "")


def test_a_frame_that_asks_for_too_much_memory_is_damaged(tmp_path: Path) -> None:
    window_of_2_gib = bytes([31 - 10 << 3])
    text, damage = read(tmp_path / "a", b"\x28\xb5\x2f\xfd\0" + window_of_2_gib + b"\x09\0\0x")
    assert text == b"" and damage.startswith("zstd data is damaged")


@PACKED
def test_blocks_are_bounded_whatever_they_are_packed_from(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(pack(bytes(BLOCK_BYTES * 4)))
    sizes = [len(block) for block in Stream(tmp_path / "a")]
    assert sizes[0] == PEEK_BYTES and max(sizes) < BLOCK_BYTES + PEEK_BYTES and sum(sizes) == BLOCK_BYTES * 4
