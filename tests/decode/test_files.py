"""What is peeked at of a file is enough to recognise it, also where one value is longer than that."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from traceview.decode.files import PEEK_BYTES, peek
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
