"""A capture as a connection: a large one keeps its views beside it, and says the same as a small one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from traceview import capture, reports, scratch, store
from traceview.paths import content

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


def said(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    done = {name: reports.run(connection, name, {}) for name in reports.names()}
    return {name: [[*report.footer], *(section.rows for section in report.sections)] for name, report in done.items()}


@pytest.mark.parametrize("trace", ["sample", "gpu"])
def test_kept_views_say_what_held_ones_say(
    trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    path = SAMPLE
    if trace == "gpu":
        path = request.getfixturevalue("shared") / "traces/kineto/mi250-minitoy-train.json.gz"
    folder = store.convert([path], tmp_path / "capture")
    small = said(store.open_capture(folder))
    assert not list(folder.glob("attribution-*/views"))
    monkeypatch.setattr(capture, "SMALL_ROWS", 0)
    first = store.open_capture(folder)
    (kept,) = folder.glob("attribution-*/views")
    assert {file.stem for file in kept.glob("*.parquet")} == capture.KEPT
    assert not list(folder.rglob(".attribution*"))
    # Sums of floating-point numbers may be added in another order.
    for found in (said(first), said(store.open_capture(folder))):
        assert repr(found) == repr(small) or _close(found, small)
    read = first.execute("SELECT sql FROM duckdb_views() WHERE view_name = 'busy'").fetchall()
    assert "kept_busy" in read[0][0]


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float):
        return a == pytest.approx(b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_close(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_close, a, b))
    return bool(a == b)


def test_kept_views_can_be_read_when_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "SMALL_ROWS", 0)
    folder = store.convert([SAMPLE], tmp_path / "capture")
    connection = store.open_capture(folder)
    capture.lock(connection)
    assert connection.execute("SELECT count(*) > 0 FROM busy").fetchall() == [(True,)]
    with pytest.raises(duckdb.Error):
        connection.execute(f"FROM '{folder}/converted.json'")


def test_what_is_kept_has_the_types_of_what_is_worked_out(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")
    fresh = capture.connect(folder).execute("DESCRIBE quality").fetchall()
    store.open_capture(folder)
    (kept,) = folder.glob("attribution-*/quality.parquet")
    read = duckdb.connect().execute("DESCRIBE FROM read_parquet($1)", [str(kept)]).fetchall()
    assert [(name, kind.replace("HUGEINT", "BIGINT")) for name, kind, *_ in fresh] == [row[:2] for row in read]
    assert ("n", "BIGINT") in [row[:2] for row in read]


def test_where_nothing_can_be_kept_the_answer_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "SMALL_ROWS", 0)
    folder = store.convert([SAMPLE], tmp_path / "capture")

    def fails(*_: object, **__: object) -> str:
        raise OSError("read-only")

    monkeypatch.setattr(scratch.tempfile, "mkdtemp", fails)
    connection = store.open_capture(folder)
    assert reports.run(connection, "overview", {}).sections[0].rows
    assert not list(folder.glob("attribution-*"))


def test_what_is_kept_and_damaged_is_worked_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "SMALL_ROWS", 0)
    folder = store.convert([SAMPLE], tmp_path / "capture")

    def answers() -> list[object]:
        with store.open_capture(folder, asked="FROM busy JOIN quality JOIN ops") as connection:
            query = "SELECT (SELECT sum(alone_ns) FROM busy), (SELECT count(*) FROM quality), count(category) FROM ops"
            return connection.execute(query).fetchall()

    right = answers()
    for name, damage in (
        ("names.op", "cut"), ("names.op", "gone"), ("quality", "another"), ("quality", "unsealed"),
        ("views/busy", "empty"), ("views/busy", "zeros"),
    ):  # fmt: skip
        (kept,) = folder.glob(f"attribution-*/{name}.parquet")
        data = kept.read_bytes()
        if damage == "gone":
            kept.unlink()
        elif damage == "unsealed":
            (kept.parent / scratch.SEAL).write_text("[")
        else:
            other = next(file for file in kept.parent.glob("*.parquet") if file != kept).read_bytes()
            kept.write_bytes({"cut": data[:-1], "empty": b"", "zeros": bytes(len(data)), "another": other}[damage])
        assert answers() == right, (name, damage)
        assert scratch.sealed(kept.parent) is not None and kept.stat().st_size > 0, (name, damage)


def test_every_view_has_its_query_and_its_place() -> None:
    assert set(capture.VIEWS) == {path.stem for path in (content("queries") / "views").glob("*.sql")}
    assert set(capture.VIEWS) >= capture.KEPT
    assert capture.resting_on("SELECT * FROM counted", frozenset({"counted"})) == ["counted"]
