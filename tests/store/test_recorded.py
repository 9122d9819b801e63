"""A capture that somebody made or changed is said to be damaged, in a sentence, and never leads out of its folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from given import Given, write

from traceview import cli
from traceview.errors import InputError
from traceview.store import recorded, views
from traceview.tables import SCHEMA_VERSION


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sent")
    given = Given()
    given.op("aten::relu", 0, 5)
    write(folder, given)
    (folder / "converted.json").write_text(json.dumps({"schema": SCHEMA_VERSION}))
    return folder


@pytest.fixture
def capture(sent: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy to change; a test that waits for ever fails."""

    def late(*_: object) -> None:
        raise TimeoutError

    shutil.copytree(sent, tmp_path / "capture")
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(300)
    yield tmp_path / "capture"
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refused(capture: Path, capsys: pytest.CaptureFixture[str], verb: str = "report") -> str:
    """Return the error: one sentence, with the exit code of an input that cannot be read."""
    assert cli.main([verb, str(capture)]) == 3
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and "bug in traceview" not in said.err
    return said.err


def replace(path: Path, query: str) -> None:
    """The file with what a query makes of it."""
    with duckdb.connect() as connection:
        made = path.with_suffix(".new")
        connection.execute(f"COPY ({query.format(path)}) TO '{made}' (FORMAT parquet)")
        made.rename(path)


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _linked(path: Path) -> None:
    path.rename(path.parents[2] / path.name)
    path.symlink_to(path.parents[2] / path.name)


def _device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [_fifo, _linked, _device, _folder])
@pytest.mark.parametrize("name", ["kernels", "captures"])
def test_a_table_that_is_no_file(
    capture: Path, capsys: pytest.CaptureFixture[str], harm: Callable[[Path], None], name: str
) -> None:
    harm(capture / "rank-0000" / f"{name}.parquet")
    assert f"rank-0000/{name}.parquet is not a regular file" in refused(capture, capsys)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (Path.unlink, "is a damaged capture: its converted.json is missing; convert its trace again."),
        (_fifo, "is a damaged capture: its converted.json is not a regular file; convert its trace again."),
        (_device, "is a damaged capture: its converted.json is not a regular file; convert its trace again."),
        (_folder, "is a damaged capture: its converted.json is not a regular file; convert its trace again."),
        (_linked, "is damaged: its converted.json cannot be read; convert its trace again."),
    ],
)
def test_a_list_that_is_no_file(
    capture: Path, capsys: pytest.CaptureFixture[str], harm: Callable[[Path], None], told: str
) -> None:
    harm(capture / "converted.json")
    assert f"{capture} {told}" in refused(capture, capsys)


@pytest.mark.parametrize(
    "text", ['{"a":' * 100_000, "[" + " " * (17 << 20) + "]", '{"schema": 1e999}', "\0", '"\\ud800"']
)
def test_a_list_that_is_none(capture: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (capture / "converted.json").write_text(text)
    assert "is damaged: its converted.json cannot be read; convert its trace again." in refused(capture, capsys)


def test_a_capture_of_another_version(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (capture / "converted.json").write_text(json.dumps({"schema": f"{SCHEMA_VERSION}-earlier"}))
    assert "was made by another version of traceview; convert its trace again." in refused(capture, capsys)


def test_a_capture_without_ranks(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(capture / "rank-0000")
    assert "is a damaged capture: the tables of its ranks are missing; convert its" in refused(capture, capsys)


@pytest.mark.parametrize("name", ["/dev/zero", "../../../../../../dev/zero", "/etc/passwd", "\0", "x" * 5000])
def test_sums_of_files_elsewhere(capture: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    sums = {name: 1}
    (capture / "converted.json").write_text(json.dumps({"schema": SCHEMA_VERSION, "sums": sums}))
    assert "does not match its check sum" in refused(capture, capsys)


def test_a_rank_that_is_a_link(capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (capture / "rank-0000").rename(tmp_path / "elsewhere")
    (capture / "rank-0000").symlink_to(tmp_path / "elsewhere")
    assert "it has no rank-* folder" in refused(capture, capsys)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * EXCLUDE (name) FROM '{}'", "rank-0000/ops.parquet has no column name"),
        ("SELECT * RENAME (name AS title) FROM '{}'", "rank-0000/ops.parquet has no column name"),
        ("SELECT * REPLACE (dur_ns::VARCHAR AS dur_ns) FROM '{}'", "a column dur_ns that is not BIGINT"),
        ("SELECT * REPLACE ([name] AS name) FROM '{}'", "a column name that is not VARCHAR"),
        ("SELECT * REPLACE ({{'a': name, 'b': [name]}} AS name) FROM '{}'", "a column name that is not VARCHAR"),
        ("SELECT *, 1 AS more FROM '{}'", "columns that traceview does not write"),
        ("SELECT 1 AS a", "has no column rank"),
    ],
)
def test_columns_that_are_not_those_of_the_table(
    capture: Path, capsys: pytest.CaptureFixture[str], query: str, said: str
) -> None:
    replace(capture / "rank-0000" / "ops.parquet", query)
    for verb in ("report", "advise"):
        assert said in refused(capture, capsys, verb)


def test_names_of_folders_are_no_columns_and_no_ranks(capture: Path, tmp_path: Path) -> None:
    (capture / os.fsdecode(b"rank-\xff")).mkdir()
    (tmp_path / "name=other").mkdir()
    capture.rename(tmp_path / "name=other" / "dur_ns=7")
    with views.connect(tmp_path / "name=other" / "dur_ns=7") as connection:
        assert connection.execute("SELECT name, dur_ns FROM ops").fetchall() == [("aten::relu", 5_000)]


def test_the_second_rank_is_looked_at_too(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(capture / "rank-0000", capture / "rank-0001")
    views.connect(capture).close()
    replace(capture / "rank-0001" / "events.parquet", "SELECT * REPLACE (1.5 AS dur_ns) FROM '{}'")
    assert "rank-0001/events.parquet has a column dur_ns that is not BIGINT" in refused(capture, capsys)


@pytest.mark.long
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
@pytest.mark.parametrize("column", ["start_ns", "dur_ns", "id", "depth"])
def test_values_out_of_range(capture: Path, capsys: pytest.CaptureFixture[str], column: str, value: int) -> None:
    replace(capture / "rank-0000" / "ops.parquet", f"SELECT * REPLACE ('{value}'::BIGINT AS {column}) FROM '{{}}'")
    code = cli.main(["report", str(capture), "overview", "ops", "layers"])
    said = capsys.readouterr().err
    assert code in (0, 3) and "bug in traceview" not in said and said.count("\n") <= 1


def test_a_table_that_is_missing(capture: Path) -> None:
    (capture / "rank-0000" / "links.parquet").unlink()
    with pytest.raises(InputError, match=r"rank-0000/links\.parquet is missing"):
        recorded.files(capture)
