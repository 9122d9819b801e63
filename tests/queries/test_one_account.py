"""One fact, one number: on every public trace a step is the same sum in every report, advice and comparison.

That the views of it add up is what `queries/checks` hold.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import connected
from given import Given, section, write
from public_traces import EACH

from traceview import sql
from traceview.analysis import advice, compare, findings, reports
from traceview.analysis.compare import Run

pytestmark = pytest.mark.slow

CHECKS = sql.load_folder(Path(__file__).resolve().parents[2] / "queries" / "checks")
RULE_OF = {
    "launch": "host_bound",
    "between steps": "idle_at_step_edges",
    "synchronisation": "host_waits",
    "data": "data_loading",
    "allocation": "device_allocations",
}


def rows(connection: duckdb.DuckDBPyConnection, text: str) -> list[dict[str, Any]]:
    found = connection.execute(text)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def sections(connection: duckdb.DuckDBPyConnection, report: str) -> dict[str, list[dict[str, Any]]]:
    return {
        section.name: [dict(zip([column.name for column in section.columns], row, strict=True)) for row in section.rows]
        for section in reports.run(connection, report, best=findings.best).sections
    }


def parts_of(run: Run) -> tuple[dict[str, float], dict[str, float]]:
    """Return busy time by category, and idle time by cause, as compare measured it."""
    active: defaultdict[str, float] = defaultdict(float)
    cells = run.facts["cell"]
    names = [name for name, _ in cells.columns]
    for row in cells.rows:
        active[row[names.index("category")]] += row[names.index("busy_ns")]
    return active, {str(part): time for part, time in run.facts["idle"].rows}


@pytest.mark.shared
@EACH
def test_active_and_idle_are_the_step_everywhere(trace: Path, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(trace)
    account = rows(connection, "FROM account ORDER BY rank, device")
    overview, idle = sections(connection, "overview"), sections(connection, "idle")
    for step in overview["step"]:
        assert step["active_ns"] + step["idle_ns"] == pytest.approx(step["step_ns"], abs=1)
    inside = [row for row in overview["categories"] if row["category"] != "(between steps)"]
    assert sum(row["step_pct"] for row in inside) == pytest.approx(100, abs=1e-4)
    n_ranks = len({device["rank"] for device in account})
    idle_ns = sum(device["idle_ns"] for device in account) / n_ranks
    assert sum(row["idle_ns"] for row in overview["idle"]) == pytest.approx(idle_ns, abs=1)
    assert sum(row["idle_ns"] for row in idle["devices"]) / n_ranks == pytest.approx(idle_ns, abs=1)
    assert sum(row["idle_ns"] for row in idle["causes"]) / n_ranks == pytest.approx(idle_ns, abs=1)

    run = compare.measure(connection, trace.name, None, not compare.has_steps(connection))
    active, idle_by_cause = parts_of(run)
    per_device = len(account) / n_ranks
    between = idle_by_cause.pop("(between steps)", 0.0)
    assert sum(active.values()) + sum(idle_by_cause.values()) == pytest.approx(run.value("step_ns"), abs=1)
    told = {row["category"]: row["busy_ns"] for row in overview["categories"]}
    assert {name: time * per_device for name, time in active.items()} == pytest.approx(
        {name: time for name, time in told.items() if "idle)" not in name and name != "(between steps)"}, abs=1
    )
    assert between * per_device == pytest.approx(told.get("(between steps)", 0.0), abs=1)
    assert {name.removeprefix("idle: "): time * per_device for name, time in idle_by_cause.items()} == pytest.approx(
        {row["cause"]: row["idle_ns"] for row in overview["idle"]}, abs=1
    )


@pytest.mark.shared
@EACH
def test_a_rule_about_idle_time_names_the_time_of_its_cause(trace: Path, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(trace)
    if not rows(connection, "SELECT 1 FROM raw.kernels LIMIT 1"):
        return
    found = {f.rule: f for f in advice.run(connection, advice.load(list(RULE_OF.values()))) if f.status == advice.FOUND}
    for cause, rule in RULE_OF.items():
        if rule not in found or found[rule].run_ns is not None:
            continue
        (idle,) = rows(
            connection,
            f"SELECT sum(idle_ns) / any_value(n_devices) AS ns FROM idle_causes JOIN scope USING (rank) "
            f"WHERE cause = '{cause}' AND rank = {found[rule].rank}",
        )
        assert found[rule].saving_ns == pytest.approx(idle["ns"], abs=1), rule


def late_device() -> Given:
    """Steps of 1000 us whose device runs behind the host: what the second step begins with the first one launched."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for number in range(2):
        given.span("step", f"step#{number + 1}", 1000 * number, 1000 * (number + 1))
        at = 1000 * number
        given.kernel("ampere_sgemm_128x64_nn", at + 400, at + 1300, launched=at + 100)
    given.span("step", "step#3", 2000, 3000)
    return given


def test_a_chosen_step_holds_what_ran_in_it_whoever_launched_it(tmp_path: Path) -> None:
    with late_device().open(tmp_path) as connection:
        for step, active, carried, idle in ((1, 600, 0, 400), (2, 600, 300, 100), (3, 0, 300, 700)):
            run = compare.measure(connection, "x", (step, step), False)
            parts, causes = parts_of(run)
            assert parts.get("gemm", 0) == pytest.approx(active * 1000), step
            assert parts.get("(launched outside these steps)", 0) == pytest.approx(carried * 1000), step
            assert sum(time for part, time in causes.items() if part != "(between steps)") == pytest.approx(idle * 1000)
        whole, _ = parts_of(compare.measure(connection, "x", None, False))
        assert whole == {"gemm": pytest.approx(600_000)}


def test_the_noise_of_idle_time_is_that_of_its_cause(tmp_path: Path) -> None:
    with late_device().open(tmp_path) as connection:
        blocks = compare.measure(connection, "x", None, False).facts["block"].rows
    by_block: defaultdict[int, float] = defaultdict(float)
    for block, part, _, time in blocks:
        if part != "(whole step)":
            by_block[block] += time
    assert by_block == {0: pytest.approx(1e6), 1: pytest.approx(1e6), 2: pytest.approx(1e6)}


def test_a_moment_is_of_one_step_where_marks_overlap(tmp_path: Path) -> None:
    """Marks of 130 us every 100 us: the later one has what both cover."""
    given = Given()
    for number in range(4):
        given.span("step", f"ProfilerStep#{number}", 100 * number, 100 * number + 130)
        given.kernel("k", 100 * number + 20, 100 * number + 90, launched=100 * number + 10)
    connection = given.open(tmp_path)
    for name, check in CHECKS.items():
        assert check.run(connection) == [], name
    assert rows(connection, "SELECT start_ns, dur_ns FROM steps ORDER BY start_ns") == [
        {"start_ns": 100_000 * number, "dur_ns": 130_000 if number == 3 else 100_000} for number in range(4)
    ]


def test_without_steps_everything_counts_once(tmp_path: Path) -> None:
    """Also what takes no time at the very end."""
    given = Given()
    given.kernel("k", 20, 90, launched=10)
    given.kernel("zero", 90, 90, launched=12)
    found = rows(given.open(tmp_path), "SELECT name, sum(n) AS n FROM totals WHERE is_counted GROUP BY name")
    assert sorted(found, key=str) == [{"name": "k", "n": 1}, {"name": "zero", "n": 1}]


def test_a_step_that_is_marked_twice_is_one_step(tmp_path: Path) -> None:
    given = Given()
    for start in (0, 0, 1000, 1000):
        given.span("step", f"step {start // 1000}", start, start + 900)
        given.kernel("k", start + 50, start + 700, launched=start + 10)
    connection = given.open(tmp_path)
    assert rows(connection, "SELECT n_steps, step_ns FROM scope") == [{"n_steps": 2, "step_ns": 900_000}]
    assert rows(connection, "SELECT count(*) AS n FROM counted") == [{"n": 4}]


def test_calls_of_a_step_are_those_of_each_rank_however_many_steps_it_has(tmp_path: Path) -> None:
    """Two steps on one rank and six on the other: in each a module, a compiled kernel and a collective."""
    ranks = []
    for rank, n_steps in enumerate((2, 6)):
        given = Given(rank)
        given.device("NVIDIA A100-SXM4-40GB")
        for start in range(0, 1000 * n_steps, 1000):
            given.span("step", f"step#{start // 1000}", start, start + 1000)
            given.span("module", "net (Net)", start + 10, start + 50)
            given.op("aten::mm", start + 20, start + 40, [[64, 64], [64, 64]], ["", ""])
            given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 200, launched=start + 25)
            given.kernel("triton_poi_fused_add_relu_0", start + 200, start + 300, launched=start + 60)
            given.kernel("ncclDevKernel_AllReduce_Sum_f32(int)", start + 300, start + 500, launched=start + 70)
        ranks.append(given)
    write(tmp_path, *ranks)
    with connected(tmp_path) as connection:
        (module, *_) = section(connection, "modules/modules")
        assert (module["module"], module["calls"], module["total_ns"]) == ("net", pytest.approx(1), 100_000)
        (kernel,) = section(connection, "compiled/kernels")
        assert (kernel["calls"], kernel["busy_ns"]) == (pytest.approx(1), 100_000)
        assert kernel["share_pct"] == pytest.approx(25)
        (group,) = section(connection, "ranks/parallelism")
        assert group["per_step"] == pytest.approx(1)
        (rest,) = section(connection, "roofline/unknown")
        assert (rest["busy_ns"], rest["share_pct"]) == (pytest.approx(300_000), 75)
