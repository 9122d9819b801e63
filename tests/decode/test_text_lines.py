"""Lines in batches: whole whatever the blocks, bounded whatever the lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview.decode import text_lines
from traceview.decode.files import Stream
from traceview.decode.text_lines import Lines


def lines(path: Path, data: bytes) -> tuple[list[str], str | None]:
    path.write_bytes(data)
    found = Lines(Stream(path))
    return [line for batch in found for line in batch.to_pylist()], found.unended


@pytest.mark.parametrize("batch_bytes", [1, 7, 1 << 20])
def test_lines_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch_bytes: int) -> None:
    monkeypatch.setattr(text_lines, "BATCH_BYTES", batch_bytes)
    monkeypatch.setattr("traceview.decode.files.READ_BYTES", 5)
    data = "\ufeffone\r\n\nthr\u2028ee\x0c\nfour".encode()
    assert lines(tmp_path / "log", data) == (["one", "", "thr\u2028ee\x0c", "four"], "four")
    assert lines(tmp_path / "log", data + b"\n")[1] is None


@pytest.mark.parametrize("n_long", [60, 1000])
def test_a_line_that_is_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_long: int) -> None:
    monkeypatch.setattr(text_lines, "BATCH_BYTES", 100)
    monkeypatch.setattr(text_lines, "MAX_LINE_BYTES", 50)
    monkeypatch.setattr("traceview.decode.files.READ_BYTES", 30)
    path = tmp_path / "log"
    for before, after in (("", ""), ("a\n", "b\nc\n"), ("a\n" * 90, "b\n" * 90)):
        text = f"{before}{'x' * n_long}\n{after}"
        path.write_text(text)
        found = Lines(Stream(path))
        assert [line for batch in found for line in batch.to_pylist()] == (before + after).splitlines()
        problems: list[object] = []
        found.report(lambda kind, n=1, problems=problems, **_: problems.append((kind, n)))
        assert problems == [("lines of more than 1 MiB, left out", 1)]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    assert lines(tmp_path / "log", b"a\xff\x00b\n") == (["a\ufffd\x00b"], None)
