"""`traceview export`: which format is written, to where, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from cases import first

from traceview.cli import export, main

SAMPLE = "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("export") / "capture"
    assert main(["convert", str(Path(__file__).parents[2] / SAMPLE), "-o", str(folder)]) == 0
    return str(folder)


BEGINNINGS = {
    "a.pftrace": b"\x0a",
    "c.json.gz": b'{"schemaVersion":1',
    "b.json": b'{"schemaVersion":1',
    "d.speedscope.json": b'{"$schema": "https',
    "e.txt": b"rank 0 cpu;",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", first(2, BEGINNINGS))
def test_the_name_of_the_file_says_the_format(capture: str, tmp_path: Path, name: str) -> None:
    assert main(["export", capture, "-o", str(tmp_path / name)]) == 0
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith("gz") else data).startswith(BEGINNINGS[name])
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.long
def test_one_step_is_less(capture: str, tmp_path: Path) -> None:
    assert main(["export", capture, "-o", str(tmp_path / "all.json")]) == 0
    steps = {
        event["args"]["traceview"]["step"]
        for event in json.loads((tmp_path / "all.json").read_bytes())["traceEvents"]
        if event.get("cat") == "traceview.step"
    }
    assert main(["export", capture, "--step", str(max(steps)), "-o", str(tmp_path / "one.json")]) == 0
    one = json.loads((tmp_path / "one.json").read_bytes())["traceEvents"]
    assert {e["args"]["traceview"]["step"] for e in one if e.get("cat") == "traceview.step"} == {max(steps)}
    assert (tmp_path / "one.json").stat().st_size < (tmp_path / "all.json").stat().st_size / 1.5


@pytest.mark.long
def test_too_little_memory_becomes_more(capture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = export.opened
    # Views that are stored already need little.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def opened(*args: object, query_bytes: int | None, **options: object) -> object:
        asked.append(query_bytes)
        return real(*args, query_bytes=query_bytes, **options)

    monkeypatch.setattr(export, "opened", opened)
    monkeypatch.setattr(export, "QUERY_BYTES", 6_000_000)
    assert main(["export", capture, "-o", str(tmp_path / "a.json")]) == 0
    assert asked[:2] == [6_000_000, 12_000_000]
    assert json.loads((tmp_path / "a.json").read_bytes())["traceEvents"]


@pytest.mark.long
def test_a_rank_can_be_chosen_in_every_format(
    root: Path, captures: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = str(captures.folder_of(root / "samples/kineto/torch-2.13.0-lenet-ddp-cpu"))
    for name in ("a.pftrace", "b.json", "c.speedscope.json", "d.txt"):
        written = []
        for words in (["--rank", "0"], ["--rank", "1"], []):
            assert main(["export", job, *words, "-o", str(tmp_path / name)]) == 0
            written.append((tmp_path / name).read_bytes())
        zero, one, both = ((b"rank 0" in data, b"rank 1" in data) for data in written)
        assert (zero, one, both) == ((True, False), (False, True), (True, True)), name
        assert max(map(len, written[:2])) < 0.7 * len(written[2]), name
    capsys.readouterr()
    assert main(["export", job, "--rank", "7", "-o", str(tmp_path / "e.txt")]) == 2
    assert capsys.readouterr().err == "traceview: the capture has no rank 7; it has ranks 0 to 1.\n"
    assert not (tmp_path / "e.txt").exists()


def test_without_a_file_it_goes_to_stdout(capture: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", capture, "--to", "collapsed"]) == 0
    out, err = capsysbinary.readouterr()
    assert out.count(b"\n") > 10 and not err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "say what to write with --to chrome|collapsed|perfetto|speedscope"),
        (["-o", "x.doc"], 2, "or by a FILE that ends in .json, .txt, .pftrace, .speedscope.json"),
        (["--to", "chrome", "--step", "999"], 2, "the capture has no step 999; it has steps"),
        (["--to", "chrome", "--rank", "5"], 2, "the capture has no rank 5; it has rank 0"),
        (["-o", "/nowhere/x.json"], 2, "cannot write /nowhere/x.json: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    capture: str, options: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", capture, *options]) == code
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_averages_have_no_timeline(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "averages"
    assert main(["convert", str(root / "samples/cntk_timing/cntk-2.7-lenet-cpu.txt.gz"), "-o", str(folder)]) == 0
    assert main(["export", str(folder), "-o", str(tmp_path / "x.json")]) == 3
    assert "no timeline to export" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


@pytest.mark.slow
def test_a_file_that_fails_half_way_is_not_there(
    capture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.json").write_text("before")
    monkeypatch.setattr("traceview.exports.chrome.PARTS", ("names", "head", "missing"))
    assert main(["export", capture, "-o", str(tmp_path / "old.json")]) != 0
    assert (tmp_path / "old.json").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    capsys.readouterr()


@pytest.mark.slow
def test_ranges_alone_have_no_stacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "trace.json").write_text(
        '{"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 7}]}'
    )
    assert main(["export", str(tmp_path / "trace.json"), "-o", str(tmp_path / "x.txt")]) == 3
    assert "or nothing that this format shows" in capsys.readouterr().err
    assert not (tmp_path / "x.txt").exists()
    assert main(["export", str(tmp_path / "trace.json"), "-o", str(tmp_path / "x.json")]) == 0
