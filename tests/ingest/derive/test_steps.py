"""Steps that nobody recorded: from the uploads of a trace that holds the device only."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, pick, section

from traceview.ingest.derive.steps import FROM_COPIES

FOUND = "SELECT step, start_ns, dur_ns, found_by FROM steps ORDER BY step"


def device_only(upload: int, at: list[float], kernels: list[float]) -> Given:
    given = Given()
    for start in at:
        given.add(
            "memcpys", direction="HtoD", size_bytes=upload, device=0, stream=7, start_ns=int(start * 1000), dur_ns=2000
        )
    for start in kernels:
        given.add("kernels", name="k", device=0, stream=7, start_ns=int(start * 1000), dur_ns=5000)
    return given


def test_from_one_upload_to_the_next(tmp_path: Path) -> None:
    """The first step may take far longer. Smaller copies at the same beat and a larger single one do not count."""
    given = device_only(4096, [100, 900, 1000, 1100, 1200, 1300], [110, 200, 910, 1010, 1110, 1210, 1310])
    for start in (0, 101, 901, 1001, 1101, 1201, 1301):
        size = 1 << 20 if start == 0 else 4
        given.add("memcpys", direction="HtoD", size_bytes=size, device=0, stream=7, start_ns=start * 1000, dur_ns=500)
    found = given.open(tmp_path).execute(FOUND).fetchall()
    assert found == [
        (0, 100_000, 800_000, FROM_COPIES),
        (1, 900_000, 100_000, FROM_COPIES),
        (2, 1_000_000, 100_000, FROM_COPIES),
        (3, 1_100_000, 100_000, FROM_COPIES),
        (4, 1_200_000, 100_000, FROM_COPIES),
        (5, 1_300_000, 15_000, FROM_COPIES),
    ]


def test_uploads_of_weights_are_no_steps(tmp_path: Path) -> None:
    """A burst of equal copies before the work begins has a beat, but no kernels in between."""
    given = device_only(4096, [10, 20, 30, 40, 50, 60], [100, 200, 300, 400, 500, 600])
    assert given.open(tmp_path).execute(FOUND).fetchall() == []


@pytest.mark.long
def test_two_uploads_per_step_are_no_beat(tmp_path: Path) -> None:
    starts = [start + offset for start in range(100, 1100, 100) for offset in (0, 10)]
    given = device_only(4096, starts, [start + 5 for start in starts])
    assert given.open(tmp_path).execute(FOUND).fetchall() == []


def test_a_trace_that_knows_the_host_is_left_alone(tmp_path: Path) -> None:
    given = device_only(4096, [100, 200, 300, 400, 500], [110, 210, 310, 410, 510])
    given.add("api_calls", name="cudaLaunchKernel", kind="runtime", pid=1, tid=1, start_ns=100, dur_ns=5)
    assert given.open(tmp_path).execute(FOUND).fetchall() == []


def test_numbers_that_come_twice_are_places(tmp_path: Path) -> None:
    """Every epoch counts from 0: the copies of the second one's first step are none of the first one's, a warm-up."""
    given = Given()
    for place, (start, end) in enumerate([(0, 1000), (1000, 1400), (1400, 1800), (1800, 2200)]):
        given.span("step", f"step {place % 2}", start, end)
        given.copy("HtoD", start + 10, start + 20, launched=start + 5, size_bytes=100)
    with given.open(tmp_path) as connection:
        assert connection.execute("SELECT step, is_warmup FROM steps ORDER BY start_ns").fetchall() == [
            (0, True),
            (1, False),
            (2, False),
            (3, False),
        ]
        assert connection.execute("SELECT list(step ORDER BY start_ns) FROM counted").fetchall() == [([1, 2, 3],)]
        assert pick(section(connection, "copies/repeated"), "steps", "calls") == [(3, 1)]


KEPT = "SELECT step, start_ns // 1000 AS at, dur_ns // 1000 AS took FROM steps ORDER BY start_ns"


def ranges(given: Given, word: str, spans: list[tuple[float, float]], tid: int = 1) -> None:
    for number, (start, end) in enumerate(spans):
        row = {"start_ns": int(start * 1000), "dur_ns": int((end - start) * 1000)}
        given.add("ranges", kind="step", name=f"{word}{number}", pid=1, tid=tid, **row)


def launches(given: Given, at: list[float], tid: int = 1) -> None:
    for start in at:
        given.add(
            "api_calls", name="cudaLaunchKernel", kind="runtime", pid=1, tid=tid, start_ns=int(start * 1000), dur_ns=1
        )


@pytest.mark.long
def test_batches_of_a_loader_are_no_steps_beside_iterations(tmp_path: Path) -> None:
    """The loader's ranges are longer, and it uploads; most of the work is launched inside the iterations."""
    given = Given()
    ranges(given, "iteration ", [(100, 190), (200, 290), (300, 390)])
    ranges(given, "batch ", [(0, 99), (99, 199), (199, 299), (299, 399)], tid=2)
    launches(given, [110, 120, 210, 220, 310, 320])
    launches(given, [50, 150, 250, 350], tid=2)
    with given.open(tmp_path) as connection:
        assert connection.execute(KEPT).fetchall() == [(0, 100, 90), (1, 200, 90), (2, 300, 90)]
        kinds = connection.execute("SELECT name, kind FROM ranges WHERE name LIKE 'batch%' ORDER BY name").fetchall()
        assert kinds == [(f"batch {number}", "nvtx") for number in range(4)]


@pytest.mark.long
def test_parts_of_a_batch_are_no_steps(tmp_path: Path) -> None:
    given = Given()
    ranges(given, "step ", [(0, 100), (100, 200)])
    ranges(given, "batch_", [(1, 50), (50, 99), (101, 150), (150, 199)])
    with given.open(tmp_path) as connection:
        assert connection.execute(KEPT).fetchall() == [(0, 0, 100), (1, 100, 100)]


def test_the_profilers_steps_count_before_the_programs_own(tmp_path: Path) -> None:
    given = Given()
    ranges(given, "train step ", [(0, 105), (105, 205)])
    ranges(given, "ProfilerStep#", [(2, 102), (102, 202)])
    with given.open(tmp_path) as connection:
        assert connection.execute(KEPT).fetchall() == [(0, 2, 100), (1, 102, 100)]


@pytest.mark.long
def test_one_range_around_all_steps_is_none(tmp_path: Path) -> None:
    given = Given()
    ranges(given, "iteration ", [(0, 300)])
    ranges(given, "batch ", [(0, 100), (100, 200)])
    with given.open(tmp_path) as connection:
        assert connection.execute(KEPT).fetchall() == [(0, 0, 100), (1, 100, 100)]


@pytest.mark.long
def test_steps_of_an_evaluation_after_the_training_stay(tmp_path: Path) -> None:
    given = Given()
    ranges(given, "train step ", [(0, 100), (100, 200)])
    ranges(given, "batch ", [(200, 250), (250, 300)])
    with given.open(tmp_path) as connection:
        assert connection.execute(KEPT).fetchall() == [(0, 0, 100), (1, 100, 100), (2, 200, 50), (3, 250, 50)]
