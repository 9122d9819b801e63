"""What is kept beside a capture is used as it was written, by several at once, and made again when it is not."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from traceview import store
from traceview.store import integrity

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


@pytest.mark.parametrize("damage", ["cut", "gone", "empty", "zeros", "another", "unsealed", "head"])
def test_what_is_kept_and_damaged_is_worked_out_again(tmp_path: Path, damage: str) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")

    def answers() -> list[object]:
        with store.open_capture(folder, asked="FROM busy JOIN quality JOIN ops") as connection:
            query = "SELECT (SELECT sum(alone_ns) FROM busy), (SELECT count(*) FROM quality), count(category) FROM ops"
            return connection.execute(query).fetchall()

    right = answers()
    (kept,) = folder.glob("attribution-*/kept.duckdb")
    data = kept.read_bytes()
    if damage == "gone":
        kept.unlink()
    elif damage == "unsealed":
        (kept.parent / integrity.SEAL).write_text("[")
    else:
        with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
            other.execute("CREATE TABLE busy AS SELECT 1 AS alone_ns")
        kept.write_bytes({"cut": data[:-1], "empty": b"", "zeros": bytes(len(data)), "head": bytes(100) + data[100:],
            "another": (tmp_path / "other.duckdb").read_bytes()}[damage])  # fmt: skip
    assert answers() == right
    assert integrity.sealed(kept.parent) is not None and kept.stat().st_size > 0


def test_two_connections_of_a_process_share_what_is_kept(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "a [b]#*%.capture")
    first, second = store.open_capture(folder), store.open_capture(folder)
    (count,) = first.execute("SELECT count(*) FROM kept.busy").fetchall()
    assert second.execute("SELECT count(*) FROM busy").fetchall() == [count]
    assert count[0] > 0


def test_a_path_with_a_question_mark_keeps_nothing_and_says_the_same(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "why?.capture")
    assert store.open_capture(folder).execute("SELECT count(*) > 0 FROM busy").fetchall() == [(True,)]
    assert not list(folder.glob("*attribution*"))
