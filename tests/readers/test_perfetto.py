"""A Perfetto trace is recognised and answered with what to do; nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from messages import field

from traceview import store
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS, perfetto


def packets() -> bytes:
    """A sequence as the SDK writes it: clocks, a track, a slice on it."""
    track = field(60, field(1, 77) + field(2, b"main"))
    clocks = field(6, field(1, field(1, 6) + field(2, 10**18)))
    begin = field(8, 10**9) + field(10, 1) + field(11, field(9, 1) + field(11, 77) + field(23, b"step"))
    return b"".join(field(1, packet) for packet in (clocks + field(10, 1), track + field(10, 1), begin))


@pytest.mark.parametrize("content", [packets(), packets() * 3000, packets()[:-3]])
def test_it_is_recognised_and_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "unknown"
    path.write_bytes(content)
    assert [reader.NAME for reader in READERS if reader.sniff(peek(path))] == ["perfetto"]
    with pytest.raises(InputError, match="traceconv json"):
        store.convert([path], tmp_path / "out")


@pytest.mark.parametrize("content", [b"\x0a", b"\x0a\x00", b"\x0a\x02\x08\x01", b"\x0a\x7f" + b"\xff" * 40, b"\n{}"])
def test_other_bytes_are_not(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "unknown"
    path.write_bytes(content)
    assert not perfetto.sniff(peek(path))
