"""Two at once, and traces that change under the reader: one right result, or a sentence."""

from __future__ import annotations

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from asked import ask

import traceview
from traceview import cli, store
from traceview.errors import InputError, UsageError
from traceview.ingest.options import Options
from traceview.store import cache

CHILD = """
import sys
from pathlib import Path
from traceview import store
from traceview.errors import UsageError

met = []
def meet(done, total):
    if not met:
        met.append(print("reading", flush=True))
        sys.stdin.readline()

try:
    store.convert([Path(sys.argv[1])], Path(sys.argv[2]), store.Options(progress=meet))
except UsageError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


def event(name: str) -> str:
    op = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 5}
    return json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [op]})


def names(path: Path) -> list[str]:
    return [name for (name,) in ask(path, "SELECT name FROM raw.ops ORDER BY name")]


@pytest.mark.long
@pytest.mark.parametrize("target", ["new", "empty", "link"])
def test_of_two_conversions_into_one_folder_one_says_so(root: Path, tmp_path: Path, target: str) -> None:
    capture = tmp_path / "capture"
    if target != "new":
        (tmp_path / "place").mkdir()
        capture.symlink_to(tmp_path / "place") if target == "link" else (tmp_path / "place").rename(capture)
    processes = []
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(event(name))
        command = [sys.executable, "-c", CHILD, str(tmp_path / f"{name}.json"), str(capture)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        processes.append(subprocess.Popen(command, **pipes, text=True, env={**os.environ, "PYTHONPATH": str(root)}))
    assert [process.stdout.readline() for process in processes] == ["reading\n"] * 2  # both found the place free
    said = {name: process.communicate("\n")[1] for name, process in zip("ab", processes, strict=True)}
    codes = {process.returncode: name for name, process in zip("ab", processes, strict=True)}
    assert codes.keys() == {0, 2}, said
    assert said[codes[2]] == f"{capture.resolve()} exists already; choose another name with -o.\n"
    assert names(capture) == [codes[0]]
    assert {path.name for path in tmp_path.iterdir()} - {"place"} == {"a.json", "b.json", "capture"}


def test_the_current_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text(event("a"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(UsageError, match=r"^\. is the current folder; choose"):
        store.convert([tmp_path / "a.json"], Path())


def cut(trace: Path) -> None:
    os.truncate(trace, 40)


def replaced(trace: Path) -> None:
    (trace.parent / "other").write_text(event("b"))
    (trace.parent / "other").replace(trace)


def same_size_and_time(trace: Path) -> None:
    status = trace.stat()
    trace.write_text(event("b"))
    os.utime(trace, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.long
@pytest.mark.parametrize("change", [cut, replaced, same_size_and_time, Path.unlink])
@pytest.mark.parametrize("verb", ["report", "convert"])
def test_a_trace_that_changes_while_it_is_read_is_a_sentence(
    tmp_path: Path, change: Callable[[Path], None], verb: str
) -> None:
    trace = tmp_path / "a.json"
    trace.write_text(event("a"))
    done: list[bool] = []

    def progress(n_read: int, total: int) -> None:
        if not done:
            done.append(True)
            change(trace)

    with pytest.raises(InputError, match=r"a\.json changed while it was read; try again when nothing writes to it\.$"):
        if verb == "convert":
            store.convert([trace], tmp_path / "capture", Options(progress=progress))
        else:
            store.resolve(trace, Options(progress=progress))
    assert [path.name for path in tmp_path.iterdir()] in ([trace.name], [])
    if change in (replaced, same_size_and_time):
        assert names(trace) == ["b"]


@pytest.fixture
def collected(tmp_path: Path) -> Path:
    """A capture with its raw traces, converted."""
    capture = tmp_path / "capture"
    (capture / "raw").mkdir(parents=True)
    (capture / "raw/rank-0000.json").write_text(event("a"))
    (capture / "capture.json").write_text("{}")
    assert names(capture) == ["a"]
    return capture


@pytest.mark.slow
def test_a_capture_follows_its_raw_traces(collected: Path) -> None:
    same_size_and_time(collected / "raw/rank-0000.json")
    os.utime(collected / "raw/rank-0000.json")
    assert names(collected) == ["b"]
    (collected / "raw/rank-0001.json").write_text(event("c"))
    assert names(collected) == ["b", "c"]


def test_a_capture_outlives_its_raw_traces_and_a_copy_of_them(collected: Path) -> None:
    written = (collected / store.KEY_FILE).stat().st_ino
    os.utime(collected / "raw/rank-0000.json")
    assert names(collected) == ["a"]
    (collected / "raw/rank-0000.json").unlink()
    assert names(collected) == ["a"]
    assert (collected / store.KEY_FILE).stat().st_ino == written


def test_raw_traces_that_cannot_be_read_leave_the_tables(collected: Path) -> None:
    good = (collected / "raw/rank-0000.json").read_bytes()
    for rank in range(2):
        (collected / f"raw/rank-000{rank}.json").write_text("nothing here")
    with pytest.raises(InputError, match=r"none of 2 traces .*rank-0000\.json is not a recognised trace format"):
        traceview.open(collected)
    (collected / "raw/rank-0000.json").write_bytes(good)
    (collected / "raw/rank-0001.json").unlink()
    assert names(collected) == ["a"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rank-0000/mine.csv", "rank-0000/deep/kernels.parquet", "converted/mine.txt"])
def test_a_file_of_the_user_among_the_tables_is_kept_and_named(collected: Path, name: str) -> None:
    own = collected / name
    own.parent.mkdir(exist_ok=True)
    own.write_text("mine")
    with pytest.raises(UsageError, match=r"mine\.csv is in the way|deep is in the way|converted exists already"):
        store.convert_raw(collected)
    assert own.read_text() == "mine"
    shutil.move(own, collected / "rank-notes.csv")
    if own.parent.name == "deep":
        own.parent.rmdir()
    store.convert_raw(collected)
    assert names(collected) == ["a"] and (collected / "rank-notes.csv").read_text() == "mine"


@pytest.mark.slow
def test_a_folder_in_the_place_of_the_key_is_kept(collected: Path) -> None:
    (collected / "converted.json").unlink()
    (collected / "converted.json").mkdir()
    (collected / "converted.json" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"converted\.json is in the way of the tables"):
        store.convert_raw(collected)
    assert (collected / "converted.json" / "mine.txt").read_text() == "mine"


def test_a_link_in_the_place_of_tables_is_left_alone_with_what_it_leads_to(collected: Path, tmp_path: Path) -> None:
    shutil.move(collected / "rank-0000", tmp_path / "elsewhere")
    (collected / "rank-0000").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"rank-0000 is in the way of the tables"):
        store.convert_raw(collected)
    assert (tmp_path / "elsewhere" / "kernels.parquet").is_file() and (collected / "rank-0000").is_symlink()


@pytest.mark.slow
def test_what_an_ended_conversion_left_is_replaced(collected: Path) -> None:
    (collected / "converted").mkdir()
    shutil.move(collected / "rank-0000", collected / "converted")
    (collected / store.KEY_FILE).unlink()
    store.convert_raw(collected)
    assert names(collected) == ["a"] and not (collected / "converted").exists()


@pytest.mark.slow
def test_a_file_that_is_read_instead_is_part_of_the_key(tmp_path: Path) -> None:
    trace = tmp_path / "host.trace.json"
    process = {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/host:CPU"}}
    span = {"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 1, "dur": 5}
    trace.write_text(json.dumps({"traceEvents": [process, span]}))
    store.resolve(trace)
    original = tmp_path / "host.xplane.pb"
    original.write_bytes(b"nothing that could be read")
    with pytest.raises(InputError, match=r"host\.xplane\.pb ends before anything"):
        store.resolve(trace)
    original.unlink()
    assert cache.is_fresh(store.resolve(trace), [trace])


@pytest.mark.slow
def test_strict_refuses_what_was_repaired_before(tmp_path: Path) -> None:
    trace = tmp_path / "a.json"
    trace.write_text(event("a")[:-2])
    assert names(trace) == ["a"]
    with pytest.raises(InputError, match=r"\(--strict\)"):
        store.resolve(trace, Options(strict=True))
    assert names(trace) == ["a"]
    trace.write_text(event("b"))
    written = store.resolve(trace, Options(strict=True)).stat().st_ino
    assert [store.resolve(trace, Options(strict=is_strict)).stat().st_ino for is_strict in (True, False)] == [
        written
    ] * 2


@pytest.mark.slow
@pytest.mark.parametrize("beside", [1, ["..", "", "/", "a/b", "\0", "\ud800", None, {}]])
def test_a_key_that_is_damaged_is_not_followed(tmp_path: Path, beside: object) -> None:
    trace = tmp_path / "a.json"
    trace.write_text(event("a"))
    key = store.resolve(trace) / store.KEY_FILE
    key.write_text(json.dumps({**json.loads(key.read_text()), "beside": beside}))
    assert names(trace) == ["a"]
    assert json.loads(key.read_text())["beside"] == []


LONG = "x" * 240 + ".json"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "a[0].json",
        LONG,
        *(pytest.param(n, marks=pytest.mark.long) for n in ("line\nbreak.json", "*.json", "ü" * 120 + ".json")),
    ],
)
def test_any_name_that_the_system_takes(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_text(event("aten::relu"))
    for path in (tmp_path / name, tmp_path):
        assert cli.main(["report", str(path), "ops"]) == 0, capsys.readouterr().err
        assert names(path) == ["aten::relu"]


def test_a_path_as_long_as_the_system_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path
    while len(str(folder)) < 3900:
        folder = folder / ("d" * min(200, 4000 - len(str(folder))))
        folder.mkdir()
    trace = folder / "a.json"
    trace.write_text(event("a"))
    assert names(trace) == ["a"]
    assert [path.name for path in folder.iterdir()] == ["a.json"]


@pytest.mark.parametrize("path", ["y" * 300, "y/" * 3000])
def test_a_name_that_is_too_long_is_a_sentence(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text(event("a"))
    for arguments, code in ((["report", path], 3), (["convert", str(tmp_path / "a.json"), "-o", path], 3)):
        assert cli.main(arguments) == code
        error = capsys.readouterr().err
        assert "File name too long" in error and error.count("\n") == 1


@pytest.mark.slow
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="is a pipe, and only stdin is read from one"):
        traceview.open(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="holds no trace"):
        traceview.open(tmp_path)
    (tmp_path / "a.json").write_text(event("a"))
    assert names(tmp_path) == ["a"]


def test_who_waits_while_another_repairs_a_damaged_table_does_not_repair_it_again(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(event("a"))
    folder = store.resolve(trace)
    ops, key = folder / "rank-0000/ops.parquet", folder / store.KEY_FILE
    whole, made = ops.read_bytes(), key.stat().st_ino
    ops.write_bytes(b"PAR1 not really")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with cache.lock(folder):
            waiting = pool.submit(store.converted, trace)
            assert concurrent.futures.wait([waiting], 0.3).not_done
            ops.write_bytes(whole)
        assert waiting.result() == folder
    assert key.stat().st_ino == made
    assert names(trace) == ["a"]
