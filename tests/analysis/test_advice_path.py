"""Findings of advice by the critical path: built steps whose answer is known, and what holds on every trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from advised import training
from given import Given, write
from jobs import Job

from traceview import sql
from traceview.analysis import advice, advice_path, certainty, critical, findings
from traceview.analysis.model import Finding
from traceview.paths import content
from traceview.store import views

pytestmark = pytest.mark.slow

CONVOLUTION = "ampere_scudnn_128x64_relu_small_nn_v1"
TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)"


def said(folder: Path, *ranks: Given, rules: tuple[str, ...] = ()) -> dict[str, Finding]:
    """Return the findings in their order."""
    write(folder, *ranks)
    loaded = advice.load(rules)
    with views.connect(folder) as connection:
        return {f.rule: f for f in advice_path.run(connection, loaded) if f.status == "found"}


def bounds(found: dict[str, Finding]) -> dict[str, tuple[int | None, str, int | None]]:
    return {rule: (f.work_ns, f.path, f.saving_ns) for rule, f in found.items()}


def layout(is_late: bool = False) -> Given:
    """Steps of two convolutions and a conversion of 100 us between them; the second one 300 us late, or at once."""
    given = training(3)
    for start in (0, 1000, 2000):
        late = start + (300 if is_late else 0)
        given.kernel(CONVOLUTION, start + 10, start + 110, launched=start + 2)
        given.op("aten::contiguous", start + 4, start + 9)
        given.kernel(TO_NHWC, start + 110, start + 210, launched=start + 5)
        if is_late:
            given.op("aten::item", start + 10, late + 200)
        given.kernel(CONVOLUTION, late + 210, late + 600, launched=late + 201 if is_late else start + 12)
        given.call("cudaDeviceSynchronize", late + 203, start + 990)
    return given


def test_work_on_the_path_keeps_its_bound(tmp_path: Path) -> None:
    found = said(tmp_path, layout(), rules=("layout_between_operators",))
    assert bounds(found) == {"layout_between_operators": (100_000, certainty.ON, 100_000)}


def test_work_beside_the_path_has_slack_gives_nothing_and_stands_last(tmp_path: Path) -> None:
    """The host launches the convolution 300 us late, 7 of which it waits for the device; that is the slack before."""
    given = layout(is_late=True)
    for call in given.rows["api_calls"]:
        if call["start_ns"] % 1_000_000 == 5_000:
            call["tid"] = 2  # Another thread launches it, so that the one on the path gains nothing.
    for op in given.rows["ops"]:
        if op["name"] == "aten::contiguous":
            op["tid"] = 2
    found = said(tmp_path, given, rules=("layout_between_operators", "host_bound"))
    assert list(found) == ["host_bound", "layout_between_operators"]
    off = found["layout_between_operators"]
    assert (off.work_ns, off.path, off.saving_ns, off.path_slack_ns) == (100_000, certainty.OFF, 0, 300_000)
    assert certainty.path_sentence(off) == (
        "Not on the critical path: the rule counts 0.100 ms, but there are 0.300 ms of slack before it costs anything."
    )
    assert found["host_bound"].saving_ns == found["host_bound"].work_ns == 293_000


def test_a_saving_beside_the_path_is_listed_after_a_smaller_one_on_it(tmp_path: Path) -> None:
    """The conversions of 100 us off the path, and a bias of 60 us on it."""
    given = layout(is_late=True)
    for start in (0, 1000, 2000):
        given.kernel("void add_bias_kernel(float*)", start + 900, start + 960, launched=start + 600)
    pair = ("layout_between_operators", "unfused_bias_activation")
    found = said(tmp_path, given, rules=pair)
    assert list(found) == ["unfused_bias_activation", "layout_between_operators"]
    assert found["layout_between_operators"].saving_ns == 5_000, "its operator keeps the host for 5 us"


def test_loading_that_the_step_waits_for(tmp_path: Path) -> None:
    given = training(3)
    for start in (0, 1000, 2000):
        given.span("phase", "data", start, start + 400)
        given.op("aten::convolution", start + 401, start + 420)
        given.kernel(CONVOLUTION, start + 430, start + 930, launched=start + 410)
        given.call("cudaDeviceSynchronize", start + 425, start + 995)
    found = said(tmp_path, given, rules=("data_loading",))["data_loading"]
    assert found.path == certainty.ON
    assert found.saving_ns == found.work_ns == 400_000


def test_communication_of_ranks_is_bounded_by_its_transfer(tmp_path: Path) -> None:
    """One rank comes 300 us late: that the others wait for it no option of communication takes away."""
    job = Job(ranks=3, steps=4, transfer=150.0, late=lambda step, rank: 300.0 if rank == 2 else 0.0)
    found = said(tmp_path, *job.build(), rules=("exposed_communication",))["exposed_communication"]
    assert found.work_ns == 600_000, "of a rank that waits"
    assert (found.path, found.saving_ns) == (certainty.ON, 300_000), "two transfers"


def test_waiting_of_other_steps_makes_no_more_of_a_transfer(tmp_path: Path) -> None:
    """One step of six holds the others up by 3 ms: transfers are as long in all of them."""
    job = Job(ranks=3, steps=6, transfer=150.0, late=lambda step, rank: 3000.0 if (step, rank) == (4, 2) else 300.0)
    found = said(tmp_path, *job.build(), rules=("exposed_communication",))["exposed_communication"]
    assert found.work_ns == 750_000, "two transfers, and 450 us of waiting in the mean"
    assert (found.path, found.saving_ns) == (certainty.ON, 300_000)


def test_waiting_for_each_other_in_turns_within_a_step_goes_with_the_transfers(tmp_path: Path) -> None:
    """In four steps of nine each rank is 400 us late once: it computes 400 us more there, and waits for as long."""
    turns = (1, 2, 5, 6)
    job = Job(
        ranks=2,
        steps=9,
        transfer=50.0,
        late=lambda step, rank: 400.0 if step in turns and rank == 0 else 0.0,
        between=lambda step, rank: 400.0 if step in turns and rank == 1 else 0.0,
    )
    found = said(tmp_path, *job.build(), rules=("exposed_communication",))["exposed_communication"]
    assert (found.work_ns, found.path, found.saving_ns) == (277_778, certainty.ON, 277_778)


def test_transfers_as_short_as_the_error_of_the_clocks_count_as_on_the_late_rank(tmp_path: Path) -> None:
    """Rank 3 is late, and leaves 13 us after it came; rank 2 leaves 3 us after that in four steps, then 15 us."""
    job = Job(
        steps=8,
        buckets=1,
        transfer=3.0,
        size_bytes=8,
        slow=lambda step, rank: 2.0 if rank == 3 else 1.0,
        jitter=lambda number, rank: {2: 12.0 * (number > 3), 3: 10.0}.get(rank, 0.0),
        clock=lambda at, rank: at + 2000.0 * (rank > 1),
        host=lambda rank: "ab"[rank > 1],
    ).build()
    for given in job:
        for step in given.rows["ranges"]:
            start = step["start_ns"] / 1000
            given.call("cudaDeviceSynchronize", start + 15, start + 995)
    found = said(tmp_path, *job, rules=("exposed_communication",))["exposed_communication"]
    assert (found.path, found.saving_ns) == (certainty.ON, 15_000), "with 2 us of what the clocks are wrong by"


def test_a_rank_that_the_graph_has_no_room_for_is_bounded_by_those_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rank 2 waits longest, for the last one; the graph holds that and rank 0. A copy of rank 2 is in neither."""
    monkeypatch.setattr(advice_path, "MOST_RANKS", 2)
    slow = {2: 0.8, 3: 2.0}
    job = Job(ranks=4, steps=4, transfer=150.0, slow=lambda step, rank: slow.get(rank, 1.0)).build()
    for start in range(0, 4000, 1000):
        job[2].copy("HtoD", start + 850, start + 950, start + 840, src_kind="pageable", size_bytes=1_000_000)
    found = said(tmp_path, *job, rules=("exposed_communication", "pageable_copies"))
    sent, copied = found["exposed_communication"], found["pageable_copies"]
    assert (sent.rank, sent.work_ns, sent.path, sent.saving_ns) == (2, 660_000, certainty.ON, 300_000)
    assert (copied.rank, copied.path) == (2, certainty.NOT_KNOWN)
    assert copied.path_reason == "rank 2 is not in the graph of step 2"


def test_copies_of_a_rank_that_the_graph_has_no_room_for_have_no_bound_of_another_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The late rank 3 copies 40 us before it computes, on the path; rank 2 copies 240 us, and waits longest."""
    monkeypatch.setattr(advice_path, "MOST_RANKS", 2)
    late = {2: 250.0, 3: 600.0}
    job = Job(
        steps=4,
        late=lambda step, rank: late.get(rank, 100.0),
        why="host",
        slow=lambda step, rank: 0.1 if rank == 2 else 1.0,
    ).build()
    for rank, lasting in ((2, 240), (3, 40)):
        for step in job[rank].rows["ranges"]:
            end = step["start_ns"] / 1000 + 8 + late[rank]
            job[rank].copy("HtoD", end - lasting, end, end - lasting - 5, src_kind="pageable", size_bytes=1_000_000)
    copied = said(tmp_path, *job, rules=("pageable_copies",))["pageable_copies"]
    assert (copied.rank, copied.path, copied.saving_ns) == (2, certainty.NOT_KNOWN, 242_000)
    assert copied.path_reason == "rank 2 is not in the graph of step 2"


def test_a_copy_goes_with_the_wait_of_its_call(tmp_path: Path) -> None:
    """A blocking copy of 100 us, and 91 us until the convolution after it begins: without it the host goes on at 50."""
    given = training(3)
    for start in (0, 1000, 2000):
        number = given.launch(start + 40, "cudaMemcpy", 120)
        span = {"start_ns": round((start + 50) * 1000), "dur_ns": 100_000}
        given.add(
            "memcpys",
            device=0,
            stream=7,
            name="Memcpy HtoD",
            direction="HtoD",
            correlation=number,
            **span,
            size_bytes=1_000_000,
            src_kind="pageable",
            dst_kind="device",
        )
        given.op("aten::convolution", start + 165, start + 235)
        given.kernel(CONVOLUTION, start + 241, start + 900, launched=start + 230)
        given.call("cudaDeviceSynchronize", start + 240, start + 990)
    found = said(tmp_path, given, rules=("pageable_copies",))["pageable_copies"]
    assert (found.work_ns, found.path) == (191_000, certainty.ON)
    assert found.saving_ns == 120_000, "the call; what the host does after it takes as long as before"


def test_work_that_only_a_wait_led_on_from_still_bounds_the_step(tmp_path: Path) -> None:
    """The kernel ends at 810 of 1000 us however little the host does after it."""
    given = training(3)
    for start in (0, 1000, 2000):
        given.kernel(CONVOLUTION, start + 210, start + 810, launched=start + 200)
        given.call("cudaDeviceSynchronize", start + 205, start + 811)
        given.call("cudaDeviceSynchronize", start + 960, start + 961)
    found = said(tmp_path, given, rules=("host_waits",))["host_waits"]
    assert (found.path, found.saving_ns) == (certainty.ON, 190_000)


def test_what_the_program_does_between_two_waits_stays(tmp_path: Path) -> None:
    """Without the waits the 700 us after the first begin at 23 us, not at 111, and the second kernel ends at 831 us."""
    given = training(3)
    for start in (0, 1000, 2000):
        given.kernel(CONVOLUTION, start + 10, start + 110, launched=start + 2)
        given.call("cudaStreamSynchronize", start + 23, start + 111)
        given.call("cudaStreamSynchronize", start + 811, start + 812)
        given.kernel(CONVOLUTION, start + 820, start + 920, launched=start + 815)
        given.call("cudaDeviceSynchronize", start + 818, start + 921)
    found = said(tmp_path, given, rules=("host_waits",))["host_waits"]
    assert (found.path, found.saving_ns) == (certainty.ON, 169_000)


def full_queue(lasting: float) -> Given:
    """Steps of ten kernels of 290 us that the step before has launched; each launch takes as long as is said."""
    given = training(4, 3000)
    for start in (0, 3000, 6000, 9000):
        for at in range(start, start + 3000, 300):
            number = given.launch(at - 2995 if start else None, lasting=lasting)
            given.kernel(CONVOLUTION, at + 5, at + 295, correlation=number)
    for at in range(9000, 12000, 300):
        given.launch(at + 5, lasting=lasting)
    return given


@pytest.mark.parametrize(("lasting", "is_full"), [(295.0, True), (3.0, False)])
def test_a_host_that_waits_for_room_in_the_queue_does_not_hold_up_the_step(
    lasting: float, is_full: bool, tmp_path: Path
) -> None:
    """Launches as long as the kernels: without the kernels the host launches at once. Short ones: it has other work."""
    write(tmp_path, full_queue(lasting))
    with views.connect(tmp_path) as connection:
        critical.choose(connection, {"step": "2"}, critical.MOST)
        worked = critical.work_out(connection)
    assert worked.graph is not None
    stays = np.where(worked.tasks["class"] == 0, 0, 100)
    without = critical.changed(worked.graph, stays, 0 * worked.graph.kind)
    assert without == (100_000 if is_full else 2_708_000)
    assert advice_path._runs_ahead(worked.graph, worked.tasks) != is_full, "without a wait its time bounds nothing"


def test_where_the_path_cannot_be_had_it_says_so_and_the_order_stays(tmp_path: Path) -> None:
    given = training(3)
    for start in (0, 1000, 2000):
        given.kernel(TO_NHWC, start + 20, start + 120)
        given.kernel(CONVOLUTION, start + 120, start + 720)
    found = said(tmp_path, given, rules=("layout_in_convolutions",))["layout_in_convolutions"]
    assert (found.path, found.path_saving_ns) == (certainty.NOT_KNOWN, None)
    assert found.saving_ns == found.work_ns
    assert findings.path_reasons([found]) == [
        "Critical path not known for layout_in_convolutions: "
        "the trace does not say which call launched what runs on the device."
    ]


def test_every_removal_has_its_rule_and_says_what_goes() -> None:
    rules = {rule.name: rule for rule in advice.load()}
    used = {rule.extra["removes"] for rule in rules.values() if "removes" in rule.extra}
    files = {path.stem for path in (content("queries") / "advice" / "removes").glob("*.sql")}
    assert used == files
    for rule in rules.values():
        query = advice_path.removal(rule)
        if query:
            assert query.extra["gone"] and set(query.extra["gone"]) <= {"time", "waits", "launches", "loading"}
            assert all(rule.params[name] == param for name, param in query.params.items()), "one threshold, one default"


@pytest.mark.parametrize("trace", ["torch-2.13.0-lenet-cpu.json.gz", "torch-2.13.0-lenet-ddp-cpu"])
def test_on_a_cpu_ranks_stay_as_they_are(trace: str, root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    rules = advice.load()
    connection = captures.open(root / "samples/kineto" / trace)
    before = [finding.rule for finding in advice.run(connection, rules) if finding.status == "found"]
    after = [finding.rule for finding in advice_path.run(connection, rules) if finding.status == "found"]
    assert after == before and before


@pytest.mark.shared
def test_of_a_step_that_waits_for_its_host(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """The device is idle three quarters of the step: two thirds of the conversions have slack, launches have none."""
    connection = captures.open(shared / "traces/kineto/a100-convnet-train-nccl.json.gz")
    rules = advice.load(["layout_in_convolutions", "host_bound"])
    host, layout = advice_path.run(connection, rules)
    assert (host.rule, host.path_saving_ns) == ("host_bound", host.work_ns)
    assert (layout.work_ns, layout.path_saving_ns) == (4_482_209, 1_530_567)


def test_a_step_that_was_launched_before_the_recording_began_is_not_asked(tmp_path: Path) -> None:
    given = layout()
    given.rows["api_calls"] = [call for call in given.rows["api_calls"] if call["start_ns"] >= 1_000_000]
    found = said(tmp_path, given, rules=("layout_between_operators",))
    assert bounds(found) == {"layout_between_operators": (100_000, certainty.ON, 100_000)}


APPROXIMATE = {"arithmetic", "convolution_biases", "repeated_copies", "small_grids"}
"""Hold more than the rule counts: which of these rows are its own is not told by a row."""


@pytest.mark.shared
@pytest.mark.parametrize(
    "trace", ["a100-convnet-train-nccl.json.gz", pytest.param("v100-dlrm-8ranks", marks=pytest.mark.long)]
)
def test_what_goes_is_what_the_rule_counts(trace: str, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection, rules = captures.open(shared / "traces/kineto" / trace), {rule.name: rule for rule in advice.load()}
    compared = 0
    answers = advice_path.run(connection, list(rules.values()))
    advice_path.work_out(connection)
    for finding in answers:
        query = advice_path.removal(rules[finding.rule])
        if finding.status != "found" or query is None or query.name in APPROXIMATE:
            continue
        text = f"SELECT sum(counted_ns) FROM ({query.written({})}) r WHERE r.rank = {finding.rank}"
        ((all_ns,),) = connection.execute(text).fetchall()
        steps = connection.execute(f"SELECT n_steps FROM scope WHERE rank = {finding.rank}").fetchall()[0][0]
        if query.name == "communication":
            text = """SELECT sum(own_ns - least_ns) FROM (SELECT *, min(own_ns) OVER (PARTITION BY step) AS least_ns
                FROM (SELECT rank, step, sum(step_exposed_ns) AS own_ns FROM exchanges GROUP BY ALL)) WHERE rank ="""
            ((beyond_least_ns,),) = connection.execute(f"{text} {finding.rank}").fetchall()
            all_ns += beyond_least_ns
        assert all_ns / max(steps, 1) == pytest.approx(finding.work_ns, rel=1e-6), finding.rule
        compared += 1
    assert compared >= 2


def test_sql_of_a_removal_has_an_order() -> None:
    for path in (content("queries") / "advice" / "removes").glob("*.sql"):
        assert sql.load(path).body.rstrip().splitlines()[-1].startswith("ORDER BY "), path
