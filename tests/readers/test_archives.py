"""Archives and bombs: never unpacked beside the trace, and stopped at a stated bound."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from traceview import store
from traceview.decode import files
from traceview.errors import InputError


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../../outside", "{}")
        archive.writestr("trace.json", '{"traceEvents": []}')
    return buffer.getvalue()


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../../outside"))
    return buffer.getvalue()


def ranks(is_zip: bool) -> bytes:
    """An archive whose members, uncompressed, each look like a trace of Kineto."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") if is_zip else tarfile.open(fileobj=buffer, mode="w") as archive:
        for rank in range(2):
            text = b'{"schemaVersion": 1, "distributedInfo": {"rank": %d}, "traceEvents": [' % rank
            text += b'{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}'
            if isinstance(archive, zipfile.ZipFile):
                archive.writestr(f"rank{rank}.json", text)
            else:
                about = tarfile.TarInfo(f"rank{rank}.json")
                about.size = len(text)
                archive.addfile(about, io.BytesIO(text))
    return buffer.getvalue()


ARCHIVES = {
    "zip": zipped(),
    "tar": tarred(),
    "tar.gz": gzip.compress(tarred()),
    "zip of traces": ranks(True),
    "tar of traces": ranks(False),
    "tar.gz of traces": gzip.compress(ranks(False)),
}


@pytest.mark.parametrize("data", ARCHIVES.values(), ids=ARCHIVES)
def test_an_archive_is_refused_with_what_to_do(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    trace = tmp_path / "place" / "trace"
    trace.write_bytes(data)
    with pytest.raises(InputError, match="is an archive: unpack it"):
        store.convert([trace], tmp_path / "place" / "capture")
    assert [path.name for path in tmp_path.iterdir()] == ["place"]
    assert [path.name for path in trace.parent.iterdir()] == ["trace"]


@pytest.mark.parametrize("pack", [lambda data: files.zstd().compress(data, 3)], ids=["zstd"])
def test_a_bomb_stops_at_the_bound(pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """Deflate cannot exceed 1032 bytes for one; zstd can."""
    monkeypatch.setattr(files, "FREE_BYTES", 1 << 20)
    bomb = tmp_path / "trace.json"
    bomb.write_bytes(pack(b'{"traceEvents": [' + b" " * (64 << 20)))
    with pytest.raises(InputError, match="expands to more than 2000 times its size"):
        store.convert([bomb], tmp_path / "capture")
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]
