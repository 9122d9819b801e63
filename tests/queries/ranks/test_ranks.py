"""Ranks compared: known stragglers, clocks and bandwidths on built jobs, and the public set of 8."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest
from asked import ask, connected
from cases import first
from given import Given, pick, section, write
from jobs import REDUCE, SGEMM, Job

from traceview import sql
from traceview.paths import content

pytestmark = pytest.mark.slow

DDP = "samples/kineto/torch-2.13.0-lenet-ddp-cpu"
WAITS = """SELECT rank, what, step, wait_ns, transfer_ns, is_last, lead_ns, skew_ns, matched_by FROM rank_waits
    WHERE {} ORDER BY step, match_id, rank"""


def capture(folder: Path, job: Job) -> duckdb.DuckDBPyConnection:
    write(folder, *job.build())
    return connected(folder)


def late_two(step: int, rank: int) -> float:
    return 40.0 if rank == 2 and step != 3 else 0.0


def test_waiting_for_the_last_rank_apart_from_transfer(tmp_path: Path) -> None:
    with capture(tmp_path, Job(late=late_two)) as connection:
        rows = connection.execute(WAITS.format("is_counted AND step = 2")).fetchall()
        assert [row[:6] for row in rows[:4]] == [
            (0, "all_reduce", 2, 40_000, 100_000, False),
            (1, "all_reduce", 2, 40_000, 100_000, False),
            (2, "all_reduce", 2, 0, 100_000, True),
            (3, "all_reduce", 2, 40_000, 100_000, False),
        ]
        assert [row[3:6] for row in rows[4:]] == [(0, 100_000, False)] * 4, "the second bucket finds all ranks there"
        assert rows[0][6:9] == (40_000, 40_000, "group and sequence")
        found = section(connection, "ranks/collectives")
        assert pick(found, "kind", "ranks", "n", "size_bytes", "transfer_ns") == [
            ("all_reduce", 4, 2, 1_000_000, 100_000)
        ]
        # 1 MB in 100 us; of a ring of 4 each link moves 1.5 times that.
        assert pick(found, "algorithm_bytes_per_s", "bus_bytes_per_s") == [(1e10, 1.5e10)]
        buckets = section(connection, "ranks/buckets")
        assert pick(buckets, "place", "skew_ns") == [(1, pytest.approx(40_000 * 5 / 6)), (2, 0)]


@pytest.mark.parametrize(
    ("why", "part"), first(1, [("kernel", "gemm"), ("data", "data loading"), ("host", "host")]), ids=lambda value: value
)
def test_the_straggler_how_often_by_how_much_and_what_it_did_instead(tmp_path: Path, why: str, part: str) -> None:
    with capture(tmp_path, Job(late=late_two, why=why)) as connection:
        (first, *others) = section(connection, "ranks/stragglers")
        assert (first["rank"], first["calls"], first["last"], first["lead_ns"]) == ("rank 2", 12, 5, 40_000)
        assert first["caused_ns"] == pytest.approx(40_000 * 5 / 6), "per step, of six"
        assert first["instead"].startswith(f"{part} {0.04 * 5 / 6:.3f} ms")
        assert [row["last"] for row in others] == [0, 0, 0]
        said = " ".join(row["text"] for row in section(connection, "ranks/verdict"))
        assert "48 of 48 communication calls of 4 ranks are matched, by group and sequence." in said
        assert "Rank 2 comes last: the other 3 ranks wait 0.040 ms per step longer than it." in said
        assert f"What takes it longer than the others: {part} (0.033 ms per step)" in said


def test_clocks_that_differ_and_drift_are_brought_together_and_the_error_is_said(tmp_path: Path) -> None:
    """Rank r is 3 r ms ahead and gains 20 r us per second; ranks leave a collective up to 2 us apart."""

    def clock(at: float, rank: int) -> float:
        return at * (1 + 20e-6 * rank) + 3000.0 * rank

    def jitter(number: int, rank: int) -> float:
        return float((number * 7 + rank * 3) % 3)

    job = Job(steps=40, late=late_two, clock=clock, jitter=jitter)
    with capture(tmp_path, job) as connection:
        moved = section(connection, "ranks/clocks")
        for row in moved[1:]:
            assert row["clock"] == "aligned by the ends of collectives"
            assert row["moved_ns"] == pytest.approx(3_000_000 * row["rank"], abs=4_000)
            assert 0 < row["error_ns"] <= 2_000
        rows = connection.execute(WAITS.format("is_last")).fetchall()
        told = [row for row in rows if row[6] > 10_000]
        assert {row[0] for row in told} == {2} and len(told) == 39
        assert all(row[6] == pytest.approx(40_000, abs=3_000) for row in told)


@pytest.mark.long
def test_a_clock_is_not_moved_by_less_than_its_error(tmp_path: Path) -> None:
    job = Job(steps=10, jitter=lambda number, rank: float((number * 5 + rank * 2) % 4))
    with capture(tmp_path, job) as connection:
        assert {row["clock"] for row in section(connection, "ranks/clocks")} == {"as recorded"}


@pytest.mark.long
def test_ranks_of_one_host_share_a_clock_but_not_where_one_leaves_before_another_comes(tmp_path: Path) -> None:
    with capture(tmp_path / "one", Job(host=lambda rank: "node1", late=late_two)) as connection:
        assert {row["clock"] for row in section(connection, "ranks/clocks")} == {"one host"}
    ahead = Job(host=lambda rank: "localhost", clock=lambda at, rank: at + 5000.0 * rank)
    with capture(tmp_path / "two", ahead) as connection:
        assert {row["clock"] for row in section(connection, "ranks/clocks")} >= {"aligned by the ends of collectives"}
        assert all(row["wait_ns"] == 0 for row in section(connection, "ranks/stragglers"))


@pytest.mark.long
def test_without_numbers_matching_is_by_kind_and_order_where_all_ranks_have_as_many(tmp_path: Path) -> None:
    job = Job(numbered=False, late=late_two)
    with capture(tmp_path / "even", job) as connection:
        (first, *_) = section(connection, "ranks/stragglers")
        assert (first["rank"], first["last"]) == ("rank 2", 5)
        assert connection.execute("SELECT DISTINCT matched_by FROM matched_calls").fetchall() == [("kind and order",)]
    made = job.build()
    lost = made[1].rows["collectives"].pop(4)  # Of step 3.
    made[1].rows["kernels"] = [row for row in made[1].rows["kernels"] if row["id"] != lost["kernel_id"]]
    write(tmp_path / "uneven", *made)
    with connected(tmp_path / "uneven") as connection:
        (row,) = section(connection, "ranks/unmatched")
        # 2 calls of each of the other 3 ranks and the one that is left.
        assert (row["reason"], row["calls"], row["ranks"]) == ("the ranks do not have as many", 7, 4)


def test_with_numbers_a_call_that_a_rank_lost_spoils_nothing_else(tmp_path: Path) -> None:
    """Nobody is called last in that one, and the numbers per step are those of the other steps."""
    made = Job(late=late_two).build()
    lost = made[1].rows["collectives"].pop(4)
    made[1].rows["kernels"] = [row for row in made[1].rows["kernels"] if row["id"] != lost["kernel_id"]]
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        (first, *_) = section(connection, "ranks/stragglers")
        assert (first["rank"], first["calls"], first["last"], first["lead_ns"]) == ("rank 2", 10, 4, 40_000)
        assert first["caused_ns"] == pytest.approx(40_000 * 4 / 5)
        counts = "SELECT n_found, count(*) FROM matched_calls GROUP BY ALL ORDER BY ALL"
        assert connection.execute(counts).fetchall() == [(3, 3), (4, 44)]
        known = "SELECT is_complete, count(*), count(wait_ns), count(transfer_ns) FROM rank_waits GROUP BY 1 ORDER BY 1"
        assert connection.execute(known).fetchall() == [(False, 3, 0, 0), (True, 44, 44, 44)]
        said = texts(connection)
        assert "1 of 12 matched collectives are not on every rank of their group" in said
        assert "never entered" not in said and "Ranks missing" not in said


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("still_there", [False, True], ids=["ends early", "loses calls"])
def test_waits_per_step_are_of_the_steps_that_all_ranks_recorded(
    tmp_path: Path, numbered: bool, still_there: bool
) -> None:
    """Rank 2 is 40 us late in each of twelve steps, of which rank 1 has recorded two, or the collectives of two."""
    job = Job(numbered=numbered, steps=12, late=lambda step, rank: 40.0 * (rank == 2))
    job.recorded_steps = lambda rank: 2 if rank == 1 and not still_there else None
    made = job.build()
    if still_there:
        lost = {row["kernel_id"] for row in made[1].rows["collectives"][4:]}
        del made[1].rows["collectives"][4:]
        made[1].rows["kernels"] = [row for row in made[1].rows["kernels"] if row["id"] not in lost]
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        rows = connection.execute("SELECT rank, calls, wait_ns, transfer_ns, caused_ns FROM rank_totals ORDER BY rank")
        wait = (4, 40_000, 200_000, 0)
        assert rows.fetchall() == [(0, *wait), (1, *wait), (2, 4, 0, 200_000, 40_000), (3, *wait)]
        which = "the other" if numbered else "matched"
        share = 100 * 3 * 40 / (3 * 240 + 200)
        assert f"Of the time in {which} collectives {share:.1f} % is waiting for the last rank (0.030 ms per step" in (
            texts(connection)
        )


def test_a_kind_that_is_never_matched_is_in_no_number_per_step(tmp_path: Path) -> None:
    """Rank 0 gathers alone: what is known of the all-reduces stays known."""
    made = Job(numbered=False, late=lambda step, rank: 40.0 * (rank == 2)).build()
    for step in range(6):
        at = 1_000_000 * step + 800_000
        made[0].add("collectives", name="all_gather", kind="allgather", kernel_id=None, start_ns=at, dur_ns=9)
        made[0].kernel("ncclDevKernel_AllGather_RING_LL", at / 1000, at / 1000 + 10, at / 1000 - 5, stream=9)
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        rows = connection.execute("SELECT rank, wait_ns FROM rank_totals ORDER BY rank").fetchall()
        assert rows == [(0, 40_000), (1, 40_000), (2, 0), (3, 40_000)]


SLOW = "SELECT basis, ranks, kind, label, round(excess_ns), n_apart, n_steps, is_clear FROM slow_ranks ORDER BY basis"


def test_a_slow_host_is_named_before_any_of_its_ranks(tmp_path: Path) -> None:
    job = Job(ranks=8, host=lambda rank: f"node{rank // 4}", slow=lambda step, rank: 1.4 if rank >= 4 else 1.0)
    with capture(tmp_path, job) as connection:
        slow = [4, 5, 6, 7]
        assert connection.execute(SLOW).fetchall() == [
            ("arrival", slow, "host", "node1", 120_000, 6, 6, True),
            ("compute", slow, "host", "node1", 120_000, 6, 6, True),
        ]
        said = texts(connection)
        assert "Ranks 4 to 7 (host node1) come last: the other 4 ranks wait 0.120 ms per step longer than" in said
        assert "Ranks 4 to 7 (host node1) compute 1.30 times as long per step as the other 4 ranks" in said


def test_ranks_of_one_place_on_every_host_are_named_by_their_device(tmp_path: Path) -> None:
    job = Job(ranks=8, host=lambda rank: f"node{rank // 4}", slow=lambda step, rank: 1.4 if rank % 4 == 2 else 1.0)
    for given in (made := job.build()):
        for row in given.rows["kernels"]:
            row["device"] = given.rank % 4
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        found = {(row[0], tuple(row[1]), row[2], row[3]) for row in connection.execute(SLOW).fetchall()}
        assert found == {(basis, (2, 6), "device", "gpu 2") for basis in ("arrival", "compute")}


@pytest.mark.parametrize(
    ("job", "is_known"),
    [
        (Job(ranks=2, steps=4, late=lambda step, rank: 80.0 if rank == 1 and step != 2 else 0.0), True),
        (Job(ranks=4, steps=6, late=lambda step, rank: 4.0 if rank == 1 else 0.0), False),
        (Job(ranks=4, steps=6, late=lambda step, rank: 80.0 if rank == step % 4 else 0.0), False),
    ],
    ids=["two ranks, three steps of four", "four microseconds", "in turns"],
)
def test_a_rank_that_is_last_by_chance_or_by_little_is_not_named(tmp_path: Path, job: Job, is_known: bool) -> None:
    with capture(tmp_path, job) as connection:
        assert [row[-1] for row in connection.execute(SLOW).fetchall()] == [False] * (2 * is_known)
        said = texts(connection)
        assert "comes last" not in said and "compute" not in said
        assert ("no more clearly than chance allows: rank 1" in said) == is_known


def test_only_the_latest_rank_comes_last(tmp_path: Path) -> None:
    """Both of two late ranks were said to come last, the one that never does first."""
    late = {2: 50.0, 3: 120.0}
    with capture(tmp_path / "two", Job(late=lambda step, rank: late.get(rank, 0.0))) as connection:
        said = [row["text"] for row in section(connection, "ranks/verdict") if "per step l" in row["text"]]
    assert said[0].startswith("Rank 3 comes last: the other 3 ranks wait 0.120 ms per step longer than it. What takes")
    assert said[1].startswith("Rank 2 waits 0.050 ms per step less than 2 others. What takes")
    stages = Job(ranks=3, late=lambda step, rank: 60.0 * rank)
    with capture(tmp_path / "stages", stages) as connection:
        assert "Rank 1 waits 0.060 ms per step less than 1 other" in texts(connection)


def test_a_rank_that_is_late_in_few_steps_only_is_told(tmp_path: Path) -> None:
    """Rank 0 saves for 400 us in two of eight steps: no rank was said to make the others wait."""
    job = Job(steps=8, buckets=1, late=lambda step, rank: 400.0 if rank == 0 and step % 4 == 2 else 0.0, why="host")
    with capture(tmp_path / "one", job) as connection:
        said = texts(connection)
    assert "In the median step no rank waits less than the others by more than 2 % of the step and the error of" in said
    assert "in the mean step the others wait 0.100 ms for rank 0." in said
    turns = Job(steps=8, buckets=1, late=lambda step, rank: 120.0 if rank == step % 4 else 0.0)
    with capture(tmp_path / "turns", turns) as connection:
        assert "0.030 ms for rank 0, 0.030 ms for rank 1, 0.030 ms for rank 2 and 1 more." in texts(connection)
    little = Job(steps=8, buckets=1, late=lambda step, rank: 60.0 if rank == 0 and step % 4 == 2 else 0.0)
    with capture(tmp_path / "little", little) as connection:
        said = texts(connection)
    assert "No rank makes the others wait by more than 2 % of the step and the error of the clocks." in said


@pytest.mark.parametrize("n_common", [4, 0])
def test_ranks_that_recorded_other_steps_are_compared_in_the_common_ones(tmp_path: Path, n_common: int) -> None:
    """Rank 3 computes longest in all four steps that others have too; those that it alone has counted against it."""
    made = Job(steps=12, slow=lambda step, rank: 1.4 if rank == 3 else 1.0).build()
    for given in made:
        steps = [row["start_ns"] for row in given.rows["ranges"] if row["kind"] == "step"]
        from_ns, until_ns = (steps[0], steps[4 + n_common]) if given.rank == 3 else (steps[4], steps[11] * 2)
        for table, rows in given.rows.items():
            given.rows[table] = [row for row in rows if from_ns <= row["start_ns"] < until_ns]
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        steps = connection.execute("SELECT basis, n_steps, n_apart, is_clear FROM slow_ranks ORDER BY basis").fetchall()
        assert steps == [("arrival", 4, 4, True), ("compute", 4, 4, True)] * (n_common > 0)
        is_said = "Rank 3 computes 1.30 times as long per step as the other 3 ranks" in texts(connection)
        assert is_said == (n_common > 0)


def test_where_the_steps_are_too_few_for_any_difference_that_is_said(tmp_path: Path) -> None:
    """Rank 1 is late in each of four steps; rank 0 computes longer in three of them."""
    job = Job(ranks=2, steps=4, late=lambda step, rank: 200.0 if rank == 1 else 0.0, why="data")
    job.slow = lambda step, rank: 1.2 if rank == 0 and step != 2 else 1.0
    with capture(tmp_path, job) as connection:
        said = texts(connection)
    few = "the steps are too few to tell that from chance (collect --steps records more)"
    assert f"but {few}: rank 1 (later than 1 other in 4 of 4 steps; 6 such would tell)." in said
    assert "than chance allows: rank 0 (computing longer than 1 other in 3 of 4 steps)." in said


def test_without_steps_nothing_is_said_of_steps(tmp_path: Path) -> None:
    ranks = Job(ranks=2, steps=1, late=lambda step, rank: 100.0 * rank).build()
    for given in ranks:
        given.rows["ranges"] = [row for row in given.rows["ranges"] if row["kind"] != "step"]
    write(tmp_path, *ranks)
    said = texts(connected(tmp_path))
    assert "Ranks differ by more than 2 % of the recording, but no more clearly than chance allows: rank 1 (later than "
    "1 other)" in said and "step" not in said.split("allows: ")[1]


def test_ranks_that_do_other_work_are_not_compared(tmp_path: Path) -> None:
    """A stage of a pipeline with three times the kernels is not slow."""
    stages = []
    for rank in range(4):
        given = Given(rank)
        for step in range(8):
            start = 1000.0 * step
            given.span("step", f"step#{step}", start, start + 1000)
            for number in range(2 if rank < 2 else 6):
                at = start + 100 * number
                given.kernel(SGEMM, at, at + 100, at)
        stages.append(given)
    write(tmp_path, *stages)
    with connected(tmp_path) as connection:
        assert connection.execute(SLOW).fetchall() == []


def test_a_cause_is_what_differs_from_the_peers(tmp_path: Path) -> None:
    """All ranks compute the same, and rank 2 loads data: computing is not a cause, however long it takes."""
    with capture(tmp_path, Job(late=lambda step, rank: 60.0 if rank == 2 else 0.0, why="data")) as connection:
        (parts,) = connection.execute("SELECT parts FROM slow_ranks WHERE basis = 'arrival'").fetchone() or ()
        assert [(part["part"], round(part["excess_ns"])) for part in parts] == [("data loading", 60_000)]
        (excess,) = connection.execute("SELECT excess FROM rank_totals WHERE rank = 0").fetchone() or ()
        assert excess is None


def texts(connection: duckdb.DuckDBPyConnection) -> str:
    return " ".join(row["text"] for row in section(connection, "ranks/verdict"))


def test_a_rank_that_never_enters_a_collective_is_named_and_nothing_is_said_of_its_transfer(tmp_path: Path) -> None:
    with capture(tmp_path, Job(absent=lambda number, rank: (number, rank) == (11, 2))) as connection:
        assert "Rank 2 never entered all_reduce 11 of group 0; 3 ranks wait in it for at least 600.0 s." in texts(
            connection
        )
        (row,) = section(connection, "ranks/missing")
        assert (row["rank"], row["entered"], row["lacks"]) == (2, "3 of 4", "all_reduce 11")
        assert row["state"] == "never entered: the others wait in it" and row["waited_ns"] == 600_000_000_000
        assert row["last_activity"] == SGEMM
        assert pick(section(connection, "ranks/collectives"), "transfer_ns", "wait_ns") == [(100_000, 0)]


def test_a_wait_that_ends_soon_is_not_a_hang(tmp_path: Path) -> None:
    job = Job(absent=lambda number, rank: (number, rank) == (11, 2), gives_up=2000.0)
    with capture(tmp_path, job) as connection:
        assert "never entered" not in texts(connection)
        (row,) = section(connection, "ranks/missing")
        assert row["state"] == "had not entered when its recording ended"


def test_a_rank_whose_trace_is_missing(tmp_path: Path) -> None:
    """It was late in all steps, so what the others seem to transfer is waiting for it: nothing is said of that."""
    made = Job(late=late_two).build()
    write(tmp_path, *(given for given in made if given.rank != 2), world_size=4)
    with connected(tmp_path) as connection:
        assert "Ranks missing: 1 of 4 (2): there is no readable trace of it." in texts(connection)
        (row,) = section(connection, "ranks/missing")
        assert (row["rank"], row["state"], row["entered"]) == (2, "no readable trace of it", "3 of 4")
        (row,) = section(connection, "ranks/collectives")
        assert (row["ranks"], row["transfer_ns"], row["wait_ns"], row["bus_bytes_per_s"]) == (3, None, None, None)
        assert section(connection, "ranks/stragglers") == []
        said = " ".join(text for (text,) in sql.load(content("queries") / "footer.sql").run(connection))
        assert "Ranks missing: 1 of 4" in said


def test_a_rank_without_a_trace_in_a_job_that_hangs(tmp_path: Path) -> None:
    made = Job(absent=lambda number, rank: (number, rank) == (11, 2)).build()
    write(tmp_path, *(given for given in made if given.rank != 2), world_size=4)
    with connected(tmp_path) as connection:
        assert "3 ranks wait in all_reduce 11 of group 0 for at least 600.0 s; rank 2 of the same group, without a" in (
            texts(connection)
        )


def test_a_rank_that_records_fewer_steps_is_named(tmp_path: Path) -> None:
    with capture(tmp_path, Job(recorded_steps=lambda rank: 4 if rank == 3 else None)) as connection:
        said = texts(connection)
        assert "Fewer steps than on the other ranks (4 instead of 6): rank 3." in said
        assert "never entered" not in said
        (row,) = section(connection, "ranks/missing")
        assert (row["rank"], row["state"], row["lacks"]) == (3, "its recording ends before", "all_reduce 8")


def test_groups_of_one_name_are_told_apart_by_their_ranks(tmp_path: Path) -> None:
    """A mesh of devices names all groups of one dimension alike."""
    made = Job(numbered=True).build()
    for given in made:
        for row in given.rows["collectives"]:
            row |= {"group_size": 2, "group_ranks": "[0, 1]" if given.rank < 2 else "[2, 3]"}
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        counts = "SELECT team, n_found, is_complete, count(*) FROM matched_calls GROUP BY ALL ORDER BY ALL"
        assert connection.execute(counts).fetchall() == [("0 [0, 1]", 2, True, 24), ("0 [2, 3]", 2, True, 24)]
        assert pick(section(connection, "ranks/missing"), "group_name", "entered") == [("2 groups", "all")]


PAIRS = [[[0, 1, 2, 3], [0, 1]]] * 2 + [[[0, 1, 2, 3], [2, 3]]] * 2
"""Groups that each of four ranks is in."""


@pytest.mark.parametrize("groups", [PAIRS, [[[0, 1]]] * 2 + [[[2, 3]]] * 2], ids=["one in another", "two apart"])
def test_calls_that_do_not_say_their_group_are_not_matched_where_there_are_several(
    tmp_path: Path, groups: list[list[list[int]]]
) -> None:
    """As gloo records pairs of ranks: the second pair runs apart, and a call of it lasts two seconds."""
    made = Job(numbered=False, clock=lambda at, rank: at + (500.0 if rank > 1 else 0.0)).build()
    for given in made:
        given.groups = groups[given.rank]
    made[2].rows["collectives"][-1]["dur_ns"] = 2_000_000_000
    made[2].rows["kernels"] = [
        row | ({"dur_ns": 2_000_000_000} if row.get("id") == made[2].rows["collectives"][-1]["kernel_id"] else {})
        for row in made[2].rows["kernels"]
    ]
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        counts = "SELECT unmatched, n_expected, is_complete, count(*) FROM matched_calls GROUP BY ALL"
        reason = "several groups, and the call does not say which"
        assert connection.execute(counts).fetchall() == [(reason, None, None, 48)]
        assert pick(section(connection, "ranks/unmatched"), "reason", "ranks", "calls") == [(reason, 4, 48)]
        assert section(connection, "ranks/clocks") == [] == section(connection, "ranks/missing")
        assert texts(connection) == "0 of 48 communication calls of 4 ranks are matched."
        (divided,) = section(connection, "ranks/parallelism")
        assert divided["verdict"] == "not enough data: of several groups the calls do not say which"


def test_a_rank_outside_of_a_group_lacks_none_of_its_calls(tmp_path: Path) -> None:
    """The others exchange twice a step with all and once more with each other; nothing says which call is which."""
    made = Job(ranks=3, buckets=3, numbered=False).build()
    for given in made:
        given.groups = [[0, 1, 2]] if given.rank == 1 else [[0, 1, 2], [0, 2]]
    extra = {row["kernel_id"] for row in made[1].rows["collectives"][2::3]}
    for table, key in (("collectives", "kernel_id"), ("kernels", "id")):
        made[1].rows[table] = [row for row in made[1].rows[table] if row.get(key) not in extra]
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        assert section(connection, "ranks/missing") == []
        assert {row["reason"] for row in section(connection, "ranks/unmatched")} == {
            "several groups, and the call does not say which"
        }


def test_groups_of_all_ranks_and_of_one_are_no_choice(tmp_path: Path) -> None:
    made = Job(numbered=False, late=late_two).build()
    for given in made:
        given.groups = [[0, 1, 2, 3], [0, 1, 2, 3], [given.rank]]
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        (first, *_) = section(connection, "ranks/stragglers")
        assert (first["rank"], first["last"]) == ("rank 2", 5)


@pytest.mark.long
def test_above_sixteen_ranks_least_median_most_and_the_worst(tmp_path: Path) -> None:
    with capture(tmp_path, Job(ranks=18, steps=2, late=lambda step, rank: 50.0 if rank == 17 else 0.0)) as connection:
        rows = section(connection, "ranks/stragglers")
        assert [row["rank"] for row in rows] == [
            "rank 17", *(f"rank {n}" for n in range(7)), "minimum", "median", "maximum",
        ]  # fmt: skip
        assert pick(rows[-3:], "last", "wait_ns") == [(0, 0), (0, 50_000), (2, 50_000)]
        assert len(section(connection, "ranks/clocks")) == 8
        (row,) = [row for row in section(connection, "ranks/imbalance") if row["category"] == "gemm"]
        assert (row["most_rank"], row["excess_ns"]) == (17, 50_000)


def test_computing_beside_a_collective_that_waits_is_no_less_in_the_imbalance(tmp_path: Path) -> None:
    """Rank 1 computes 400 us and the others 200, of which half was not seen beside a collective that began earlier."""
    made = []
    for rank in range(3):
        given, late = Given(rank), 100.0 * (rank == 1)
        given.span("step", "step#0", 0, 1000)
        given.kernel(SGEMM, 10, 110 + late, 1, id=3 * rank)
        facts = {"kind": "allreduce", "group_size": 3, "group_name": "0", "sequence": 1}
        given.kernel(REDUCE, 110 + late, 230, 2, stream=9, id=3 * rank + 1)
        given.add("collectives", name=REDUCE, kernel_id=3 * rank + 1, **facts)
        given.kernel(SGEMM, 111 + late, 211 + 2 * late, 3, id=3 * rank + 2)
        made.append(given)
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        rows = {row["category"]: row for row in section(connection, "ranks/imbalance")}
    assert pick([rows["gemm"]], "median_ns", "most_ns", "excess_ns") == [(200_000, 400_000, 200_000)]
    assert pick([rows["communication"]], "least_ns", "median_ns") == [(20_000, 120_000)]


def test_data_parallel_and_pipeline_parallel_are_told_apart(tmp_path: Path) -> None:
    with capture(tmp_path / "data", Job()) as connection:
        (row,) = section(connection, "ranks/parallelism")
        assert (row["verdict"], row["same_pct"]) == ("data parallel: the same work, gradients added up", 100)
        assert section(connection, "ranks/bubbles") == []
    stages = []
    for rank, name in enumerate(("ampere_sgemm_128x64_nn", "cudnn_winograd_fprop")):
        given = Given(rank)
        for step in range(3):
            start = 1000.0 * step
            given.span("step", f"step#{step}", start, start + 1000)
            given.kernel(name, start + 300 * rank, start + 300 * rank + 250, start + 1)
            given.kernel("ncclDevKernel_SendRecv(int)", start + 250, start + 300, start + 2, stream=9)
        stages.append(given)
    write(tmp_path / "pipeline", *stages)
    with connected(tmp_path / "pipeline") as connection:
        (row,) = section(connection, "ranks/parallelism")
        assert (row["verdict"], row["same_pct"]) == (
            "model or pipeline parallel: different work, messages between ranks", 0,
        )  # fmt: skip
        bubbles = section(connection, "ranks/bubbles")
        assert (
            pick(bubbles, "messages", "compute_ns", "message_ns", "bubble_ns", "bubble_pct")
            == [(1, 250_000, 50_000, 700_000, 75.0)] * 2
        )
        (row,) = section(connection, "ranks/unmatched")
        assert (row["kind"], row["calls"]) == ("send_recv", 6)


def test_an_all_reduce_of_activations_is_tensor_parallel(tmp_path: Path) -> None:
    """Gloo runs it on a thread of its own, after the operator that asks for it; FSDP gathers in the forward pass and
    adds up gradients in the backward pass."""
    asked = {
        "tensor": (("forward", "all_reduce"), ("backward", "all_reduce")),
        "sharded": (("forward", "all_gather"), ("backward", "all_reduce")),
        "counted": (("forward", "all_reduce"), ("backward", "all_reduce")),
    }
    for name, calls in asked.items():
        made = []
        for rank in range(2):
            given = Given(rank)
            given.about["model"] = {"parameters": 1000}
            for step in range(3):
                start = 1000.0 * step
                given.span("step", f"step#{step}", start, start + 1000)
                for place, (phase, kind) in enumerate(calls):
                    at = start + 100 + 400 * place
                    given.span("phase", phase, at, at + 300)
                    given.op("aten::mm", at + 10, at + 50)
                    given.op(f"c10d::{kind.replace('_', '')}_", at + 60, at + 70)
                    # A criterion may add up one number.
                    size = 4 if name == "counted" and phase == "forward" else 4000
                    given.collective(
                        f"gloo:{kind}", at + 80, at + 290, kind=kind, size_bytes=size, group_size=2, dtype="float"
                    )
            made.append(given)
        write(tmp_path / name, *made)
    verdicts = {
        "tensor": ("tensor parallel: all-reduce in the forward pass", 50.0, []),
        "sharded": ("data parallel: the same work, gradients added up", 50.0, [(4000.0, 1.0)] * 2),
        "counted": ("data parallel: the same work, gradients added up", 50.0, [(4000.0, 1.0)] * 2),
    }
    for name, (verdict, forward_pct, gradients) in verdicts.items():
        with connected(tmp_path / name) as connection:
            (row,) = section(connection, "ranks/parallelism")
            assert (row["verdict"], row["forward_pct"]) == (verdict, forward_pct)
            assert pick(section(connection, "ranks/gradients"), "gradient_bytes", "ratio") == gradients


@pytest.mark.parametrize(
    ("description", "verdict"),
    [("TENSOR_MODEL_PARALLEL_GROUP", "tensor parallel: by the name of the group"),
     ("mesh_dp", "data parallel: by the name of the group"),
     ("mesh_dp_cp", "context and data parallel: by the name of the group"),
     ("default_pg", "data parallel: the same work, gradients added up")],
)  # fmt: skip
def test_the_name_of_a_group_decides_how_its_work_is_divided(tmp_path: Path, description: str, verdict: str) -> None:
    made = Job(ranks=2, steps=2).build()
    for given in made:
        for row in given.rows["collectives"]:
            row["group_description"] = description
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        (row,) = section(connection, "ranks/parallelism")
        (told,) = section(connection, "communication/dimensions")
    assert row["verdict"] == verdict and row["verdict"].startswith(told["dimension"])


def test_gradient_bytes_beside_the_parameters(tmp_path: Path) -> None:
    made = Job(ranks=2, steps=2, buckets=2).build()
    for given in made:
        given.about["model"] = {"parameters": 500_000}
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        rows = section(connection, "ranks/gradients")
        assert (
            pick(rows, "gradient_bytes", "parameter_bytes", "ratio", "verdict")
            == [(2_000_000, 2_000_000, 1, "every gradient once per step")] * 2
        )


def test_a_process_that_exchanges_nothing_is_not_compared(tmp_path: Path) -> None:
    """Only ranks that exchange something wait for each other; one that trains alone beside them makes no imbalance."""
    job, lone = Job(ranks=2, steps=2, late=lambda step, rank: 50.0 * rank).build(), Given(2)
    lone.span("step", "step#0", 0, 50_000)
    lone.kernel(SGEMM, 100, 40_100, 50)
    write(tmp_path / "three", *job, lone)
    with connected(tmp_path / "three") as connection:
        (row,) = [row for row in section(connection, "ranks/imbalance") if row["category"] == "gemm"]
        assert pick([row], "most_rank", "excess_ns", "excess_pct") == [(1, 25_000, 2.5)]
    other = Given(0)
    other.span("step", "step#0", 0, 1000)
    other.kernel(SGEMM, 100, 200, 50)
    write(tmp_path / "two", other, lone)
    with connected(tmp_path / "two") as connection:
        assert section(connection, "ranks/imbalance") == []


def test_one_rank_or_nothing_to_match_is_said(tmp_path: Path) -> None:
    with capture(tmp_path, Job(ranks=1, steps=2)) as connection:
        assert section(connection, "ranks/stragglers") == [] == section(connection, "ranks/verdict")
        assert {row["reason"] for row in section(connection, "ranks/unmatched")} == {"recorded on one rank only"}


@pytest.mark.long
def test_gloo_on_one_host(root: Path) -> None:
    said = ask(root / DDP, "SELECT count(DISTINCT match_id), count(*), any_value(clock) FROM rank_waits")
    assert said == [(4, 8, "one host")]


@pytest.mark.long
@pytest.mark.shared
def test_the_public_set_of_eight_ranks(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """No numbers are recorded there: by kind and order. All ranks leave each collective within 12 us (of the file)."""
    connection = captures.open(shared / "traces/kineto/v100-dlrm-8ranks")
    kinds = "SELECT what, count(DISTINCT match_id), count(*) FROM rank_waits GROUP BY what ORDER BY what"
    assert connection.execute(kinds).fetchall() == [("all_reduce", 3, 24), ("all_to_all", 5, 40)]
    # The shortest call is that of the last rank: what TraceLens calls the latency of the collective.
    shortest = """SELECT max(abs(collective_ns - least_ns)) FROM (
        SELECT any_value(collective_ns) AS collective_ns, min(dur_ns) AS least_ns FROM rank_waits GROUP BY match_id)"""
    assert connection.execute(shortest).fetchall()[0][0] < 5_000
    last = "SELECT rank, count(*) FROM rank_waits WHERE is_last GROUP BY rank ORDER BY 2 DESC, 1"
    assert connection.execute(last).fetchall() == [(7, 5), (5, 2), (4, 1)]
    said = " ".join(row["text"] for row in section(connection, "ranks/verdict"))
    assert re.search(r"Rank 7 comes last: .* longer than the others: host \(1.263 ms", said)


def test_the_heat_map_of_a_page_splits_communication(tmp_path: Path) -> None:
    with capture(tmp_path / "few", Job(late=late_two)) as connection:
        cells = {(row["rank"], row["category"]): row["busy_ns"] for row in section(connection, "page/ranks")}
        assert cells["rank 0", "waiting for ranks"] == pytest.approx(40_000 * 5 / 6)
        assert (cells["rank 0", "communication"], cells["rank 2", "waiting for ranks"]) == (200_000, 0)
        assert sum(ns for (rank, _), ns in cells.items() if rank == "rank 0") == pytest.approx(1_000_000)


@pytest.mark.long
def test_the_heat_map_of_a_page_holds_a_few_of_many_ranks(tmp_path: Path) -> None:
    with capture(tmp_path / "many", Job(ranks=18, steps=2, late=late_two)) as connection:
        shown = {row["rank"] for row in section(connection, "page/ranks")}
        assert "median" in shown and "rank 2" in shown and len(shown) == 9
