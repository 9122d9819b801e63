"""Recognising a format takes no time, whatever the file: patterns are tried on the first 256 KiB of anything."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from traceview.decode.files import PEEK_BYTES, Peek
from traceview.readers import READERS

FILLS = (
    *(
        b"\n",
        b" ",
        b"\t",
        b" \n",
        b"\r\n",
        b'"',
        b"'",
        b"{",
        b"[",
        b"\\",
        b"a",
        b"0",
        b",",
        b"=",
        b"==",
        b"%",
        b":",
        b"-",
    ),
    *(
        b'"a":',
        b'"ts":1,',
        b"a ",
        b"a,",
        b"0 ",
        b"0.",
        b"1e",
        b"a b\n",
        b'"Start"',
        b"Start  ",
        b"Time(%)",
        b"(ns),",
        b"* ",
    ),
    *(
        b'"name": "/',
        b'"cat": ',
        b'"traceEvents" ',
        b"onednn_verbose,",
        b"]",
        b"<time> ",
        b"\x0a",
        b"\x0a\x05",
        b"\xff",
    ),
)
LIMIT_SECONDS = 1.0


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.NAME)
def test_no_text_makes_a_pattern_slow(reader: object, tmp_path: Path) -> None:
    for fill in FILLS:
        head = (fill * (PEEK_BYTES // len(fill)))[:PEEK_BYTES]
        started = time.process_time()
        reader.sniff(Peek(tmp_path, head, None))  # type: ignore[attr-defined]
        assert time.process_time() - started < LIMIT_SECONDS, f"{fill!r} over and over"
