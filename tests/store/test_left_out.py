"""Traces of a job that cannot be read: named, left out and counted, whether ranks are read in turn or at a time."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import duckdb
import pytest
from cases import first
from job_traces import trace, written

from traceview import store
from traceview.errors import CHECK_FAILED, InputError, Refused
from traceview.fleet import Fleet
from traceview.ingest.finish import Export
from traceview.store import Options
from traceview.tables import Table

EVERY = pytest.mark.parametrize("jobs", [1, 2])


def convert(traces: Path, jobs: int, notes: list[str]) -> Path:
    return store.convert([traces], traces.with_name("job"), Options(many=Fleet(jobs=jobs), note=notes.append))


def found(capture: Path) -> tuple[list[int], list[tuple[int, list[str]]]]:
    with store.open_capture(capture) as connection:
        ranks = [rank for (rank,) in connection.execute("SELECT rank FROM ranks ORDER BY rank").fetchall()]
        query = "SELECT n, examples FROM quality WHERE kind LIKE '%left out'"
        return ranks, connection.execute(query).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", first(1, [1, 2]))
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (bytes(3000), "holds nothing but zeros where a trace begins"),
        (gzip.compress(bytes(3000)), "holds nothing but zeros where a trace begins"),
        (gzip.compress(bytes(3000))[:12], "gzip data is cut off"),
        (b'{"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}', "holds no events"),
        (b"hello world", "is not a recognised trace format"),
    ],
    ids=["empty", "zeros", "zeros packed", "cut before its data", "no events", "something else"],
)
def test_a_lost_trace_is_named_left_out_and_counted(tmp_path: Path, jobs: int, content: bytes, reason: str) -> None:
    traces = written(tmp_path / "traces")
    (traces / "rank2.json").write_bytes(content)
    (traces / "notes.json").write_text('{"learning_rate": 0.1}')
    notes: list[str] = []
    ranks, counted = found(convert(traces, jobs, notes))
    assert ranks == [0, 1, 3]
    ((n, examples),) = counted
    assert n == 1 and "rank2.json" in examples[0] and reason in examples[0]
    (note,) = notes
    assert note.startswith("1 of 4 traces could not be read and is left out") and reason in note
    with pytest.raises(Refused, match=r"rank2\.json.*--strict") as refused:
        store.convert([traces], tmp_path / "strict", Options(many=Fleet(jobs=jobs), strict=True))
    assert refused.value.exit_code == CHECK_FAILED


@EVERY
def test_a_trace_that_would_be_repaired_is_refused_in_one_sentence(tmp_path: Path, jobs: int) -> None:
    """The option stood in it twice."""
    traces = written(tmp_path / "traces")
    (traces / "rank2.json").write_text((traces / "rank2.json").read_text()[:-40])
    with pytest.raises(Refused) as refused:
        store.convert([traces], tmp_path / "strict", Options(many=Fleet(jobs=jobs), strict=True))
    assert str(refused.value).startswith(f"{traces / 'rank2.json'}: ") and str(refused.value).count("--strict") == 1


@pytest.mark.slow
@EVERY
def test_a_second_trace_of_a_rank_is_left_out(tmp_path: Path, jobs: int) -> None:
    """As another rank it would be one too many in every collective."""
    traces = written(tmp_path / "traces")
    (traces / "rank2b.json").write_text(json.dumps(trace(2)))
    notes: list[str] = []
    ranks, ((n, (example,)),) = found(convert(traces, jobs, notes))
    assert ranks == [0, 1, 2, 3] and n == 1
    assert example.endswith("rank2b.json is another trace of rank 2, beside rank2.json.") and example[:-1] in notes[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "name", "host", "job", "ranks", "says"),
    [
        (
            2,
            "node{}_7.{}.pt.trace.json",
            None,
            None,
            [0, 1],
            "records process node1_7 at another time than node1_7.1700",
        ),
        (1, "{}-{}.json", "node{}", None, [0, 1], "records process 7 of node1 at another time than 1-1700"),
        (1, "{}-{}.json", None, {"rank": 0, "world_size": 1}, [0], "records rank 0 at another time than 1-1700"),
        (1, "{}-{}.json", None, None, [0, 1, 2], ""),
    ],
    ids=["name", "host", "a job of one", "unknown"],
)
def test_a_process_that_is_recorded_again_is_no_other_rank(
    tmp_path: Path, jobs: int, name: str, host: str | None, job: dict[str, object] | None, ranks: list[int], says: str
) -> None:
    """The process of another node has the same number, and its clock is an hour behind."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for node, seconds in ((1, 0), (1, 60), (2, -3600)):
        base = (1_700_000_000 + seconds) * 10**9
        about = {"baseTimeNanoseconds": base, "distributedInfo": job, "host_name": host and host.format(node)}
        (folder / name.format(node, base + 10**9)).write_text(json.dumps(trace(0) | about))
    notes: list[str] = []
    read, left_out = found(convert(folder, jobs, notes))
    assert read == ranks and [n for n, _ in left_out] == ([3 - len(ranks)] if says else [])
    assert says in "".join(notes) and len(notes) == bool(says)
    assert not says or "; name one of them, or give both to `traceview compare --a`" in notes[0]


@pytest.mark.slow
def test_traces_that_are_not_of_one_job_are_ranks_with_free_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    for number in range(2):
        alone = trace(0) | {"distributedInfo": {"rank": 0, "world_size": 1, "backend": "nccl"}}
        (folder / f"run{number}.json").write_text(json.dumps(alone))
    assert found(convert(folder, 1, [])) == ([0, 1], [])


def test_a_trace_alone_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rank0.json").write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        store.convert([tmp_path / "rank0.json"], tmp_path / "made")


@pytest.mark.slow
def test_a_trace_that_cannot_be_finished_leaves_no_rank_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = written(tmp_path / "traces")
    write = Export.write
    ranks: list[int] = []

    def failing(export: Export, table: Table, connection: duckdb.DuckDBPyConnection) -> None:
        write(export, table, connection)
        if export.sink.rank == 1 and table.name == "ops":
            ranks.append(export.sink.rank)
            raise OverflowError("times leave 64 bits")

    monkeypatch.setattr(Export, "write", failing)
    notes: list[str] = []
    assert found(convert(traces, 1, notes))[0] == [0, 2, 3]
    assert ranks and "unexpected OverflowError" in notes[0]


@pytest.mark.slow
@EVERY
def test_a_rank_whose_clock_cannot_be_true_is_on_its_own(tmp_path: Path, jobs: int) -> None:
    """The sum of the one's zero and the other's first time is more than 64 bits hold."""
    traces = written(tmp_path / "traces")
    for number, base, start in ((0, 3_900_000_000_000_000_000, 3_900_000_000_000_000), (1, 0, -3_900_000_000_000_000)):
        changed = trace(number)
        changed["baseTimeNanoseconds"] = base
        for event in changed["traceEvents"]:
            if "ts" in event:
                event["ts"] += start
        (traces / f"rank{number}.json").write_text(json.dumps(changed))
    notes: list[str] = []
    assert found(convert(traces, jobs, notes))[0] == [0, 1, 2, 3] and not notes
