"""The critical path on built steps whose answer is known, and what holds on every trace."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from given import Given, section, write
from jobs import Job

from traceview.analysis import advice, critical, dependencies
from traceview.errors import UsageError
from traceview.ingest.derive.spans import fetch
from traceview.paths import content
from traceview.store import views

pytestmark = pytest.mark.slow

SGEMM, WINOGRAD, COPY = "ampere_sgemm_128x64_nn", "volta_sgemm_64x64_tn", "Memcpy HtoD"
DDP = "samples/kineto/torch-2.13.0-lenet-ddp-cpu"


def prepared(folder: Path, *ranks: Given, **params: str) -> duckdb.DuckDBPyConnection:
    write(folder, *ranks)
    connection = views.connect(folder)
    critical.prepare(connection, params)
    return connection


def parts(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """The pieces of the path: what and how long in microseconds."""
    query = "SELECT part, what, dur_ns / 1000 FROM critical_part ORDER BY position, part DESC"
    return connection.execute(query).fetchall()


def scenarios(connection: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """Return the time that each scenario saves, in microseconds."""
    found = section(connection, "critical/scenarios")
    return {" ".join(filter(None, (row["scenario"], row["what"]))): row["saved_ns"] / 1000 for row in found}


def one_step() -> Given:
    """Two kernels on one stream, one beside them, and a host that waits for the device."""
    given = Given()
    given.span("step", "step#1", 0, 500)
    given.op("aten::mm", 10, 60)
    given.kernel(SGEMM, 30, 230, launched=20)
    given.kernel(SGEMM, 231, 431, launched=40)
    given.kernel(WINOGRAD, 60, 100, launched=50, stream=8)
    given.call("cudaDeviceSynchronize", 70, 440)
    return given


def test_an_operator_is_counted_once_whatever_its_pieces(tmp_path: Path) -> None:
    given = one_step()
    given.op("aten::inner", 25, 30)
    connection = prepared(tmp_path, given)
    found = {row["name"]: row["n"] for row in section(connection, "critical/slack")}
    assert connection.execute("SELECT count(*) FROM critical_task WHERE name = 'aten::mm'").fetchall() == [(5,)]
    assert found["aten::mm"] == 1
    assert {row["name"]: row["all"] for row in section(connection, "critical/longest")}["aten::mm"] == 1


def test_the_operator_of_a_kernel_is_that_of_most_of_its_time_on_the_path(tmp_path: Path) -> None:
    """Not that of its longest launch."""
    given = Given()
    given.span("step", "step#1", 0, 900)
    given.op("aten::mm", 10, 40)
    given.op("aten::bmm", 50, 120)
    given.kernel(SGEMM, 30, 330, launched=20)
    for place in range(3):
        given.kernel(SGEMM, 331 + 180 * place, 510 + 180 * place, launched=60 + 10 * place)
    given.call("cudaDeviceSynchronize", 130, 890)
    connection = prepared(tmp_path, given)
    assert {row["name"]: row["op_name"] for row in section(connection, "critical/longest")}[SGEMM] == "aten::bmm"


def test_the_path_from_launch_over_the_stream_to_the_synchronisation(tmp_path: Path) -> None:
    connection = prepared(tmp_path, one_step())
    assert parts(connection) == [
        ("edge of the step", "before the first task", 10),
        ("host", "host operators", 10),
        ("launch", "launch", 10),
        ("device", "gemm", 200),
        ("device waits", "between kernels", 1),
        ("device", "gemm", 200),
        ("host", "return from synchronisation", 9),
        ("edge of the step", "after the last task", 60),
    ]
    assert scenarios(connection) == {
        f"twice as fast {SGEMM}": 200,
        "twice as fast all gemm": 200,
        "no host time": 20,  # The operator and the launch; the return from the synchronisation stays.
        "no launch overhead": 10,
    }
    # The kernel on the other stream could end when the last one on this does.
    slack = section(connection, "critical/slack")
    (beside,) = [row for row in slack if row["name"] == WINOGRAD]
    assert (beside["n"], beside["dur_ns"], beside["least_slack_ns"]) == (1, 40_000, 331_000)


@pytest.mark.parametrize("overlap_ns", [0, 1, 20_000])
def test_a_follower_that_begins_too_early_still_depends_on_the_one_ahead(tmp_path: Path, overlap_ns: int) -> None:
    """Kernels of a stream that overlap, as with programmatic dependent launch, stay one chain."""
    given = one_step()
    rows = given.rows["kernels"]
    rows[1]["start_ns"] = rows[0]["start_ns"] + rows[0]["dur_ns"] - overlap_ns
    rows[1]["dur_ns"] = 431_000 - rows[1]["start_ns"]
    connection = prepared(tmp_path, given)
    assert [part for part in parts(connection) if part[0] == "device"] == [
        ("device", "gemm", 200),
        ("device", "gemm", 201),
    ]
    assert scenarios(connection)["twice as fast all gemm"] == 200.5
    (graph,) = [row for row in section(connection, "critical/graph") if row["position"] == 10] or [{"n": 0}]
    assert graph["n"] == (overlap_ns > 0)


def test_what_runs_beside_another_one_on_its_stream_is_not_ahead_of_what_follows(tmp_path: Path) -> None:
    given = one_step()
    given.kernel("beside", 100, 150, launched=62)
    connection = prepared(tmp_path, given)
    assert [part for part in parts(connection) if part[0] == "device"] == [("device", "gemm", 200)] * 2
    (beside,) = [row for row in section(connection, "critical/slack") if row["name"] == "beside"]
    assert beside["least_slack_ns"] == 350_000, "until the step ends"


def test_one_wait_without_a_cause_makes_no_other_usual(tmp_path: Path) -> None:
    """A stream that stood still once for 100 us is no reason why the next kernel, launched late, waits for it."""
    given = Given()
    given.span("step", "step#1", 0, 400)
    given.op("aten::mm", 10, 242)
    for start, end, launched in ((20, 30, 18), (40, 60, 38), (160, 180, 45), (240, 300, 236)):
        given.kernel(SGEMM, start, end, launched=launched)
    given.call("cudaDeviceSynchronize", 243, 301)
    assert [part for part in parts(prepared(tmp_path, given)) if part[0] in ("launch", "device", "device waits")] == [
        ("launch", "launch", 4),
        ("device", "gemm", 60),
    ]


@pytest.mark.long
def test_another_path_becomes_the_longest_one(tmp_path: Path) -> None:
    """Twice as fast is not half of the time: then the kernel beside it is what the host waits for."""
    given = Given()
    given.span("step", "step#1", 0, 300)
    given.kernel(SGEMM, 10, 210, launched=0)
    given.kernel("volta_scudnn_winograd_128x128", 12, 172, launched=2, stream=8)
    given.call("cudaDeviceSynchronize", 5, 220)
    saved = scenarios(prepared(tmp_path, given))
    assert saved[f"twice as fast {SGEMM}"] == 38, "until the other kernel ends, not 100"


@pytest.mark.long
def test_a_stream_that_waits_for_an_event_of_another(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "step#1", 0, 400)
    given.kernel(SGEMM, 10, 110, launched=0)
    record, wait = given.launch(3, "cudaEventRecord"), given.launch(5, "cudaStreamWaitEvent")
    given.add(
        "events",
        category="cuda_sync",
        name="Stream Wait Event",
        start_ns=5000,
        dur_ns=0,
        args=f'{{"stream": 8, "wait_on_stream": 7, "correlation": {wait}, '
        f'"wait_on_cuda_event_record_corr_id": {record}}}',
    )
    given.kernel(WINOGRAD, 125, 250, launched=8, stream=8)
    connection = prepared(tmp_path, given)
    assert ("device waits", "between streams", 15) in parts(connection)
    (row,) = [row for row in section(connection, "critical/graph") if row["position"] == dependencies.EVENT]
    assert (row["n"], row["on_path"], row["dur_ns"]) == (1, 1, 15_000)


def test_without_a_recorded_event_the_dependency_is_inferred_and_counted(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "step#1", 0, 400)
    given.kernel(SGEMM, 10, 110, launched=0)
    given.kernel(WINOGRAD, 112, 250, launched=8, stream=8)
    connection = prepared(tmp_path, given)
    assert ("device waits", "between streams", 2) in parts(connection)
    said = section(connection, "critical/summary")[1]["text"]
    assert "of which 1 are inferred, not recorded" in said


@pytest.mark.parametrize(("gap_us", "is_explained"), [(10.04, True), (19.9, True), (20, False)])
def test_a_gap_that_needs_no_cause_of_its_own_is_no_reason_not_to_infer(
    tmp_path: Path, gap_us: float, is_explained: bool
) -> None:
    """Above 10 us, as on a clock that drifts, the wait for the other stream was said to be the launch's."""
    given = Given()
    given.span("step", "step#1", 0, 400)
    given.kernel(SGEMM, 10, 110, launched=0)
    given.kernel(WINOGRAD, 110 + gap_us, 250, launched=8, stream=8)
    found = parts(prepared(tmp_path, given))
    assert (("device waits", "between streams", gap_us) in found) is is_explained
    assert (("launch", "launch", 102 + gap_us) in found) is not is_explained


def test_the_path_goes_through_the_rank_that_comes_last(tmp_path: Path) -> None:
    job = Job(ranks=3, steps=3, late=lambda step, rank: 40.0 if rank == 2 else 0.0)
    connection = prepared(tmp_path, *job.build(), step="2")
    first = connection.execute("""SELECT rank, dur_ns FROM critical_part WHERE part = 'device'
        ORDER BY position LIMIT 1""").fetchall()
    assert first == [(2, 340_000)]
    compared = connection.execute(
        """SELECT t.rank, s.slack_ns FROM critical_task t JOIN critical_slack s USING (number)
        WHERE t.name = $1 AND t.end_ns - t.start_ns > 200000 ORDER BY t.rank""",
        [SGEMM],
    ).fetchall()
    assert compared == [(0, 40_000), (1, 40_000), (2, 0)], "the others have as much slack as they wait"
    waits = connection.execute("SELECT sum(dur_ns) FROM critical_part WHERE part = 'communication'").fetchall()
    assert waits == [(200_000,)], "two transfers, and no waiting"


REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def mesh(ahead: dict[int, float]) -> list[Given]:
    """Four steps of ranks 0 to 3, the last of which is slow: all-reduces of rows 0, 1 and 2, 3 (60 us), then of columns
    0, 2 and 1, 3 (100 us). `ahead` says by how much a rank's clock is; such a rank leaves some a little later."""
    made = []
    for rank in range(4):
        given, off = Given(rank), ahead.get(rank, 0.0)
        given.groups = row, column = [rank // 2 * 2, rank // 2 * 2 + 1], [rank % 2, rank % 2 + 2]
        for step in range(4):
            start = 1000.0 * step + off
            given.span("step", f"step#{step + 1}", start, start + 1000)
            given.kernel(SGEMM, start + 10, start + (410 if rank == 3 else 310), launched=start + 2)
            first, late = 470 if rank > 1 else 370, 0.3 * (rank * step % 3) if off else 0.0
            both = ("rows", row, 410 if rank == 3 else 310, first), ("columns", column, first + 201 + late, 771)
            for number, (name, group, begin, end) in enumerate(both):
                kernel, at = 1_000_000 + 10_000 * rank + 10 * step + number, start + begin
                given.kernel(REDUCE, at, start + end + late, launched=start + 3 + 2 * number, stream=9, id=kernel)
                facts = {"kind": "allreduce", "group_name": f"{name}{group[0]}", "sequence": step, "group_size": 2}
                times = {"start_ns": round(at * 1000), "dur_ns": round((end + late - begin) * 1000)}
                ranks = json.dumps(group)
                given.add("collectives", name=REDUCE, kernel_id=kernel, group_ranks=ranks, **facts, **times)
                if number == 0:
                    given.kernel(SGEMM, start + first + 1, start + first + 201 + late, launched=start + 4)
            given.kernel(SGEMM, start + 772 + late, start + 900, launched=start + 6)
        made.append(given)
    return made


@pytest.mark.parametrize(
    "ahead", [{}, {2: 2000.0, 3: 2000.0}, {2: -2000.0, 3: -2000.0}, {1: 7000.0, 2: -2000.0, 3: 900.0}]
)
def test_clocks_of_hosts_do_not_change_what_ranks_of_several_groups_wait_for(
    ahead: dict[int, float], tmp_path: Path
) -> None:
    connection = prepared(tmp_path, *mesh(ahead), step="3")
    waits = connection.execute("SELECT sum(dur_ns) FROM critical_part WHERE part = 'communication'").fetchall()
    assert waits[0][0] == pytest.approx(160_000, abs=700), "one transfer of each kind"
    assert scenarios(connection)["communication takes no time"] == pytest.approx(160, abs=0.7)
    assert not any("contradict" in row["text"] for row in section(connection, "critical/summary"))


@pytest.mark.long
def test_a_thread_that_waits_for_another_one(tmp_path: Path) -> None:
    """The main thread calls backward, which another thread does, and goes on when that has ended."""
    given = Given()
    given.span("step", "step#1", 0, 300)
    given.op("aten::mm", 0, 50)
    given.add("ops", name="MmBackward0", pid=1, tid=2, start_ns=60_000, dur_ns=140_000)
    given.op("Optimizer.step#SGD.step", 210, 300)
    connection = prepared(tmp_path, given)
    assert [duration for *_, duration in parts(connection)] == [50, 10, 140, 10, 90]


def test_on_a_processor_alone_what_only_describes_a_tensor_anew_is_the_hosts(tmp_path: Path) -> None:
    """As everywhere: the processor counts as idle in a view."""
    given = Given()
    given.span("step", "step#1", 0, 200)
    given.op("aten::mm", 0, 60)
    given.op("aten::view", 60, 160)
    given.op("aten::mm", 160, 200)
    connection = prepared(tmp_path, given)
    assert parts(connection) == [("device", "gemm", 60), ("host", "host operators", 100), ("device", "gemm", 40)]
    assert connection.execute("SELECT busy_ns, idle_ns FROM steps").fetchall() == [(100_000, 100_000)]
    assert scenarios(connection) == {"twice as fast aten::mm": 50, "twice as fast all gemm": 50}


def test_loading_data_is_a_part_of_its_own_and_can_be_taken_away(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "step#1", 0, 300)
    given.span("phase", "data", 0, 80)
    given.op("aten::mm", 100, 300)
    connection = prepared(tmp_path, given)
    assert sorted(parts(connection)) == [
        ("data loading", "data loading", 80),
        ("device", "gemm", 200),
        ("edge of the step", "before the first task", 20),
    ]
    assert scenarios(connection)["no data loading"] == 80


def test_steps_of_ranks_that_nothing_ties_lie_side_by_side(tmp_path: Path) -> None:
    """Rank 1 runs its step 10 ms after that of rank 0 has begun, and neither waits for the other."""
    made = []
    for rank, (begin, lasting) in enumerate([(0, 500), (10_000, 600)]):
        given = Given(rank)
        given.span("step", "step#1", begin, begin + lasting)
        given.kernel(SGEMM, begin + 100, begin + lasting - 100, launched=begin + 50)
        made.append(given)
    connection = prepared(tmp_path, *made)
    assert section(connection, "critical/summary")[0]["text"].startswith("Step 1: 0.600 ms on the path: device 66.7 %")
    slack = "SELECT t.rank, s.slack_ns FROM critical_task t JOIN critical_slack s USING (number) WHERE t.name = $1"
    assert connection.execute(slack + " ORDER BY t.rank", [SGEMM]).fetchall() == [(0, 200_000), (1, 0)]


def test_of_ranks_that_send_to_each_other_no_slack_is_known(tmp_path: Path) -> None:
    """Rank 0 waits for what rank 1 computes: all of rank 1 had slack, and without communication 300 us were saved."""
    made = []
    for rank in range(2):
        given = Given(rank)
        given.span("step", "step#1", 0, 1000)
        given.kernel(SGEMM, 100 + 400 * rank, 300 + 400 * rank, launched=50)
        given.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 300 + 400 * rank, 710, launched=60)
        if rank == 0:
            given.kernel(SGEMM, 712, 950, launched=70)
        made.append(given)
    connection = prepared(tmp_path, *made)
    assert section(connection, "critical/summary")[0]["text"].startswith(
        "Ranks send to each other (2 sends and receives), which are not matched: "
    )
    assert section(connection, "critical/slack") == []
    assert "communication takes no time" not in scenarios(connection)
    assert "twice as fast all gemm" in scenarios(connection)


@pytest.mark.long
def test_the_chosen_step_and_one_that_is_not_there(tmp_path: Path) -> None:
    made = Job(ranks=2, steps=3).build()
    connection = prepared(tmp_path, *made, step="3")
    assert section(connection, "critical/summary")[0]["text"].startswith("Step 3: 1.000 ms on the path: ")
    with pytest.raises(UsageError, match="has no step 7; it has steps 1 to 3"):
        critical.prepare(connection, {"step": "7"})
    with pytest.raises(UsageError, match="choose another step"):
        critical.prepare(connection, {"step": "3"}, most=3)


def test_the_path_is_of_a_step_that_every_rank_has(tmp_path: Path) -> None:
    """Rank 3 computes half as long again and stops recording after 3 of 8 steps: later ones show its lateness as
    communication."""
    job = Job(slow=lambda step, rank: 1.5 if rank == 3 else 1.0, recorded_steps=lambda rank: 3 if rank == 3 else None)
    job.steps = 8
    connection = prepared(tmp_path, *job.build())
    first, *others = [row["text"] for row in section(connection, "critical/summary")]
    assert re.match("Step [123]: 1.000 ms on the path: .*communication 20.0 %", first), first
    assert not any("record of this step" in text for text in others)
    assert scenarios(connection)["communication takes no time"] == 200, "two transfers, and no waiting"
    critical.prepare(connection, {"step": "6"})
    assert section(connection, "critical/summary")[0]["text"] == (
        "Not every rank has a record of this step: rank 3. The time that others wait for it is communication here."
    )
    assert scenarios(connection)["communication takes no time"] == 350


def test_of_too_many_ranks_the_graph_holds_those_for_which_the_others_wait(tmp_path: Path) -> None:
    late = Job(ranks=6, late=lambda step, rank: {4: 400.0, 2: 100.0}.get(rank, 0.0))
    connection = prepared(tmp_path, *late.build(), step="3")
    sizes = dict(critical.query("size").run(connection))
    assert list(sizes)[:2] == [4, 2] and set(sizes) == set(range(6))
    whole, saved = parts(connection), scenarios(connection)
    assert "Of 6 ranks" not in section(connection, "critical/summary")[0]["text"]
    critical.prepare(connection, {"step": "3"}, most=sizes[4] + sizes[2])
    assert connection.execute("SELECT rank FROM critical_window ORDER BY rank").fetchall() == [(2,), (4,)]
    assert parts(connection) == whole, "the path goes through rank 4"
    told = [row["text"] for row in section(connection, "critical/summary")]
    assert told[0].startswith("Of 6 ranks the graph holds 2: those for which the others wait longest")
    del saved[critical.NO_SKEW]
    assert {name: scenarios(connection)[name] for name in saved} == saved, "the others are not on it"


@pytest.mark.long
def test_nothing_is_said_where_nothing_takes_time(tmp_path: Path) -> None:
    connection = prepared(tmp_path, Given())
    for name in ("summary", "parts", "longest", "layers", "scenarios", "slack", "graph"):
        assert section(connection, f"critical/{name}") == []


def _graph(connection: duckdb.DuckDBPyConnection) -> dependencies.Graph:
    tasks = fetch(connection, critical.query("columns").body)
    events = fetch(connection, critical.query("event_waits").body)
    return dependencies.build(tasks, events, int(tasks["start_ns"].min()), int(tasks["end_ns"].max()))


@pytest.mark.parametrize("trace", [DDP, "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"])
def test_the_recorded_times_are_the_schedule_of_the_graph(trace: str, root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    _hold(captures.open(root / trace))


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("trace", ["v100-dlrm-8ranks", "v100-resnet50-train-old.json.gz"])
def test_the_same_of_public_traces(trace: str, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    _hold(captures.open(shared / "traces/kineto" / trace))


def _hold(connection: duckdb.DuckDBPyConnection) -> None:
    """Pieces add up; nothing changed is nothing saved; slack is by how much a task may grow, and not by more."""
    critical.prepare(connection, {})
    window = connection.execute("SELECT max(until_ns - moved_ns) - min(from_ns - moved_ns) FROM critical_window")
    (length,) = window.fetchall()[0]
    assert connection.execute("SELECT sum(dur_ns) FROM critical_part").fetchall() == [(length,)]
    follow = """SELECT count(*) FILTER (from_ns <> before_ns) FROM (SELECT from_ns, lag(from_ns + dur_ns) OVER
        (ORDER BY position) AS before_ns FROM critical_piece WHERE dur_ns > 0)"""
    assert connection.execute(follow).fetchall() == [(0,)], "each piece begins where the one before it ends"
    assert connection.execute("SELECT count(*) FROM critical_scenario WHERE changed_ns > step_ns").fetchall() == [(0,)]
    graph = _graph(connection)
    lasts = graph.end - graph.start
    whole = critical.end_of(graph, lasts, graph.delay)
    assert whole == graph.end[-1] - graph.start[0]
    spare = critical.node_slack(graph)
    assert spare.min() == 0
    for node in np.linspace(1, len(lasts) - 2, 7, dtype=int).tolist():
        if (graph.at_start[graph.source == node] == 1).any():
            continue  # What it launches waits for its start alone.
        longer = lasts.copy()
        longer[node] += spare[node]
        assert critical.end_of(graph, longer, graph.delay) == whole
        longer[node] += 1000
        assert critical.end_of(graph, longer, graph.delay) == whole + 1000


def test_rules_of_advice_stand_beside_what_they_can_give_on_the_path(tmp_path: Path) -> None:
    connection = prepared(tmp_path, one_step())
    rules = {row["scenario"]: row["advice"] for row in section(connection, "critical/scenarios") if not row["what"]}
    assert rules == {"no host time": "host_bound, host_waits", "no launch overhead": "host_bound"}
    text = content("queries").joinpath("critical/scenarios.sql").read_text()
    named = {name for cell in re.findall(r"', '([a-z_, ]+)'\)", text) for name in cell.split(", ")}
    assert named and named <= set(advice.names()), "each is a rule"
