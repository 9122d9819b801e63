"""Every file of an input is looked at once, and what another file tells better is passed over."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from databases import write

from traceview import cli, readers
from traceview.readers import kineto
from traceview.store import conversion, discovery

OP = '{"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 1, "dur": 5}'
KINETO = f'{{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{OP}]}}'


class Looks:
    """How often each file was opened by Python code, and recognised."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: Counter[str] = Counter()
        self.recognised: Counter[str] = Counter()
        path_open, detect = Path.open, readers.detect

        def opening(path: Path, *args: object, **options: object) -> object:
            self.opened[path.name] += 1
            return path_open(path, *args, **options)  # type: ignore[call-overload]

        def detecting(peek: readers.Peek) -> object:
            self.recognised[peek.path.name] += 1
            return detect(peek)

        monkeypatch.setattr(Path, "open", opening)
        monkeypatch.setattr(readers, "detect", detecting)

    def of(self, name: str) -> tuple[int, int]:
        return self.recognised[name], self.opened[name]


@pytest.mark.slow
def test_a_report_recognises_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(KINETO)
    (tmp_path / "notes.txt").write_text("nothing here")
    looks = Looks(monkeypatch)
    assert cli.main(["report", str(tmp_path)]) == 0
    # One opening tells the format, the other is for reading it.
    assert {name: looks.of(name) for name in ("a.json", "b.json", "notes.txt")} == {
        "a.json": (1, 2),
        "b.json": (1, 2),
        "notes.txt": (1, 1),
    }


@pytest.mark.long
def test_a_file_whose_tables_are_kept_is_not_even_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text(KINETO)
    looks = Looks(monkeypatch)
    assert [cli.main(["report", str(tmp_path / "a.json")]) for _ in range(2)] == [0, 0]
    assert looks.of("a.json") == (1, 2)


@pytest.mark.slow
def test_the_raw_folder_of_a_capture_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/rank-0000.json").write_text(KINETO)
    (tmp_path / "capture.json").write_text("{}")
    looks = Looks(monkeypatch)
    assert cli.main(["report", str(tmp_path)]) == 0
    assert looks.of("rank-0000.json") == (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("named", ["each", "their folder"])
def test_what_another_file_supersedes_is_passed_over(tmp_path: Path, named: str) -> None:
    kernel = {"start": 1, "end": 3, "deviceId": 0, "demangledName": 1}
    tables = {"StringIds": [{"id": 1, "value": "gemm"}], "CUPTI_ACTIVITY_KIND_KERNEL": [kernel]}
    export = write(tmp_path / "run.sqlite", tables)
    report = tmp_path / "run.nsys-rep"
    report.write_bytes(b"NVIDIA Tegra Profiler Report 2024@5@1")
    inputs = [report, export] if named == "each" else [tmp_path]
    traces = [trace for path in inputs for trace in discovery.find(path)]
    assert [trace.path for trace in discovery.not_superseded(traces)] == [export]
    assert [trace.path for trace in discovery.find(report)] == [report]


@pytest.mark.long
def test_a_pattern_is_what_it_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    """In quotes, as no shell replaced it: from another folder and from its own, with names that are patterns too."""
    for number, name in enumerate(("rank0.json", "rank1[0].json", "rank2\x1b[2J.json", "other.json")):
        (tmp_path / name).write_text(KINETO.replace("relu", f"relu{number}"))
    (tmp_path / "rank3.txt").write_text("no trace")
    count = [
        "SELECT count(DISTINCT rank) AS n, string_agg(name, ' ' ORDER BY name) AS names FROM raw.ops",
        "--format",
        "csv",
    ]
    assert cli.main(["sql", str(tmp_path / "rank*"), *count]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "3,aten::relu0 aten::relu1 aten::relu2"
    monkeypatch.chdir(tmp_path)
    assert cli.main(["sql", "rank?.json", *count]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "1,aten::relu0"
    assert cli.main(["sql", "rank1[0].json", *count]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "1,aten::relu1", "a file of that very name comes first"
    (tmp_path / "rank5.json").write_text(KINETO.replace("relu", "relu5"))
    assert cli.main(["sql", "rank?.json", *count]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "2,aten::relu0 aten::relu5", "a new match is read"
    assert cli.main(["sql", "none*.json", *count]) == 3
    assert "no file matches none*.json." in capsys.readouterr().err


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main([*words]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.slow
def test_a_folder_is_read_without_the_captures_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text(KINETO)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report", "a.json", "ops", "--format", "csv"]) == 0
    alone = capsys.readouterr().out
    assert (tmp_path / "a.json.traceview").is_dir()
    assert cli.main(["convert", "a.json", "-o", "made"]) == 0
    capsys.readouterr()
    for folder in (".", str(tmp_path)):
        assert cli.main(["report", folder, "ops", "--format", "csv"]) == 0
        assert capsys.readouterr().out == alone
    (tmp_path / "a.json").unlink()
    assert "holds captures and no trace; name one of them, for example " in refused(capsys, "report", str(tmp_path))
    assert "made is a capture already, which every verb opens as it is" in refused(capsys, "convert", "made", "-o", "x")
    table = "made/rank-0000/captures.parquet"
    assert f"{table} is a table of a capture; name the capture: made." in refused(capsys, "report", table)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", '{"traceEvents": []}', "holds no events: its list of events is empty."),
        ("a.json", '{"schemaVersion": 1,\n"traceEvents" : [ ] }', "holds no events: its list of events is empty."),
        ("train.py", "import torch", "is a script, not a trace; record a trace of it: traceview collect -- python "),
        ("a.txt", "nothing here", "is not a recognised trace format; see `traceview list formats`."),
        (
            "a.json.gz",
            gzip.compress(KINETO.encode(), mtime=0)[:12],
            "holds nothing that can be read: gzip data is cut off.",
        ),
        ("a.json.gz", gzip.compress(b"", mtime=0), "is empty."),
    ],
)
def test_what_a_file_is_that_is_not_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    assert f"{tmp_path / name} {told}" in refused(capsys, "report", str(tmp_path / name))


def test_a_link_that_leads_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").symlink_to("gone.json")
    assert "a.json is a link to gone.json, which does not exist." in refused(capsys, "report", str(tmp_path / "a.json"))


def test_a_pattern_whose_files_are_not_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("nothing here")
    told = f"no trace of a recognised format is among the 1 that match {tmp_path}/*.txt."
    assert told in refused(capsys, "report", f"{tmp_path}/*.txt")


class Alone:
    """A value that must not be compared with another: for 5,000 ranks that would be done 12 million times."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("each file is compared with each")

    __hash__ = None  # type: ignore[assignment]


def test_no_file_is_compared_with_each_other(tmp_path: Path) -> None:
    sources = [conversion.Source(tmp_path / "a.json", kineto, Alone()) for _ in range(3)]
    groups = conversion.group_by_rank(sources)
    assert [id(group.sources[0]) for group in groups] == [id(source) for source in sources]
