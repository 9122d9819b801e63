"""The traces that `collect` left in `raw/` of a capture are converted several at a time, too, and the same way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from job_traces import left_over, rows, written

from traceview import store
from traceview.fleet import Fleet
from traceview.store import Options

pytestmark = pytest.mark.slow


def collected(folder: Path, ranks: int = 4) -> Path:
    """A capture folder as a collected run leaves it, not converted yet; in the order of names rank 0 is not first."""
    folder.mkdir()
    raw = written(folder / "raw", ranks)
    for rank, path in enumerate(sorted(raw.iterdir())):
        path.rename(raw / f"rank-{ranks - 1 - rank:04d}.kineto.json")
    about = {"command": ["python", "train.py"], "ranks": [{"rank": rank, "pid": 70 + rank} for rank in range(ranks)]}
    (folder / "capture.json").write_text(json.dumps(about))
    return folder


def converted(capture: Path, notes: list[str] | None = None) -> Path:
    note = notes.append if notes is not None else None
    return store.resolve(capture, Options(many=Fleet(2), note=note))


def test_rows_are_those_of_one_process_and_the_other_tables_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = collected(tmp_path / "capture")
    alone = rows(store.convert_raw(capture))
    assert sum(map(len, alone.values())) > 40
    (capture / "converted.json").unlink()
    monkeypatch.setattr("traceview.fleet.merge.SHARD_RANKS", 3)
    assert rows(converted(capture)) == alone
    shards = ["shard-0000", "shard-0001"]
    assert sorted(path.name for path in capture.iterdir()) == ["capture.json", "converted.json", "raw", *shards]
    assert rows(store.convert_raw(capture)) == alone
    assert not [path for path in capture.iterdir() if path.name in shards] and left_over(capture) == []


@pytest.mark.long
def test_a_damaged_file_is_named_and_counted(tmp_path: Path) -> None:
    capture = collected(tmp_path / "capture")
    damaged = capture / "raw" / "rank-0002.kineto.json"
    damaged.write_text('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}')
    notes: list[str] = []
    converted(capture, notes)
    (note,) = notes
    assert note.startswith(f"1 of 4 traces could not be read and is left out: {damaged} ")
    with store.open_capture(capture, Options(many=Fleet(2))) as connection:
        assert connection.execute("SELECT list(DISTINCT rank ORDER BY rank) FROM kernels").fetchall() == [([0, 1, 3],)]
        assert connection.execute("SELECT n FROM quality WHERE kind LIKE '%left out'").fetchall() == [(1,)]


@pytest.mark.long
def test_what_was_interrupted_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = collected(tmp_path / "capture")
    alone = rows(store.convert_raw(collected(tmp_path / "alone")))
    monkeypatch.setattr("traceview.fleet.merge.plan", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        converted(capture)
    monkeypatch.undo()
    assert left_over(capture) == [".converted.partial"] and not (capture / "converted").exists()
    assert len(list((capture / ".converted.partial").iterdir())) == 4
    assert rows(converted(capture)) == alone
    assert left_over(capture) == []


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt
