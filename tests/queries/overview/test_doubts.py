"""Faults of a recording stand under the first line where they touch its numbers, and only there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from advised import training
from asked import connected
from cases import first
from given import Given, section, write

import traceview
from traceview.analysis import advice, reports
from traceview.render import for_people, table


def doubts(given: Given, folder: Path) -> list[str]:
    """The lines under the first one."""
    with given.open(folder) as connection:
        return [row["text"] for row in section(connection, "overview/doubts")]


def kernels(n_launched: int, n_unlaunched: int = 0, n_lost: int = 0) -> Given:
    given = training(1, 1000)
    for at in range(n_launched + n_unlaunched):
        given.kernel("k", 10 * at, 10 * at + 5, launched=None if at >= n_launched else 10 * at)
    for at in range(n_lost):
        given.launch(500 + at)
    return given


@pytest.mark.slow
def test_a_sound_recording_has_none(tmp_path: Path) -> None:
    assert doubts(kernels(10), tmp_path / "whole") == []
    assert doubts(kernels(0, 10), tmp_path / "without calls") == []
    assert doubts(kernels(20, 1), tmp_path / "one of many") == []


@pytest.mark.slow
def test_kernels_whose_launch_was_not_recorded(tmp_path: Path) -> None:
    assert doubts(kernels(8, 2), tmp_path) == [
        "Doubt: 2 of 10 kernels (20.0 % of their time) have no recorded launch: their operators, and why the device "
        "idled before them, are not known."
    ]


def test_graphs_recorded_as_a_whole(tmp_path: Path) -> None:
    given = kernels(8)
    given.kernel("[CUDA graph]", 100, 260, launched=90)
    with given.open(tmp_path) as connection:
        assert [row["text"] for row in section(connection, "overview/doubts")] == [
            "Doubt: 1 CUDA graph was recorded as a whole (80.0 % of the busy time): what ran in it, and when nothing "
            "did, is not known."
        ]
        (said,) = advice.run(connection, advice.load(["layout_between_operators"]))
    assert said.status == "cannot tell"
    assert said.reason == "CUDA graphs recorded as a whole take 80.0 % of the device's busy time."


@pytest.mark.parametrize(("trained", "n_doubts"), [((0, 2), 1), ((0, 1, 2), 0), ((), 0)])
def test_marked_steps_of_two_kinds(trained: tuple[int, ...], n_doubts: int, tmp_path: Path) -> None:
    """Profilers of trainers mark validation steps as they mark training steps."""
    given = training(3, 1000)
    for number in range(3):
        given.op("aten::mm", 1000 * number + 10, 1000 * number + 400)
        if number in trained:
            row = {"name": "MmBackward0", "pid": 1, "tid": 2, "forward_thread": 1, "sequence": 1}
            given.add("ops", **row, start_ns=(1000 * number + 500) * 1000, dur_ns=400_000)
    said = (
        "Doubt: 1 of the 3 marked steps runs no backward pass, as where a validation is marked too: the numbers are of "
    )
    assert doubts(given, tmp_path) == [said + "both kinds."] * n_doubts


@pytest.mark.slow
@pytest.mark.parametrize(("evaluated", "n_doubts"), [((0, 2), 1), ((0, 1, 2), 0), ((), 0)])
def test_a_model_that_nothing_trains_runs_in_some_steps(
    evaluated: tuple[int, ...], n_doubts: int, tmp_path: Path
) -> None:
    """Averaged weights are evaluated with gradients after every second step."""
    given = training(3, 1000, device=None)
    given.about = {"untrained": ["Net#2"]}
    for number in range(3):
        for begin, module in ((100, "Net (Net)"), (500, "Net#2 (Net)")):
            if begin == 100 or number in evaluated:
                at = 1000 * number + begin
                given.span("module", module, at, at + 300)
                given.op("aten::mm", at + 10, at + 200)
    said = "Doubt: Net#2, which no optimizer trains, runs in 2 of the 3 recorded steps: they are not alike."
    assert doubts(given, tmp_path) == [said] * n_doubts


@pytest.mark.parametrize(("n_unused", "validated", "n_doubts"), [(6, (0, 2), 1), (6, (0, 1, 2), 0), (0, (0, 2), 0)])
def test_a_validation_with_gradients_in_some_steps(
    n_unused: int, validated: tuple[int, ...], n_doubts: int, tmp_path: Path
) -> None:
    """It ends no step: after its three passes comes the next one of training."""
    given = training(3, 1000, device=None)
    given.about = {"evaluated": {"passes": 6, "with_gradients": n_unused, "maybe_used": 0}}
    for number in range(3):
        for place in range(4 if number in validated else 1):
            at = 1000 * number + 100 * place
            given.span("phase", "forward", at + 10, at + 90)
            given.op("aten::mm", at + 20, at + 80)
        given.span("phase", "backward", 1000 * number + 500, 1000 * number + 900)
    said = (
        "Doubt: 2 of the 3 steps that count run more forward passes than others, as where a validation runs with "
        "gradients, which is then part of the step: they are not alike."
    )
    assert doubts(given, tmp_path) == [said] * n_doubts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "said"), [(0, []), (1, ["pass of a validation runs"]), (8, ["passes of a validation run"])]
)
def test_a_validation_between_gradients_that_add_up(n: int, said: list[str], tmp_path: Path) -> None:
    given = training(3, 1000, device=None)
    given.about = {"validated": n}
    given.op("aten::mm", 100, 900)
    rest = "within the recorded steps, between backward passes whose gradients add up: the numbers are of both."
    assert doubts(given, tmp_path) == [f"Doubt: {n} forward {each} {rest}" for each in said]


@pytest.mark.slow
def test_what_is_left_out_is_of_the_model_that_is_named(tmp_path: Path) -> None:
    """The copy of the warm-up is another one than that which is named."""
    given = Given()
    given.about = {"untrained": ["Start", "Net#2"]}
    for number, (begin, end, module) in enumerate(
        ((0, 3000, "Start"), (3000, 4000, "Net#2"), (4000, 5000, "Net#2"), (5000, 6000, "Net"))
    ):
        given.span("step", f"step {number}", begin, end)
        given.span("module", f"{module} (Net)", begin + 100, begin + 900)
        given.op("aten::mm", begin + 200, begin + 800)
    said = "Doubt: Net#2, which no optimizer trains, runs in 2 of the 4 recorded steps: they are not alike."
    assert doubts(given, tmp_path) == [said]


def test_kernels_without_a_launch_are_no_launches(tmp_path: Path) -> None:
    text = doubts(kernels(8, 10, n_lost=2), tmp_path)[0]
    assert text.startswith("Doubt: 2 launched kernels are not in the recording (20.0 % of its launches)")


def test_launches_whose_kernel_was_not_recorded(tmp_path: Path) -> None:
    assert doubts(kernels(8, n_lost=2), tmp_path) == [
        "Doubt: 2 launched kernels are not in the recording (20.0 % of its launches): the device was "
        "busier than stated."
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "call", "said"),
    first(
        2,
        [
            ("aten::mm", "cudaLaunchKernel", "1 launch"),
            ("aten::cudnn_convolution", None, "1 operator of a GPU's library"),
            ("aten::_scaled_dot_product_flash_attention", None, "1 operator of a GPU's library"),
        ],
    ),
)
def test_a_device_of_which_nothing_was_recorded_is_no_cpu(
    tmp_path: Path, operator: str, call: str | None, said: str
) -> None:
    given = Given()
    given.op(operator, 0, 100)
    if call:
        given.call(call, 10, 20)
    with given.open(tmp_path) as connection:
        report = reports.run(connection, "overview")
        assert connection.execute("FROM activities").fetchall() == []
    assert f"The device's work was not recorded ({said})" in table.render(for_people(report))


@pytest.mark.parametrize("operator", ["aten::cudnn_is_acceptable", "aten::_scaled_dot_product_flash_attention_for_cpu"])
def test_operators_that_run_on_a_cpu_too_say_nothing_of_a_device(tmp_path: Path, operator: str) -> None:
    given = Given()
    given.op(operator, 0, 100)
    assert doubts(given, tmp_path) == []


@pytest.mark.parametrize(("processor_us", "n_lines"), [(1200, 0), (1190, 1)])
def test_a_machine_that_was_busy_with_something_else(processor_us: int, n_lines: int, tmp_path: Path) -> None:
    given = training(device=None)
    for start in (0, 1000, 2000):
        given.op("aten::mm", start, start + 500)
    given.about["usage"] = {"wall_ns": 3_000_000, "user_ns": processor_us * 1000, "system_ns": 0}
    said = (
        "Doubt: The machine was busy with something else: rank 0 got 79 % of the processor time that its operators "
        "took."
    )
    assert doubts(given, tmp_path) == [said] * n_lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("used", "said"),
    first(
        5,
        [
            ({}, None),
            (
                {"busy_ns": 560_000_000, "own_ns": 300_000_000},
                "of the cores' time other programs took 43 %, this run 50 %",
            ),
            ({"stolen_ns": 36_000_000, "busy_ns": 336_000_000}, "A hypervisor took 6 % of the cores' time away."),
            (
                {"throttled_ns": 60_000_000},
                "The container's limit held the run back for 10 % of the time of its 2 cores.",
            ),
            ({"memory_stall_ns": 30_000_000}, "Programs of this machine waited for memory for 10 % of the recording."),
            # Others are no doubt where cores were left, nor below a tenth.
            ({"busy_ns": 530_000_000, "own_ns": 300_000_000}, None),
            ({"busy_ns": 560_000_000, "own_ns": 510_000_000}, None),
            ({"stolen_ns": 24_000_000, "busy_ns": 324_000_000}, None),
            ({"throttled_ns": 30_000_000}, None),
            ({"memory_stall_ns": 15_000_000}, None),
            # What the system does not count is no doubt.
            (dict.fromkeys(("busy_ns", "own_ns", "stolen_ns", "throttled_ns", "memory_stall_ns")), None),
        ],
    ),
)
def test_what_the_rest_of_the_machine_did(used: dict[str, int | None], said: str | None, tmp_path: Path) -> None:
    """Two cores for 300 ms: 600 ms of processor time were to be had."""
    given = training(device=0)
    quiet = {"busy_ns": 300_000_000, "own_ns": 300_000_000, "stolen_ns": 0, "throttled_ns": 0, "memory_stall_ns": 0}
    given.about["usage"] = {"wall_ns": 300_000_000, "cores": 2, "machine_ns": 300_000_000} | quiet | used
    found = doubts(given, tmp_path)
    assert len(found) == (said is not None) and all(said in line for line in found if said)
    with given.open(tmp_path / "again") as connection:
        (row,) = section(connection, "environment/machine")
    own_ns = given.about["usage"]["own_ns"]
    assert (row["cores"], row["wall_ns"], row["own_pct"]) == (2, 300_000_000, own_ns and own_ns / 600_000_000 * 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"held_ns": {"power": 6_000_000, "heat": None}}, "GPU 3 was held back by its power limit for 6 % of the"),
        ({"held_share": {"power": None, "heat": 0.31}}, "GPU 3 was held back by heat for 31 % of the recording."),
        ({"held_ns": {"power": 5_000_000, "heat": 0}, "reasons": ["power limit"]}, None),
        # What the driver does not tell is no doubt, nor 100 %.
        ({}, None),
    ],
)
def test_a_gpu_that_was_held_back(told: dict[str, object], said: str | None, tmp_path: Path) -> None:
    given = training(device=0)
    given.about["gpus"] = [{"device": 3, "wall_ns": 100_000_000, "energy_j": 70.0, **told}]
    found = doubts(given, tmp_path)
    assert len(found) == (said is not None) and all(said in line for line in found if said)
    with given.open(tmp_path / "again") as connection:
        (row,) = section(connection, "environment/gpus")
    # The driver's energy is counted too seldom for 100 ms.
    assert (row["device"], row["mean_power_w"]) == (3, None)


def test_a_machine_that_was_counted_for_few_ticks_is_no_doubt(tmp_path: Path) -> None:
    """In 100 ms the system counts ten times: what it says of them may be above all that there was."""
    given = training(device=0)
    counted = {"busy_ns": 500_000_000, "own_ns": 0, "stolen_ns": 0, "machine_ns": 100_000_000}
    given.about["usage"] = {"wall_ns": 100_000_000, "cores": 2} | counted
    assert doubts(given, tmp_path) == []
    with given.open(tmp_path / "again") as connection:
        assert section(connection, "environment/machine") == []


@pytest.mark.slow
def test_events_that_could_not_be_read(tmp_path: Path) -> None:
    """One event in a hundred without a time is within what happens; two are not."""
    for n_lost in (1, 2):
        events = [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10 * at, "dur": 5}
            for at in range(100 - n_lost)
        ]
        events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": "x", "dur": 5}] * n_lost
        path = tmp_path / f"{n_lost}.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
        with traceview.open(path) as capture:
            said = [row["text"] for row in section(capture.connection, "overview/doubts")]
        lost = ["Doubt: 2 of 100 events of the file could not be read: what they held is missing."]
        assert said == (lost if n_lost > 1 else [])


@pytest.mark.slow
def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    """Three steps whose device is busy but for a tenth; of the cut file, the last two thirds of each are missing."""

    def work(number: int, start: int, lasting: int) -> list[dict[str, object]]:
        call = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "pid": 1, "ts": start - 5, "dur": 2}
        kernel = {"cat": "kernel", "name": "k", "tid": 7, "pid": 0, "ts": start, "dur": lasting}
        on = {"device": 0, "stream": 7, "correlation": number}
        return [{"ph": "X", **call, "args": {"correlation": number}}, {"ph": "X", **kernel, "args": on}]

    mark = {"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1, "dur": 1000}
    events: list[dict[str, object]] = [mark | {"name": f"ProfilerStep#{n}", "ts": 1000 * n} for n in range(3)]
    events += [event for n in range(3) for event in work(n + 1, 1000 * n + 50, 300)]
    text = json.dumps({"schemaVersion": 1, "traceEvents": events})[:-2]
    rest = "".join(f", {json.dumps(event)}" for n in range(3) for event in work(n + 4, 1000 * n + 350, 600))
    answers = {}
    for name, content in {"whole": f"{text}{rest}]}}", "cut": f"{text}{rest[:20]}"}.items():
        (tmp_path / name).write_text(content)
        with traceview.open(tmp_path / name) as capture:
            said = [row["text"] for row in section(capture.connection, "overview/doubts")]
            (found,) = advice.run(capture.connection, advice.load(["idle_at_step_edges"]))
            answers[name] = said, found.status, found.confidence
    assert answers["whole"] == (
        [],
        "found",
        "high that it is idle; no long call or operator that was recorded fills that time",
    )
    assert answers["cut"] == (
        ["Doubt: The file is cut off: work that came after looks idle, and shares are of what is left."],
        "found",
        "low: a part of the file is missing, and with it may be what speaks against this",
    )


@pytest.mark.parametrize(("worked_us", "share"), [(50, "2.5"), (800, "40"), (1100, None)])
def test_a_device_that_works_in_a_part_of_the_recording(worked_us: int, share: str | None, tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.kernel("k", 100, 100 + worked_us, launched=90)
    given.call("cudaMalloc", 0, 5)
    given.call("cudaFree", 1995, 2000)
    said = f"Doubt: The device's work lies within {share} % of the 2 ms in which the host was recorded: shares are of "
    assert doubts(given, tmp_path) == ([f"{said}that part."] if share else [])


@pytest.mark.parametrize("shared", [[0, 3], None, "three"])
def test_a_second_optimizer_that_the_recorded_steps_have_another_share_of(shared: object, tmp_path: Path) -> None:
    given = kernels(10)
    given.about["cost"] = {"shared": shared, "profiled_steps": 4, "bare_steps": 33}
    # So has the log of the same process, which is a file of its own.
    given.add("captures", rank=0, options=json.dumps({"ranks": [{"rank": 0, "cost": given.about["cost"]}]}))
    said = (
        "Doubt: A second optimizer (or function that trains) came with 0 of the 4 recorded steps and 3 of 33 others: "
    )
    expected = [f"{said}the numbers do not hold its usual share of the work."] if shared == [0, 3] else []
    assert doubts(given, tmp_path) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("bare_us", "n_short", "n_doubts"), [(4600, 2, 2), (1490, 3, 0)])
def test_steps_that_count_and_are_not_like_the_others(
    bare_us: int, n_short: int, n_doubts: int, tmp_path: Path
) -> None:
    """As on a busy machine: the first recorded ones take longer, and so did those before the recording."""
    given = Given()
    given.about["cost"] = {"bare_mean_ns": 1000 * bare_us}
    begin = 0
    for number, length in enumerate([8000, 6000] + [1000] * n_short):
        given.span("step", f"ProfilerStep#{number}", begin, begin + length)
        given.kernel("k", begin + 10, begin + length, launched=begin + 5)
        begin += length
    warmup = "2 of the 4 recorded steps are left out as warm-up: they took 7.0 ms on average, those that count 1.0 ms"
    bare = "Outside the recording a step takes 4.6 ms, the recorded ones that count 1.0 ms: they are not like most of"
    assert doubts(given, tmp_path) == [f"Doubt: {warmup}.", f"Doubt: {bare} the run."][:n_doubts]


@pytest.mark.slow
def test_pauses_of_the_profiler(tmp_path: Path) -> None:
    given = kernels(10)
    given.add("events", category="overhead", name="Buffer Flush", phase="X", start_ns=20_000, dur_ns=60_000)
    assert doubts(given, tmp_path) == [
        "Doubt: The profiler itself paused the program 1 times, for 6.0 % of the time above."
    ]


@pytest.mark.parametrize("name", ["Command Buffer Full", "Lazy Function Loading", "Driver Compiler"])
def test_pauses_of_the_driver_are_not_the_profilers(name: str, tmp_path: Path) -> None:
    given = kernels(10)
    given.add("events", category="overhead", name=name, phase="X", start_ns=20_000, dur_ns=60_000)
    assert doubts(given, tmp_path) == []


@pytest.mark.parametrize(("works_us", "n_doubts"), [(120, 1), (105, 0)])
def test_marks_that_are_shorter_than_their_work(works_us: int, n_doubts: int, tmp_path: Path) -> None:
    """The first marks of a host that is not yet held up by the device; from a quarter on the steps are the device's."""
    given = Given()
    for number in range(4):
        given.span("step", f"ProfilerStep#{number}", 100 * number, 100 * number + 100)
        begin = 90 + works_us * number
        given.kernel("k", begin, begin + works_us, launched=100 * number + 10)
    said = (
        "Doubt: The host runs ahead: marks of a step last 0.1 ms, but the device takes 0.1 ms for what one launches, "
        "which is what a step takes in the long run."
    )
    assert doubts(given, tmp_path) == [said] * n_doubts


@pytest.mark.slow
def test_steps_of_two_threads_at_once(tmp_path: Path) -> None:
    """As two sessions of ONNX Runtime: the work of both is in the time of one."""
    given = Given()
    for tid, start in ((1, 0), (2, 50), (1, 100)):
        given.add("ranges", kind="step", name="model_run", pid=1, tid=tid, start_ns=1000 * start, dur_ns=100_000)
        given.kernel("k", start + 10, start + 30, launched=start + 1)
    assert doubts(given, tmp_path) == [
        "Doubt: 1 more mark of the name model_run lies beside the steps, on other threads: what runs there is in the "
        "shares of the steps."
    ]


def test_idle_time_of_a_job_is_not_known_where_that_of_a_rank_is_not(tmp_path: Path) -> None:
    """One of two ranks has a log without time stamps: it was neither never idle nor idle for a mean of the other."""
    ranks = [Given(rank=0), Given(rank=1)]
    for given, apart_us in zip(ranks, (200, 100), strict=True):
        for number in range(3):
            row = {"kind": "matmul", "impl": "jit", "shape": "8x8", "start_ns": 1000 * apart_us * number}
            given.add("primitives", **row, dur_ns=100_000)
    ranks[1].add("captures", rank=1, clock="no time stamps in the log")
    write(tmp_path, *ranks)
    with connected(tmp_path) as connection:
        assert connection.execute("SELECT idle_ns FROM account ORDER BY rank").fetchall() == [(200_000,), (None,)]
        assert [row["category"] for row in section(connection, "overview/categories")] == ["gemm"]
        assert section(connection, "overview/idle") == []
        shown = {(row["rank"], row["category"]) for row in section(connection, "page/ranks")}
        assert shown == {("rank 0", "gemm"), ("rank 0", "idle"), ("rank 1", "gemm")}
        assert connection.execute("SELECT DISTINCT part FROM rank_parts").fetchall() == [("gemm",)]


@pytest.mark.slow
def test_spans_of_an_unknown_writer_are_no_work_of_a_device(tmp_path: Path) -> None:
    trace = tmp_path / "spans.json"
    trace.write_text('[{"name": "matmul", "cat": "Cpu", "ph": "X", "ts": 1, "dur": 5, "pid": 1, "tid": 1}]')
    printed = str(traceview.report(trace))
    assert "No work of a device with times was found" in printed
    assert "Doubt: The file is of no profiler that is known: its 1 spans are taken for marks of the program" in printed


def test_many_ranks_share_a_line(tmp_path: Path) -> None:
    write(tmp_path, *(_ranked(rank) for rank in range(3)))
    with connected(tmp_path) as connection:
        (row,) = section(connection, "overview/doubts")
    assert row["text"].endswith("are not known (rank 0; so have 2 more).")


@pytest.mark.slow
def test_what_one_rank_of_a_job_lacks_is_said_of_that_one(tmp_path: Path) -> None:
    """The last of its two kernels is cut off in the file of rank 1."""
    at = {"pid": 1, "tid": 1, "ph": "X"}
    mark = {"cat": "user_annotation", "dur": 1000} | at
    call = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 2} | at
    work = {"cat": "kernel", "name": "k", "dur": 300} | at
    events: list[dict[str, object]] = [mark | {"name": f"ProfilerStep#{n}", "ts": 1000 * n} for n in (0, 1)]
    for kind, begin in ((call, 10), (work, 50)):
        for n in (0, 1):
            on = {"device": 0, "stream": 7, "correlation": n + 1}
            events.append(kind | {"ts": 1000 * n + begin, "args": on})
    for rank in range(3):
        trace = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 3}, "traceEvents": events}
        text = json.dumps(trace)
        (tmp_path / f"rank{rank}.json").write_text(text[: -20 if rank == 1 else None])
    with traceview.open(tmp_path) as capture:
        said = [row["text"] for row in section(capture.connection, "overview/doubts")]
    assert said == [
        "Doubt: The file is cut off: work that came after looks idle, and shares are of what is left; means over ranks "
        "count what its steps lack as no time (rank 1, one of 3).",
        "Doubt: 1 launched kernel is not in the recording (50.0 % of its launches): the device was busier than stated "
        "(rank 1, one of 3).",
    ]


def _ranked(rank: int) -> Given:
    given = kernels(1, 1)
    given.rank = rank
    return given


@pytest.mark.slow
def test_the_first_screen_has_them_below_its_first_line(tmp_path: Path) -> None:
    with kernels(8, 2).open(tmp_path) as connection:
        lines = table.render(for_people(reports.run(connection, "overview"))).splitlines()
    assert lines[2].startswith("Step ") and lines[3].startswith("Doubt: 2 of 10 kernels")
