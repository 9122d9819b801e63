"""Steps that nobody recorded: from the uploads of a trace that holds the device only."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from given import Given, pick, section
from staged import WORKED_OUT, staged

from traceview.ingest.derive import steps

pytestmark = pytest.mark.slow

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
    """A part that takes far longer before the first or less after the last is no step. Smaller copies at the same beat
    and a larger single one do not count.
    """
    given = device_only(4096, [100, 900, 1000, 1100, 1200, 1300], [110, 200, 910, 1010, 1110, 1210, 1310])
    for start in (0, 101, 901, 1001, 1101, 1201, 1301):
        size = 1 << 20 if start == 0 else 4
        given.add("memcpys", direction="HtoD", size_bytes=size, device=0, stream=7, start_ns=start * 1000, dur_ns=500)
    found = given.open(tmp_path).execute(FOUND).fetchall()
    assert found == [
        (
            number,
            800_000 + number * 100_000,
            100_000,
            steps.FROM_COPIES.format("iterations"),
        )
        for number in range(1, 5)
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


@pytest.mark.parametrize(
    ("waits", "tid", "passed", "is_warmup"),
    [
        pytest.param((960, 60, 0, 10), 1, 3, False, id="its own thread waits"),
        pytest.param((960, 60, 0, 10), 1, 0, True, id="workers may only begin"),
        pytest.param((960, 60, 0, 10), 2, 3, True, id="another thread loads"),
        pytest.param((0, 0, 0, 0), 1, 3, True, id="nothing loads"),
        pytest.param((50, 50, 50, 50), 1, 3, True, id="every step waits"),
    ],
)
def test_a_step_that_is_long_for_want_of_data_is_no_warm_up(
    waits: tuple[int, ...], tid: int, passed: int, is_warmup: bool, tmp_path: Path
) -> None:
    """Workers deliver in bursts: the first batch of one is long in coming, as is the first of all."""
    given = Given()
    given.add("captures", rank=0, options=json.dumps({"options": {"wait": passed}}))
    ends = (0, 1000, 1100, 1200, 1300)
    for number, (start, wait) in enumerate(zip(ends, waits, strict=False)):
        given.span("step", f"step {number}", start, ends[number + 1])
        if wait:
            at = {"start_ns": start * 1000, "dur_ns": wait * 1000}
            given.add("ranges", kind="phase", name="data", pid=1, tid=tid, **at)
    with given.open(tmp_path) as connection:
        asked = "SELECT is_warmup FROM steps ORDER BY start_ns"
        assert connection.execute(asked).fetchall() == [(is_warmup,), (False,), (False,), (False,)]


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


@pytest.mark.parametrize(
    "names",
    [
        ["step[EXTEND bs=4 toks=64]", "step[DECODE bs=4]", "step[DECODE bs=4]"],
        ["execute_context_2(64)_generation_0(0)", "execute_context_0(0)_generation_2(2)"],
        ["execute_new_1_cached_0"],
    ],
)
def test_marks_of_an_inference_engine_are_iterations(tmp_path: Path, names: list[str]) -> None:
    """One lasts until the device has done what was launched in it, at most to the next. A single one is none."""
    given = Given()
    for number, name in enumerate(names):
        at = 100 * number
        given.span("user", name, at, at + 30)
        given.span("user", f"execute_4_context_{number}(4)", at + 2, at + 28)
        given.kernel("gemm", at + 25, at + 80 + 40 * (number == 0), launched=at + 10)
    found = given.open(tmp_path).execute(FOUND).fetchall()
    ends = [100 if number == 0 else 80 for number in range(len(names))] if len(names) > 1 else []
    assert found == [(n, 100_000 * n, 1000 * end, steps.FROM_ENGINE) for n, end in enumerate(ends)]


def trained(*turns: tuple[str, int, int, bool], n: int = 6, first: int = 0) -> Given:
    """Optimizers that take turns: name, operators of its backward pass, whether a batch is loaded for it. The first
    call of each makes state."""
    given, made = Given(), set()
    for number in range(first, first + n * len(turns)):
        name, n_backward, n_update, loads = turns[number % len(turns)]
        at = (number - first) * 100
        if loads:
            given.add("ranges", kind="phase", name="data", pid=1, tid=1, start_ns=at * 1000, dur_ns=900)
        for place in range(2):
            operator(given, "aten::linear", at + 10 + place, sequence=number * 100 + place)
        for place in range(n_backward):
            operator(given, "aten::mm", at + 20 + place, sequence=number * 100 + place, forward_thread=1, tid=2)
        for place in range(n_update * (1 + (name not in made))):
            operator(given, "aten::add_", at + 80 + place, tid=1)
        made.add(name)
        given.add(
            "ranges",
            kind="phase",
            name="optimizer",
            domain=name,
            pid=1,
            tid=1,
            start_ns=(at + 80) * 1000,
            dur_ns=10_000,
        )
    return given


def operator(given: Given, name: str, at: float, **facts: int) -> None:
    given.add("ops", **{"name": name, "pid": 1, "tid": 1, "start_ns": int(at * 1000), "dur_ns": 500, **facts})


def found_edges(given: Given, folder: Path) -> tuple[list[float], str]:
    found = given.open(folder).execute("SELECT start_ns, end_ns, found_by FROM steps ORDER BY 1").fetchall()
    return [found[0][0] / 1000, *(end / 1000 for _, end, _ in found)], found[0][2]


def test_a_step_ends_at_the_last_optimizer_of_the_cycle(tmp_path: Path) -> None:
    """Discriminator, then generator: the generator's update ends the step, whatever both are called."""
    adam, other = "Optimizer.step#Adam.step", "Optimizer.step#SGD.step"
    for number, names in enumerate([(adam, adam), (adam, other)]):
        given = trained((names[0], 8, 3, False), (names[1], 20, 3, False))
        edges, why = found_edges(given, tmp_path / str(number))
        assert edges == [190 + 200 * n for n in range(6)]
        assert why == steps.FROM_OPTIMIZERS.format(2)


def test_a_cycle_begins_where_a_batch_is_loaded(tmp_path: Path) -> None:
    """The recording begins with the generator."""
    turns = (("D", 8, 3, True), ("G", 20, 3, False))
    assert found_edges(trained(*turns, first=1), tmp_path)[0] == [90 + 200 * n for n in range(6)]


def test_one_optimizer_may_be_called_more_often_than_the_other(tmp_path: Path) -> None:
    """Five updates of the critic for one of the generator."""
    turns = [("A", 8, 3, True)] * 5 + [("A", 20, 3, False)]
    assert found_edges(trained(*turns, n=4), tmp_path)[0] == [590 + 600 * n for n in range(4)]


def test_each_call_of_one_optimizer_ends_a_step_also_beside_evaluations(tmp_path: Path) -> None:
    """Every third step is followed by a forward pass without gradients."""
    given = trained(("A", 8, 3, True), n=9)
    for at in (292, 592, 892):
        for place in range(5):
            operator(given, "aten::linear", at + place)
    edges, why = found_edges(given, tmp_path)
    assert edges == [90 + 100 * n for n in range(9)]
    assert why == steps.FROM_OPTIMIZER


def test_a_validation_between_two_steps_is_in_neither(tmp_path: Path) -> None:
    """After each third step batches are loaded that no backward pass follows: the next step begins with its own."""
    given = trained(("A", 8, 3, True), n=9)
    for step in (2, 5, 8):
        for at in range(step * 100 + 91, step * 100 + 99, 2):
            given.add("ranges", kind="phase", name="data", pid=1, tid=1, start_ns=at * 1000, dur_ns=500)
            operator(given, "aten::linear", at + 1)
    found = given.open(tmp_path).execute("SELECT start_ns, end_ns, found_by FROM steps ORDER BY 1").fetchall()
    begins = [100 * n + (0 if n in (3, 6) else -10) for n in range(1, 9)]
    assert [(start / 1000, end / 1000) for start, end, _ in found] == [
        (b, 100 * n + 90) for n, b in enumerate(begins, 1)
    ]
    assert {why for *_, why in found} == {steps.FROM_OPTIMIZER + steps.LATE.format(2)}


def test_batches_that_gradients_are_summed_over_are_of_their_step(tmp_path: Path) -> None:
    """Two batches before each update, each with a backward pass of its own."""
    given = trained(("A", 8, 3, True), n=6)
    for at in range(0, 600, 100):
        given.add("ranges", kind="phase", name="data", pid=1, tid=1, start_ns=(at + 30) * 1000, dur_ns=500)
        operator(given, "aten::mm", at + 40, sequence=at, forward_thread=1, tid=2)
    assert found_edges(given, tmp_path) == ([90 + 100 * n for n in range(6)], steps.FROM_OPTIMIZER)


def test_optimizers_without_a_forward_pass_between_them_end_one_step(tmp_path: Path) -> None:
    """One for each group of parameters, or one for each parameter, called inside of the backward pass."""
    given = trained(("A", 8, 3, False), n=4)
    for at in range(0, 400, 100):
        for extra in (60, 93):
            given.add(
                "ranges",
                kind="phase",
                name="optimizer",
                domain="B",
                pid=1,
                tid=2,
                start_ns=(at + extra) * 1000,
                dur_ns=2000,
            )
    assert found_edges(given, tmp_path)[0] == [95 + 100 * n for n in range(4)]


def test_marks_of_one_call_inside_of_each_other_end_one_step(tmp_path: Path) -> None:
    """The script marks what the framework marks too."""
    given = trained(("D", 8, 3, True), ("G", 20, 3, False))
    for at in range(0, 1200, 100):
        given.add("ranges", kind="phase", name="optimizer", pid=1, tid=1, start_ns=(at + 79) * 1000, dur_ns=12_000)
    edges, why = found_edges(given, tmp_path)
    assert edges == [191 + 200 * n for n in range(6)]
    assert why == steps.FROM_OPTIMIZERS.format(2)


def test_operators_that_a_graph_calls_the_optimizer_end_no_step(tmp_path: Path) -> None:
    """There are several of them in a step, between others."""
    given = Given()
    for at in range(0, 600, 10):
        operator(given, "Gemm", at)
        given.add("ranges", kind="phase", name="optimizer", domain="graph", pid=1, tid=1, start_ns=at * 1000, dur_ns=99)
    assert given.open(tmp_path).execute("SELECT count(*) FROM steps").fetchall() == [(0,)]


def test_calls_of_an_optimizer_that_differ_each_time_have_no_cycle() -> None:
    """Then each of the optimizers is taken to be called once."""
    n = 9
    kind, zeros = np.array([1, 1, 2] * 3), np.zeros(n, np.int64)
    calls = {"start_ns": np.arange(n), "kind": kind, "n_forward": zeros + 1, "n_loaded": zeros, "n_inside": zeros}
    assert steps.cycle_ends({**calls, "n_backward": np.array([9, 90, 900, 7, 70, 700, 5, 50, 500])})[1] == 2


def test_marks_that_are_taken_away_are_found_again_or_nothing_is(captures, shared: Path) -> None:  # type: ignore[no-untyped-def]
    assert_found_again_or_refused(captures.folder_of(shared / "traces" / "kineto" / "v100-convnet-train-ns.json.gz"), 4)


def samples_and_public() -> list[Path]:
    root = Path(__file__).resolve().parents[3]
    found = [*(root / "samples").rglob("*.gz"), *(root.parent / "shared" / "traces").rglob("*.gz")]
    return sorted(path for path in found if path.parent.name != "notebooks")


@pytest.mark.long
@pytest.mark.parametrize("path", samples_and_public(), ids=lambda path: path.name)
def test_any_marks_that_are_taken_away_are_found_again_or_nothing_is(captures, path: Path) -> None:  # type: ignore[no-untyped-def]
    assert_found_again_or_refused(captures.folder_of(path))


def assert_found_again_or_refused(folder: Path, n_found: int | None = None) -> None:
    """Without its marks a trace has the same steps, but for the first and the last, or none."""
    query = "SELECT start_ns, start_ns + dur_ns FROM stage.ranges WHERE kind = 'step' ORDER BY 1"
    for rank in sorted(folder.glob("rank-*")):
        with staged(rank) as connection:
            steps.add_missing(connection)
            connection.execute(f"DELETE FROM stage.ranges WHERE {WORKED_OUT}")
            marked = np.array(connection.execute(query).fetchall()).reshape(-1, 2)
            connection.execute("DELETE FROM stage.ranges WHERE kind = 'step'")
            steps.add_missing(connection)
            found = np.array(connection.execute(query).fetchall()).reshape(-1, 2)
        if not len(marked) or not len(found):
            continue
        tenth = np.median(marked[:, 1] - marked[:, 0]) / 10
        assert len(found) >= len(marked) - 2
        assert all(np.abs(marked - step).max(axis=1).min() <= tenth for step in found), (marked, found)
        assert n_found in (None, len(found))


def ahead(lead_us: float, works_us: float, steps_: int = 4) -> Given:
    """Marks of 100 us, in each of which 10 kernels are launched that the device gets to `lead_us` later."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for number in range(steps_):
        given.span("step", f"ProfilerStep#{number}", 100 * number, 100 * number + 100)
        for at in range(10):
            start = lead_us + number * works_us + at * works_us / 10
            given.kernel("k", start, start + works_us / 10 - 1, launched=100 * number + 10 * at)
    return given


def test_where_the_host_runs_ahead_a_step_is_what_the_device_needs(tmp_path: Path) -> None:
    found = ahead(20, 500).open(tmp_path).execute(FOUND).fetchall()
    edges = [0, 519, 1019, 1519, 2019]
    expected = [(n, 1000 * a, 1000 * (b - a), steps.FROM_DEVICE) for n, (a, b) in enumerate(itertools.pairwise(edges))]
    assert found == expected


@pytest.mark.parametrize("between_us", [40, 300])
def test_time_between_marks_is_no_work_of_theirs(between_us: float, tmp_path: Path) -> None:
    """The host waits in each mark for all that it launched, and loads data, or validates, between two of them."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    period = 100 + between_us
    for number in range(4):
        at = period * number
        given.span("step", f"ProfilerStep#{number}", at, at + 100)
        given.kernel("k", at + 10, at + 90, launched=at + 2)
        given.kernel("validation", at + 105, at + 95 + between_us, launched=at + 101)
    found = given.open(tmp_path).execute(FOUND).fetchall()
    assert found == [(number, 1000 * period * number, 100_000, None) for number in range(4)]


def test_all_of_the_work_is_of_the_step_that_launched_it(tmp_path: Path) -> None:
    connection = ahead(20, 500).open(tmp_path)
    counted = connection.execute("SELECT step, count(*) FROM busy WHERE is_counted GROUP BY 1 ORDER BY 1").fetchall()
    assert counted == [(number, 10) for number in range(4)]


@pytest.mark.parametrize(("lead_us", "works_us"), [(20, 100), (90, 100), (20, 120)])
def test_a_steady_lead_leaves_the_marks_as_they_are(lead_us: float, works_us: float, tmp_path: Path) -> None:
    found = ahead(lead_us, works_us).open(tmp_path).execute(FOUND).fetchall()
    assert found == [(number, 100_000 * number, 100_000, None) for number in range(4)]


def test_a_mark_that_launched_nothing_leaves_them_too(tmp_path: Path) -> None:
    given = ahead(20, 500)
    given.span("step", "ProfilerStep#4", 400, 410)
    assert {row[3] for row in given.open(tmp_path).execute(FOUND).fetchall()} == {None}


@pytest.mark.parametrize("steps_", [2, 5])
def test_work_that_only_the_last_mark_leaves_behind_moves_none(steps_: int, tmp_path: Path) -> None:
    given = ahead(5, 95, steps_)
    given.kernel("k", 100 * steps_, 100 * steps_ + 300, launched=100 * steps_ - 1)
    assert {row[3] for row in given.open(tmp_path).execute(FOUND).fetchall()} == {None}
