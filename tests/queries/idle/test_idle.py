"""The one account of a step: active and idle add up to it on every device, and idle has causes that add up to it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from advised import training
from given import Given, pick, rows, section

from traceview.analysis import advice

GEMM = "ampere_sgemm_128x64_nn"


def causes(connection: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """Idle time by cause over all devices, per step, in microseconds; it adds up to the account's."""
    found = dict(rows(connection, "SELECT cause, sum(idle_ns) FROM idle_causes GROUP BY cause"))
    account = "SELECT sum(idle_ns), sum(step_ns), sum(active_ns + idle_ns) FROM account"
    ((idle, step, whole),) = rows(connection, account)
    assert (sum(found.values()), whole) == (idle, step)
    return {cause: idle_ns / 1000 for cause, idle_ns in found.items()}


def test_each_nanosecond_of_a_gap_has_one_cause(tmp_path: Path) -> None:
    given = training(1)
    given.kernel(GEMM, 0, 100, launched=0)
    # 100 to 200: loading until 160, meanwhile an allocation until 170, then the launch is late.
    given.span("phase", "data", 90, 160)
    given.call("cudaMalloc", 150, 170)
    given.kernel(GEMM, 200, 300, launched=190)
    # 300 to 350: the host waits for the device until 310, and then has to launch again.
    given.call("cudaStreamSynchronize", 250, 310)
    given.kernel(GEMM, 350, 400, launched=340)
    # 400 to 420: a collective of the host until 415, then a late launch.
    given.collective("all_reduce", 395, 415, kind="all_reduce")
    given.kernel(GEMM, 420, 500, launched=418)
    # 500 to 503: launched long before, so nobody knows why.
    given.kernel(GEMM, 503, 900, launched=450)
    with given.open(tmp_path) as connection:
        assert causes(connection) == {
            "data": 60,
            "allocation": 10,
            "launch": 30 + 5,
            "synchronisation": 50,
            "communication": 15,
            "unknown": 3,
            # After the last kernel until the step ends.
            "between steps": 100,
        }
        assert rows(connection, "SELECT sum(n_gaps) FROM idle_causes") == [(5,)]
        assert advice.explained(connection) == (
            "GPU idle: 27.3 % of the step; 27.0 % explained (between steps 10.0 %, data 6.0 %, synchronisation 5.0 %, "
            "launch 3.5 %, communication 1.5 %, allocation 1.0 %), 0.3 % unexplained.",
        )


def test_what_a_thread_of_its_own_loads_or_exchanges_is_not_what_the_host_waits_for(tmp_path: Path) -> None:
    """The thread that launches goes from operator to operator; a loader and gloo work on threads of their own."""
    given = training(1)
    given.span("phase", "data", 0, 1000)
    given.rows["ranges"][-1]["tid"] = 99
    given.collective("gloo:all_reduce", 0, 900, kind="all_reduce")
    given.kernel(GEMM, 0, 100, launched=0)
    given.op("aten::mm", 0, 400)
    given.kernel(GEMM, 400, 500, launched=395)
    # From 500 to 700 the host is in no operator, from 700 to 800 in one that waits.
    given.op("_c10d_functional::wait_tensor", 700, 800)
    given.op("aten::mm", 800, 1000)
    given.kernel(GEMM, 900, 1000, launched=895)
    with given.open(tmp_path) as connection:
        found = causes(connection)
    assert found == {"communication": 200 + 100, "launch": 300 + 100}


@pytest.mark.parametrize(("launched", "cause"), [(150, "unknown"), (320, "launch"), (440, "launch")])
def test_a_call_that_ended_long_before_is_not_what_the_device_waited_for(
    tmp_path: Path, launched: float, cause: str
) -> None:
    """The call ends 1 us later; most of the gap of 400 us comes after it, or nearly half, or 59 us."""
    given = training(1)
    given.kernel(GEMM, 0, 100, launched=0)
    given.kernel(GEMM, 500, 1000, launched=launched)
    with given.open(tmp_path) as connection:
        assert causes(connection) == {cause: 400}


@pytest.mark.parametrize(
    ("launched", "waited", "found"),
    [
        # Launched before the host waits, after the device ran dry or before.
        (110, (150, 990), {"unknown": 400}),
        (50, (90, 990), {"unknown": 400}),
        # Launched after the wait, in the first half of the gap and in the second.
        (210, (90, 150), {"synchronisation": 50, "unknown": 350}),
        (310, (90, 150), {"synchronisation": 400}),
        # Launched by another thread while the host waits.
        (210, (90, 990), {"synchronisation": 111, "unknown": 289}),
    ],
)
def test_with_work_in_the_queue_the_device_does_not_wait_for_a_host_that_waits(
    launched: float, waited: tuple[float, float], found: dict[str, float], tmp_path: Path
) -> None:
    given = training(1)
    given.kernel(GEMM, 0, 100, launched=0)
    given.call("hipMemcpyWithStream", *waited)
    given.kernel(GEMM, 500, 1000, launched=launched)
    with given.open(tmp_path) as connection:
        assert causes(connection) == found


@pytest.mark.long
def test_what_another_thread_waits_for_is_no_cause(tmp_path: Path) -> None:
    given = training(1)
    given.kernel(GEMM, 0, 400, launched=0)
    given.add("api_calls", name="cudaEventSynchronize", kind="runtime", pid=1, tid=2, start_ns=390_000, dur_ns=200_000)
    given.kernel(GEMM, 600, 1000, launched=590)
    with given.open(tmp_path) as connection:
        assert causes(connection) == {"launch": 200}


def test_what_the_thread_of_another_device_waits_for_or_allocates_is_no_cause(tmp_path: Path) -> None:
    """As under DataParallel: a thread for each device, of which only the first waits."""
    given = training(1)
    given.kernel(GEMM, 0, 1000, launched=0)
    given.call("cudaMalloc", 110, 150)
    given.call("cudaStreamSynchronize", 150, 1000)
    for start, end, launched in [(0, 100, 0), (200, 900, 190), (950, 1000, 940)]:
        given.kernel(GEMM, start, end, launched=launched, device=1)
        given.rows["api_calls"][-1]["tid"] = 2
    with given.open(tmp_path) as connection:
        assert causes(connection) == {"launch": 100 + 50}


@pytest.mark.long
def test_a_device_behind_its_host_is_busy_with_what_was_launched_before(tmp_path: Path) -> None:
    """A kernel of the warm-up fills the first half of the counted step, one of it runs on after its end."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for number, (start, end) in enumerate([(0, 400), (400, 500), (520, 620)]):
        given.span("step", f"ProfilerStep#{number}", start, end)
    given.kernel(GEMM, 300, 450, launched=10)
    given.kernel("vectorized_elementwise_kernel<relu>", 460, 510, launched=410)
    given.kernel(GEMM, 600, 640, launched=530)
    with given.open(tmp_path) as connection:
        assert causes(connection) == {"unknown": 5, "between steps": 40}
        found = section(connection, "overview/categories")
        assert pick(found, "category", "busy_ns", "step_pct") == [
            ("activation", 20_000, 20),
            ("gemm", 10_000, 10),
            ("(launched outside these steps)", 25_000, 25),
            ("(GPU idle)", 45_000, 45),
            # 10 of the 20 us between the two steps.
            ("(between steps)", 5_000, None),
        ]
        assert pick(section(connection, "overview/step"), "active_ns", "idle_ns") == [(55_000, 45_000)]
        (row,) = section(connection, "idle/devices")
        assert (row["step_ns"], row["active_ns"], row["idle_ns"], row["between_ns"]) == (
            100_000,
            55_000,
            45_000,
            10_000,
        )
        assert rows(connection, "SELECT sum(busy_ns), sum(idle_ns) FROM steps WHERE NOT is_warmup") == [
            (110_000, 90_000)
        ]
        steady = section(connection, "utilisation/windows")[1]
        assert (steady["window_ns"], steady["busy_ns"], steady["idle_ns"]) == (200_000, 110_000, 90_000)
        libraries = section(connection, "libraries/libraries")
        assert sum(row["busy_ns"] for row in libraries) == 55_000
        assert sum(row["total_ns"] for row in section(connection, "layers/layers")) == 55_000


def test_streams_of_a_device_count_once_and_devices_each_for_themselves(tmp_path: Path) -> None:
    given = training(1, 100)
    given.kernel(GEMM, 0, 40, launched=0)
    given.kernel(GEMM, 20, 60, launched=1, stream=8)
    given.kernel(GEMM, 80, 100, launched=70)
    given.kernel(GEMM, 0, 100, launched=2, device=1)
    with given.open(tmp_path) as connection:
        account = "SELECT device, active_ns, idle_ns FROM account ORDER BY device"
        assert rows(connection, account) == [("gpu 0", 80_000, 20_000), ("gpu 1", 100_000, 0)]
        assert causes(connection) == {"launch": 20}
        found = section(connection, "overview/categories")
        assert pick(found, "category", "busy_ns", "step_pct") == [("gemm", 180_000, 90), ("(GPU idle)", 20_000, 10)]
        (idle,) = section(connection, "overview/idle")
        assert (idle["idle_ns"], idle["idle_pct"], idle["step_pct"]) == (20_000, 100, 10)


def test_without_steps_the_whole_recording_is_divided(tmp_path: Path) -> None:
    given = Given()
    given.kernel(GEMM, 10, 20, launched=5)
    given.kernel(GEMM, 50, 60, launched=45)
    with given.open(tmp_path) as connection:
        assert causes(connection) == {"launch": 30}
        assert pick(section(connection, "idle/devices"), "steps", "step_ns", "idle_ns") == [(0, 50_000, 30_000)]


@pytest.mark.long
def test_without_launches_and_on_a_cpu_no_cause_is_made_up(tmp_path: Path) -> None:
    given = training(2, 100, device=None)
    for start in (0, 100):
        given.op("aten::mm", start + 10, start + 60)
        given.span("phase", "data", start + 65, start + 75)
        given.op("aten::relu", start + 80, start + 90)
    with given.open(tmp_path) as connection:
        # 60 to 80 without the loading; 10 us at either edge.
        assert causes(connection) == {"data": 10, "unknown": 10, "between steps": 20}
        assert section(connection, "overview/categories")[-1]["category"] == "(CPU idle)"


def test_one_time_is_one_finding(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel(GEMM, start, start + 100, launched=start)
        given.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", start + 100, start + 500, launched=start + 1)
    with given.open(tmp_path) as connection:
        both = advice.run(connection, advice.load(["communication_bound", "exposed_communication"]))
        assert [(f.rule, f.saving_ns) for f in both] == [
            ("exposed_communication", 400_000),
            ("communication_bound", None),
        ]
        assert both[1].problem.endswith("What that can give is in exposed_communication: it is the same time.")
        (alone,) = advice.run(connection, advice.load(["communication_bound"]))
        assert alone.saving_ns == 400_000
