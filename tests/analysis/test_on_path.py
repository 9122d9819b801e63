"""Findings of advice by the critical path: built steps whose answer is known, and what holds on every trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import training
from given import Given, write
from jobs import Job

from traceview import sql
from traceview.analysis import advice, advice_path, findings
from traceview.analysis.model import Finding
from traceview.paths import content
from traceview.store import views

CONVOLUTION = "ampere_scudnn_128x64_relu_small_nn_v1"
TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)"


def said(folder: Path, *ranks: Given, rules: tuple[str, ...] = ()) -> dict[str, Finding]:
    """What was found, in its order."""
    write(folder, *ranks)
    loaded = advice.load(rules)
    with views.connect(folder, findings.asked(loaded)) as connection:
        return {f.rule: f for f in advice_path.run(connection, loaded) if f.status == "found"}


def bounds(found: dict[str, Finding]) -> dict[str, tuple[int | None, str, int | None]]:
    return {rule: (f.saving_ns, f.path, f.path_saving_ns) for rule, f in found.items()}


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
    assert bounds(found) == {"layout_between_operators": (100_000, advice_path.ON, 100_000)}


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
    assert (off.saving_ns, off.path, off.path_saving_ns, off.path_slack_ns) == (100_000, advice_path.OFF, 0, 300_000)
    assert advice_path.told(off) == "Not on the critical path: 0.300 ms of slack before it costs anything."
    assert found["host_bound"].path_saving_ns == found["host_bound"].saving_ns == 293_000


def test_a_saving_beside_the_path_is_listed_after_a_smaller_one_on_it(tmp_path: Path) -> None:
    """The conversions of 100 us off the path, and a bias of 60 us on it."""
    given = layout(is_late=True)
    for start in (0, 1000, 2000):
        given.kernel("void add_bias_kernel(float*)", start + 900, start + 960, launched=start + 600)
    pair = ("layout_between_operators", "unfused_bias_activation")
    found = said(tmp_path, given, rules=pair)
    assert list(found) == ["unfused_bias_activation", "layout_between_operators"]
    assert found["layout_between_operators"].path_saving_ns == 5_000, "its operator keeps the host for 5 us"


def test_loading_that_the_step_waits_for(tmp_path: Path) -> None:
    given = training(3)
    for start in (0, 1000, 2000):
        given.span("phase", "data", start, start + 400)
        given.op("aten::convolution", start + 401, start + 420)
        given.kernel(CONVOLUTION, start + 430, start + 930, launched=start + 410)
        given.call("cudaDeviceSynchronize", start + 425, start + 995)
    found = said(tmp_path, given, rules=("data_loading",))["data_loading"]
    assert found.path == advice_path.ON
    assert found.path_saving_ns == found.saving_ns == 400_000


def test_communication_of_ranks_is_bounded_by_its_transfer(tmp_path: Path) -> None:
    """One rank comes 300 us late: that the others wait for it no option of communication takes away."""
    job = Job(ranks=3, steps=4, transfer=150.0, late=lambda step, rank: 300.0 if rank == 2 else 0.0)
    found = said(tmp_path, *job.build(), rules=("exposed_communication",))["exposed_communication"]
    assert found.saving_ns == 600_000, "of a rank that waits"
    assert (found.path, found.path_saving_ns) == (advice_path.ON, 300_000), "two transfers"


def test_where_the_path_cannot_be_had_it_says_so_and_the_order_stays(tmp_path: Path) -> None:
    given = training(3)
    for start in (0, 1000, 2000):
        given.kernel(TO_NHWC, start + 20, start + 120)
        given.kernel(CONVOLUTION, start + 120, start + 720)
    found = said(tmp_path, given, rules=("layout_between_operators",))["layout_between_operators"]
    assert (found.path, found.path_saving_ns) == (advice_path.NOT_KNOWN, None)
    assert advice_path.bound(found) == (found.saving_ns, found.saving_pct)
    assert advice_path.reasons([found]) == [
        "Critical path not known for layout_between_operators: "
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
    assert (host.rule, host.path_saving_ns) == ("host_bound", host.saving_ns)
    assert (layout.saving_ns, layout.path_saving_ns) == (4_482_209, 1_530_567)


def test_sql_of_a_removal_has_an_order() -> None:
    for path in (content("queries") / "advice" / "removes").glob("*.sql"):
        assert sql.load(path).body.rstrip().splitlines()[-1].startswith("ORDER BY "), path
