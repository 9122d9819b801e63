"""The interface for Python programs and notebooks: the examples run, and answers are the command line's."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from job_traces import written

import traceview
from traceview import cli
from traceview.errors import InputError, TraceviewError, UsageError

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the traces that the README names."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("trace", "old", "new"):
        shutil.copyfile(SAMPLE, folder / f"{name}.json.gz")
    return folder


@pytest.mark.slow
def test_the_examples_of_the_pages_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short, block = (
        re.findall(r"# In Python\n\n```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)[0]
        for page in ("README.md", "docs/python.md")
    )
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    exec(short, names)
    assert {"conv1", "conv2"} <= set(names["frame"].layer)  # type: ignore[attr-defined]
    names.clear()
    exec(block, names)
    lines = [line for line in block.splitlines() if line and not line.startswith(("import", "#"))]
    assert len(lines) >= 11
    frame = names["frame"]
    assert {"conv1", "conv2"} <= set(frame.layer) and frame.total_ns.min() > 0  # type: ignore[attr-defined]
    assert frame.total_ns.is_monotonic_decreasing  # type: ignore[attr-defined]
    table = names["table"]
    assert table.schema.field("total_ns").metadata[b"doc"]  # type: ignore[attr-defined]
    assert repr(names["trace"]).startswith("trace.json.gz\n")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    assert cli.main([*words, "--format", "json"]) == 0
    sections: list[dict[str, object]] = json.loads(capsys.readouterr().out)["sections"]
    return sections


@pytest.mark.slow
def test_answers_are_those_of_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = str(folder / "trace.json.gz")
    for section in printed(capsys, "report", trace, "steps"):
        found = traceview.report(trace, "steps").to_arrow(str(section["name"])).to_pylist()
        assert found == section["rows"] and found
    (answers,) = printed(capsys, "advise", trace)
    advice = traceview.advise(trace)
    assert advice.to_arrow().to_pylist() == answers["rows"] and len(advice.to_pandas()) > 20
    other = str(folder / "new.json.gz")
    another = str(SAMPLE.with_name("torch-2.13.0-alexnet-cpu.json.gz"))
    done = traceview.compare(trace, [other, another])
    both = printed(capsys, "compare", "--a", trace, "--b", other, another)
    assert list(done.sections) == [section["name"] for section in both]
    ranking = next(section["rows"] for section in both if section["name"] == "ranking")
    assert [row["verdict"] for row in ranking] == done["ranking"].to_pandas().verdict.tolist()  # type: ignore[index,attr-defined]


@pytest.mark.slow
def test_one_connection_for_many_questions(folder: Path) -> None:
    with traceview.open(folder / "trace.json.gz") as trace:
        rows = trace.sql("SELECT count(*) FROM ops").fetchall()
        assert rows == trace.execute("SELECT count(*) FROM ops").fetchall() == [(909,)]
        assert trace.report("steps").to_arrow().equals(traceview.report(folder / "trace.json.gz", "steps").to_arrow())
        assert trace.advise("pageable_copies").to_pandas().rule.tolist() == ["pageable_copies"]
        text, page = repr(trace), trace._repr_html_()
        assert "3 counted, mean 22.894 ms\n" in text and "909 ops" in text
        assert "<td" in page and "909 ops" in page
    assert repr(traceview.open(folder / "trace.json.gz")) == text
    with pytest.raises(AttributeError):
        _ = trace.no_such_thing
    closed = traceview.open(folder / "old.json.gz")
    closed.close()
    assert repr(closed) == "old.json.gz (closed)"


@pytest.mark.slow
def test_parameters_and_sections_on_request(folder: Path, tmp_path: Path) -> None:
    assert "admissible" in traceview.report(folder / "trace.json.gz", "conv", admissible=True).sections
    copy = {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "dur": 5}
    events = [{**copy, "ts": 10 * n, "args": {"device": 0, "stream": 7, "bytes": 4096}} for n in range(3)]
    trace = tmp_path / "copies.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    assert traceview.report(trace, "copies").to_pandas("small").empty
    (row,) = traceview.report(trace, "copies", below_bytes=4097).to_arrow("small").to_pylist()
    assert (row["direction"], row["small"]) == ("HtoD", 3)


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (lambda trace: traceview.report(trace, "kernel"), UsageError, "did you mean kernels?"),
        (lambda trace: traceview.report(trace, "kernels", nonsense=1), UsageError, "unknown parameter 'nonsense'"),
        (lambda trace: traceview.advise(trace, "pagable_copies"), UsageError, "did you mean pageable_copies?"),
        (lambda trace: traceview.compare(trace), UsageError, "at least two"),
        (lambda trace: traceview.compare(trace, []), UsageError, "an empty list names no trace"),
        (lambda trace: traceview.convert([], trace.with_name("made")), UsageError, "an empty list names no trace"),
        (lambda trace: traceview.report(trace, ["conv"]), UsageError, "did you mean conv?"),
        pytest.param(
            lambda trace: traceview.open(trace).page(trace / "x.html"),
            UsageError,
            "x.html: Not a directory",
            marks=pytest.mark.long,
        ),
        (lambda trace: traceview.open(trace).export(trace / "x.pftrace"), UsageError, "x.pftrace: Not a directory"),
        (lambda trace: traceview.report("absent.json"), InputError, "does not exist"),
        (lambda trace: traceview.open("https://example.com/x.json"), InputError, "is a URL"),
        (lambda trace: traceview.open(""), UsageError, "the name of the input is empty"),
        (lambda trace: traceview.report(None), UsageError, "None is not the name of a file or folder."),
        (lambda trace: traceview.open([trace]), UsageError, "is not the name of a file or folder."),
        (lambda trace: traceview.convert(5, trace.with_name("made")), UsageError, "5 is not the name of a file"),
        (lambda trace: traceview.compare("a\0b", trace), UsageError, "'a\\x00b' is not the name of a file"),
        (lambda trace: traceview.convert(trace, ""), UsageError, "the name of the capture is empty."),
        (lambda trace: traceview.open(trace).page(b"x.html"), UsageError, "b'x.html' is not the name of a file"),
    ],
)
def test_errors_are_sentences(folder: Path, ask, error: type[TraceviewError], says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as raised:
        ask(folder / "trace.json.gz")
    assert says in str(raised.value)


def test_one_path_is_converted_as_a_list_of_it(folder: Path, tmp_path: Path) -> None:
    """Letter by letter its first would name the root of the disk."""
    made = traceview.convert(str(folder / "trace.json.gz"), tmp_path / "made")
    assert traceview.open(made).execute("SELECT count(*) FROM ops").fetchall() == [(909,)]


@pytest.mark.long
def test_a_folder_of_ranks_is_read_by_several_processes(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces", 2)
    made = traceview.convert([traces], tmp_path / "job", jobs=2)
    assert [path.name for path in made.glob("*-*")] == ["shard-0000"]
    query = "SELECT rank, count(*) FROM kernels GROUP BY rank ORDER BY rank"
    assert traceview.open(traces, jobs=2).sql(query).fetchall() == [(0, 6), (1, 6)]
    assert traceview.open(made).sql(query).fetchall() == [(0, 6), (1, 6)]
