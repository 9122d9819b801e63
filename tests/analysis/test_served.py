"""Answers to agents: a query of theirs ends at its time limit, and writes nothing."""

from __future__ import annotations

import contextlib
import resource
from pathlib import Path

import pytest

from traceview import store
from traceview.analysis import served
from traceview.errors import UsageError
from traceview.store import Options

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
LATE = [
    "SELECT list_sum(range(1000000000))",
    "SELECT levenshtein(repeat('ab', 50000), repeat('ba', 50000))",
    f"SELECT {'(' * 20000}",
]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store.convert([SAMPLE], tmp_path_factory.mktemp("served") / "capture")


def ended_time() -> float:
    """Seconds of the processor that the processes took which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
def test_a_query_ends_at_its_time_and_the_next_is_answered(trace: Path) -> None:
    answers = served.Answers([str(trace)], Options(), served.Caps(seconds=2.0))
    with contextlib.closing(answers):
        assert answers.sql("SELECT 1 AS one")["data"]["rows"] == [[1]]
        for query in LATE:
            answers.sql("SELECT 1")
            before = ended_time()
            with pytest.raises(UsageError, match="longer than 2 s; ask for less"):
                answers.sql(query)
            # On a busy machine too: time of the processor, of which they take half a minute where nobody ends them.
            assert ended_time() - before < 8
        assert answers.sql("SELECT count(*) AS n FROM steps")["data"]["columns"] == ["n"]
        # Within two seconds on a busy machine too, so no report of many queries.
        assert answers.report("quality")["data"]["sections"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "EXPLAIN ANALYZE COPY (SELECT 'gone' a) TO '{0}' (FORMAT csv, USE_TMP_FILE false)",
        "WITH a AS (COPY (SELECT 'gone' a) TO '{0}' (FORMAT csv, USE_TMP_FILE false)) SELECT * FROM a",
    ],
)
def test_nothing_is_written(trace: Path, query: str) -> None:
    file = store.prepare(trace) / "rank-0000" / "kernels.parquet"
    before = file.read_bytes()
    with (
        contextlib.closing(served.Answers([str(trace)], Options())) as answers,
        pytest.raises(UsageError, match="refused"),
    ):
        answers.sql(query.format(file))
    assert file.read_bytes() == before


@pytest.mark.slow
def test_the_first_rank_is_named(trace: Path) -> None:
    """Its number is 0."""
    with contextlib.closing(served.Answers([str(trace)], Options())) as answers:
        found = answers.advise("unfused_optimizer")["data"]
    assert (found["status"], found["rank"], found["n_ranks"]) == ("found", 0, 1)
    assert "reason" not in found
