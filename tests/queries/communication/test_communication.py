"""Exposed communication is what no computing on the same rank covers."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected
from cases import first
from given import Given, pick, section, write
from jobs import Job

from traceview.analysis import critical
from traceview.store import open_capture

DDP = "samples/kineto/torch-2.13.0-lenet-ddp-cpu"

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SGEMM = "ampere_sgemm_128x64_nn"


def test_what_computing_covers_is_hidden_and_counted_once(tmp_path: Path) -> None:
    given = Given()
    given.kernel(SGEMM, 0, 10)
    given.kernel(SGEMM, 5, 12, stream=8)  # overlaps the first: still one cover
    given.kernel(REDUCE, 8, 20, stream=9)
    found = section(given.open(tmp_path), "communication/summary")
    assert pick(found, "busy_ns", "hidden_ns", "exposed_ns") == [(12_000, 4_000, 8_000)]
    assert found[0]["exposed_pct"] == 100 * 8 / 12
    assert found[0]["window_pct"] == 100 * 12 / 20


def test_what_lies_outside_of_steps_is_no_share_of_one(tmp_path: Path) -> None:
    """A call of 160 us, 20 of them hidden, is in the first step for 10 and in the second for 50; one goes on."""
    given = Given()
    for start in (0, 200):
        given.span("step", f"step {start // 200}", start, start + 100)
    given.kernel(SGEMM, 0, 80, launched=1)
    given.kernel(REDUCE, 90, 250, launched=2, stream=9)
    given.kernel(SGEMM, 210, 230, launched=201)
    given.kernel(GATHER, 290, 600, launched=202, stream=9)
    connection = given.open(tmp_path)
    query = "SELECT own_ns, exposed_ns, step_own_ns, step_exposed_ns FROM exchanges ORDER BY start_ns"
    assert connection.execute(query).fetchall() == [
        (160_000, 140_000, 60_000, 40_000), (310_000, 310_000, 10_000, 10_000)
    ]  # fmt: skip
    assert pick(section(connection, "communication/dimensions"), "busy_ns", "exposed_ns", "step_pct") == [
        (35_000, 25_000, 25.0)
    ]
    assert pick(section(connection, "overview/headline"), "exposed_ns") == [(25_000,)]


@pytest.mark.long
def test_two_collectives_at_once_are_one_time_of_communication(tmp_path: Path) -> None:
    given = Given()
    given.kernel(REDUCE, 0, 10, stream=9)
    given.kernel(GATHER, 5, 15, stream=10)
    given.kernel(SGEMM, 12, 20)
    connection = given.open(tmp_path)
    found = section(connection, "communication/summary")
    assert pick(found, "calls", "busy_ns", "hidden_ns", "exposed_ns") == [(2, 15_000, 3_000, 12_000)]
    kinds = section(connection, "communication/kinds")
    assert pick(kinds, "kind", "total_ns", "exposed_ns") == [
        ("all_gather", 10_000, 2_000),
        ("all_reduce", 10_000, 10_000),
    ]


@pytest.mark.long
def test_a_copy_does_not_hide_communication(tmp_path: Path) -> None:
    given = Given()
    given.kernel(REDUCE, 0, 10)
    given.copy("HtoD", 0, 10, stream=8, size_bytes=4)
    assert pick(section(given.open(tmp_path), "communication/summary"), "exposed_ns") == [(10_000,)]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*, int)", "all_reduce"),
        ("void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half>>(int)", "all_reduce"),
        ("all-gather-start.1", "all_gather"),
        ("reduce-scatter.5", "reduce_scatter"),
        ("all-to-all.2", "all_to_all"),
        ("ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "reduce"),
    ],
)
def test_the_kind_of_a_collective_is_read_from_the_name_of_its_kernel(name: str, kind: str, tmp_path: Path) -> None:
    given = Given()
    given.kernel(name, 0, 10)
    assert given.open(tmp_path).execute("SELECT what FROM exchanges").fetchall() == [(kind,)]


@pytest.mark.parametrize(("until", "waits"), [(200, True), (260, False)])
def test_a_gradient_that_waits_for_an_exchange_computes_nothing(until: float, waits: bool, tmp_path: Path) -> None:
    """FSDP gathers parameters before a product's gradient; what ends later was only begun there."""
    given = Given()
    given.span("step", "0", 0, 300)
    given.op("autograd::engine::evaluate_function: AddmmBackward0", 0, 250)
    given.op("c10d::_allgather_base_", 10, 20)
    given.op("AddmmBackward0", 205, 250)
    given.op("aten::mm", 205, 250)
    given.collective("gloo:all_gather", 15, until, kind="all_gather", size_bytes=4, group_size=2)
    connection = given.open(tmp_path)
    spent = [("communication", 195_000), ("gemm", 55_000)] if waits else [("communication", 10_000), ("gemm", 240_000)]
    sums = "SELECT category, sum(end_ns - start_ns) FROM {} GROUP BY category ORDER BY category"
    assert connection.execute(sums.format("activities")).fetchall() == spent
    found = section(connection, "communication/summary")
    assert pick(found, "hidden_ns", "exposed_ns") == [(0, 185_000) if waits else (230_000, 15_000)]
    critical.prepare(connection, {})
    assert connection.execute(sums.format("critical_task WHERE kind = 'operator'")).fetchall() == spent


def test_compiled_code_that_begins_an_exchange_computes(tmp_path: Path) -> None:
    """Kernels of Inductor follow the exchange in it, whichever collective ends meanwhile."""
    given = Given()
    given.span("step", "0", 0, 300)
    given.op("Torch-Compiled Region: 0/0", 0, 250)
    given.op("_c10d_functional::all_reduce", 10, 20)
    given.collective("gloo:all_reduce", 15, 200, kind="all_reduce", size_bytes=4, group_size=2)
    found = section(given.open(tmp_path), "communication/summary")
    assert pick(found, "hidden_ns", "exposed_ns") == [(180_000, 5_000)]


@pytest.mark.long
def test_another_rank_does_not_hide_communication(tmp_path: Path) -> None:
    first, second = Given(0), Given(1)
    first.kernel(REDUCE, 0, 10)
    second.kernel(SGEMM, 0, 10)
    write(tmp_path, first, second)
    found = section(connected(tmp_path), "communication/summary")
    assert pick(found, "rank", "exposed_ns") == [(0, 10_000)]


def test_kernels_without_recorded_arguments_are_calls_too(tmp_path: Path) -> None:
    given = Given()
    given.kernel(REDUCE, 0, 10, id=77)
    given.kernel(REDUCE, 20, 50, id=78)
    given.kernel(SGEMM, 60, 70)
    given.add("collectives", kernel_id=77, kind="allreduce", size_bytes=4_000, start_ns=0, dur_ns=10_000)
    query = "SELECT kernel_id, kind, size_bytes, dur_ns FROM collectives ORDER BY start_ns"
    assert given.open(tmp_path).execute(query).fetchall() == [
        (77, "all_reduce", 4_000, 10_000),
        (78, "all_reduce", None, 30_000),
    ]


@pytest.mark.slow
def test_bus_bandwidth_of_a_ring(tmp_path: Path) -> None:
    given = Given()
    given.kernel(REDUCE, 0, 10, id=77)
    given.add(
        "collectives", kernel_id=77, kind="allreduce", size_bytes=1_000_000, group_size=4, start_ns=0, dur_ns=10_000
    )
    (row,) = section(given.open(tmp_path), "communication/kinds")
    assert (row["kind"], row["group_size"]) == ("all_reduce", 4)
    assert row["algorithm_bytes_per_s"] == 1e11
    assert row["bus_bytes_per_s"] == 1.5e11


def test_a_rate_is_that_of_the_transfer_where_it_is_known_who_came_last(tmp_path: Path) -> None:
    """Three ranks wait for rank 2 for 40 of 140 us: their rate of the same all-reduce was two sevenths lower."""
    write(tmp_path, *Job(buckets=1, late=lambda step, rank: 40.0 if rank == 2 else 0.0).build())
    kinds = section(connected(tmp_path), "communication/kinds")
    assert pick(kinds, "rank", "total_ns", "algorithm_bytes_per_s", "bus_bytes_per_s") == [
        (rank, 600_000 if rank == 2 else 840_000, 1e10, 1.5e10) for rank in range(4)
    ]


@pytest.mark.long
def test_bus_bandwidth_of_a_gathering_ring_counts_what_all_ranks_give(tmp_path: Path) -> None:
    given = Given()
    given.kernel(GATHER, 0, 10, id=77)
    facts = {"kind": "_allgather_base", "size_bytes": 1_000_000, "group_size": 4}
    given.add("collectives", kernel_id=77, start_ns=0, dur_ns=10_000, **facts)
    (row,) = section(given.open(tmp_path), "communication/kinds")
    # Each rank gives 1 MB and is sent that of the three others.
    assert (row["kind"], row["algorithm_bytes_per_s"], row["bus_bytes_per_s"]) == ("all_gather", 1e11, 3e11)


def test_gloo_averages_all_gradients_once_a_step(root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(root / DDP)
    per_step = """SELECT c.rank, s.step, count(*), sum(c.size_bytes), any_value(c.group_size), any_value(c.kind),
            any_value(c.dtype)
        FROM collectives c JOIN steps s ON s.rank = c.rank AND c.start_ns BETWEEN s.start_ns AND s.end_ns
        GROUP BY ALL ORDER BY ALL"""
    # DistributedDataParallel sends LeNet's 431,080 gradients in two buckets.
    expected = [(rank, step, 2, 431_080 * 4, 2, "all_reduce", "float") for rank in (0, 1) for step in (5, 6)]
    assert connection.execute(per_step).fetchall() == expected


def test_what_gloo_does_beside_the_main_thread_is_hidden_or_exposed(root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(root / DDP)
    # Worked out once more, moment by moment instead of by sums of intervals: 20 microseconds a moment.
    moments = """WITH moment AS (
            SELECT rank, unnest(range(min(start_ns), max(end_ns), 20000)) AS at FROM collectives GROUP BY rank
        )
        SELECT m.rank, count(*) * 20000,
            count(*) FILTER (EXISTS (SELECT 1 FROM activities a WHERE a.rank = m.rank AND a.category <> 'communication'
                AND a.start_ns <= m.at AND m.at < a.end_ns)) * 20000
        FROM moment m
        WHERE EXISTS (SELECT 1 FROM collectives c WHERE c.rank = m.rank AND c.start_ns <= m.at AND m.at < c.end_ns)
        GROUP BY ALL ORDER BY ALL"""
    sampled = connection.execute(moments).fetchall()
    found = section(connection, "communication/summary")
    for (rank, busy_ns, hidden_ns), row in zip(sampled, found, strict=True):
        assert (row["rank"], row["calls"], row["size_bytes"]) == (rank, 4, 2 * 431_080 * 4)
        assert row["hidden_ns"] + row["exposed_ns"] == row["busy_ns"]
        assert abs(row["busy_ns"] - busy_ns) < 0.01 * busy_ns
        assert abs(row["hidden_ns"] - hidden_ns) < 0.01 * busy_ns
        assert 0 < row["hidden_ns"] < row["busy_ns"]


def test_what_overlap_costs_is_what_the_same_kernel_takes_longer(tmp_path: Path) -> None:
    given = Given()
    for call in range(6):
        at = 1000.0 * call
        given.kernel(SGEMM, at, at + 100 + call % 2, grid_x=64)  # 100.5 on average
        given.kernel(SGEMM, at + 200, at + 380, grid_x=64)
        given.kernel(SGEMM, at + 400, at + 450, grid_x=32)  # another size, always beside it
        given.kernel(REDUCE, at + 190, at + 500, stream=9)
    (found,) = section(given.open(tmp_path), "communication/overlap")
    assert (found["kernels"], found["alone"], found["beside"]) == (1, 6, 6)
    assert found["slower"] == pytest.approx(180 / 100.5)
    assert found["low"] < found["slower"] < found["high"] < 1.02 * found["low"]
    assert found["covered_pct"] == pytest.approx(100 * 180 / 230)
    assert (found["extra_ns"], found["exposed_ns"]) == (6 * 79_500, 6 * 80_000)
    assert (found["price_ns"], found["verdict"]) == (6 * 159_500, "slower")


@pytest.mark.slow
def test_overlap_that_costs_nothing_sure_has_no_price(tmp_path: Path) -> None:
    given = Given()
    for call in range(6):
        at = 1000.0 * call
        given.kernel(SGEMM, at, at + 100 + 20 * (call % 2))
        given.kernel(SGEMM, at + 200, at + (292, 312, 352)[call % 3])
        given.kernel(REDUCE, at + 190, at + 500, stream=9)
    (found,) = section(given.open(tmp_path), "communication/overlap")
    assert found["slower"] == pytest.approx((92 + 112 + 152) / 3 / 110)
    assert 0.85 < found["low"] < 0.9 and 1.3 < found["high"] < 1.35
    assert (found["verdict"], found["price_ns"]) == ("no difference seen", None)


@pytest.mark.slow
def test_kernels_of_other_shapes_are_not_compared(tmp_path: Path) -> None:
    given = Given()
    for call in range(6):
        at = 1000.0 * call
        given.kernel(SGEMM, at, at + 100, grid_x=64)
        given.kernel(SGEMM, at + 200, at + 380, grid_x=128)
        given.kernel(REDUCE, at + 190, at + 500, stream=9)
    assert section(given.open(tmp_path), "communication/overlap") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("description", "dimension"),
    first(
        4,
        [
            ("TENSOR_MODEL_PARALLEL_GROUP", "tensor"),
            ("mesh_dp_shard", "sharded data"),
            ("EXPERT_DATA_PARALLEL_GROUP", "expert and data"),
            ("default_pg", "(not known)"),
            ("mesh_pp", "pipeline"),
            ("undefined", "(not known)"),
            ("stamp", "(not known)"),
        ],
    ),
)
def test_the_dimension_of_a_group_by_the_name_that_the_program_gave_it(
    tmp_path: Path, description: str, dimension: str
) -> None:
    given = Given()
    for step in range(2):
        at = 1000.0 * step
        given.span("step", f"step#{step}", at, at + 1000)
        given.kernel(SGEMM, at, at + 100)
        given.kernel(REDUCE, at + 80, at + 200, stream=9, id=5_000 + step)
        facts = {"kind": "allreduce", "size_bytes": 4_000, "group_size": 4, "group_name": "3", "sequence": step}
        given.add(
            "collectives",
            name=REDUCE,
            kernel_id=5_000 + step,
            start_ns=round(1000 * (at + 80)),
            dur_ns=120_000,
            group_description=description,
            **facts,
        )
    (found,) = section(given.open(tmp_path), "communication/dimensions")
    assert (found["dimension"], found["ranks"], found["kinds"]) == (dimension, 4, "all_reduce")
    assert (found["calls"], found["size_bytes"], found["busy_ns"], found["exposed_ns"]) == (1, 4_000, 120_000, 100_000)
    assert (found["hidden_pct"], found["step_pct"]) == (pytest.approx(100 / 6), 10)


@pytest.mark.slow
@pytest.mark.shared
def test_bytes_of_calls_whose_annotation_has_the_shapes(shared: Path) -> None:
    """Rank 0 has all-reduces of 394,241, 112 and 226,960 floats, and five all-to-all."""
    with open_capture(shared / "traces/kineto/v100-dlrm-8ranks") as connection:
        found = [row for row in section(connection, "communication/kinds") if row["rank"] == 0]
        assert pick(found, "kind", "calls", "size_bytes") == [
            ("all_to_all", 5, 24_576 * 2 + 192 + 1_536 + 13_568),
            ("all_reduce", 3, 4 * (394_241 + 112 + 226_960)),
        ]
        assert connection.execute("SELECT count(*) FROM collectives WHERE kernel_id IS NULL").fetchall() == [(0,)]
        found = section(connection, "communication/dimensions")
        assert pick(found, "dimension", "kinds") == [
            ("layers (experts, embedding tables)", "all_to_all"),
            ("data", "all_reduce"),
        ]
