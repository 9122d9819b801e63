"""The advice rules as a whole: order, ranks, frameworks, wrong names, a healthy capture, the public traces."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from advised import derive_again, training
from asked import ONE
from cases import first
from given import Given, write
from public_traces import SHORT

from traceview import sql, store
from traceview.analysis import advice, findings
from traceview.analysis.model import Finding
from traceview.errors import UsageError
from traceview.experiments import results
from traceview.store import views

TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"


def transposing(rank: int, layout_us: float) -> Given:
    given = training()
    given.rank = rank
    for start in (0, 1000, 2000):
        given.kernel(TO_NHWC, start + 100, start + 100 + layout_us, launched=start + 1)
        given.kernel("ampere_sgemm_128x64_nn", start + 700, start + 800, launched=start + 20)
        given.kernel("implicit_convolve_sgemm<float, float>", start + 800, start + 900, launched=start + 30)
    return given


def found(path: Path, *names: str, **params: str) -> dict[str, Finding]:
    """Return the findings of these rules, or of all."""
    rules = advice.load(list(names))
    with views.connect(path, ONE) as connection:
        return {f.rule: f for f in advice.run(connection, rules, params) if f.status == "found"}


@pytest.mark.slow
def test_of_several_ranks_the_one_that_loses_most_is_told(tmp_path: Path) -> None:
    write(tmp_path, transposing(0, 50), transposing(1, 200), transposing(2, 1))
    finding = found(tmp_path, "layout_between_operators")["layout_between_operators"]
    assert (finding.rank, finding.n_ranks, finding.saving_ns) == (1, 2, 200_000)


def test_what_can_save_too_little_is_not_found_and_says_so(tmp_path: Path) -> None:
    with transposing(0, 50).open(tmp_path) as connection:
        (finding,) = advice.run(connection, advice.load(["layout_between_operators"]), {}, at_least_pct=6)
    assert (finding.status, finding.reason) == ("not found", "there is some, but it costs 5.00 % of the step")


@pytest.mark.slow
def test_found_comes_first_by_saving_then_what_cannot_be_told(tmp_path: Path) -> None:
    given = transposing(0, 50)
    given.copy("HtoD", 1, 2, launched=0, src_kind="pinned", dst_kind="device", size_bytes=9000)
    with given.open(tmp_path) as connection:
        answers = [finding.status for finding in advice.run(connection, advice.load())]
    assert sorted(answers, key=("found", "cannot tell", "not found").index) == answers
    assert set(answers) == {"found", "cannot tell", "not found"}


@pytest.mark.slow
def test_what_a_capture_holds_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by the critical path, which has a connection of its own."""
    looked_up: list[str] = []
    run = sql.Query.run

    def noted(query: sql.Query, *given: Any) -> Any:
        looked_up.extend(re.findall(r"\(SELECT '(\w+)'", query.body) if query.name == "needs" else ())
        return run(query, *given)

    monkeypatch.setattr(sql.Query, "run", noted)
    with transposing(0, 50).open(tmp_path) as connection:
        advice.run(connection, advice.load(["layout_between_operators", "memory_near_limit"]))
        assert looked_up == ["recording", "activities", "memory_share"]
        with connection.cursor() as second:
            absent = advice.lacking(second, ["activities", "memory_share", "steps"])
    assert absent == advice.needs()["memory_share"]
    assert looked_up == ["recording", "activities", "memory_share"]


def test_no_rule_answers_of_the_results_of_an_experiment(tmp_path: Path) -> None:
    """They note facts of the recording that they began with, which some rules read."""
    model = {"name": "Sequential", "denormal": {"elements": 136_724, "denormal": 0, "squares": 0}}
    rank = {"rank": 0, "threads": 1, "cores": 2, "compiled": None, "garbage": [], "untrained": [], "model": model}
    option = {"place": 1, "name": "malloc_keeps", "kind": "option", "verdict": "faster", "speedup": 1.5, "pairs": 6}
    runs = results.write(tmp_path / "runs", {"tune_options": [option]}, {"kind": "tune", "ranks": [rank]})
    with store.open_capture(runs) as connection:
        answers = findings.run(connection)
    assert {(each.status, each.reason) for each in answers.findings} == {
        ("cannot tell", "the input holds results of an experiment, not a recording of a run.")
    }
    assert findings.for_people(answers).sections[0].note == findings.NO_ANSWER


@pytest.mark.slow
def test_a_healthy_capture_has_no_findings(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        given.copy(
            "HtoD", start + 5, start + 25, launched=start, src_kind="pinned", dst_kind="device", size_bytes=500_000
        )
        for number in range(9):
            at = start + 30 + 107 * number
            given.kernel(
                "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32", at, at + 106, launched=start + number
            )
    write(tmp_path, given)
    assert found(tmp_path) == {}


HEALTHY = (
    "onednn/onednn-3.7.3-tensorflow-alexnet-cpu.log.gz",
    "onnxruntime/onnxruntime-1.31.1-alexnet-cpu.json.gz",
    "xplane/keras-3.15.1-tensorflow-alexnet-cpu.xplane.pb.gz",
)


@pytest.mark.parametrize("sample", first(1, HEALTHY))
def test_no_rule_fires_on_a_healthy_capture_of_ours(sample: str, root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    answers = advice.run(captures.open(root / "samples" / sample), advice.load(), {}, 0.5)
    assert [answer.rule for answer in answers if answer.status == "found"] == []


def test_the_fix_is_that_of_the_framework(tmp_path: Path) -> None:
    given = transposing(0, 50)
    given.kernel("void tensorflow::functor::FillPhiloxRandomKernelLaunch<int>(int)", 2900, 2901, launched=2050)
    write(tmp_path, given)
    rule = advice.load(["layout_between_operators"])[0]
    assert found(tmp_path, rule.name)[rule.name].fix == rule.extra["fix"]["tensorflow"]
    assert advice.fix_of(rule, ("jax_cpu", "jax")) == rule.extra["fix"]["jax"]
    assert advice.fix_of(rule, ("caffe",)) == rule.extra["fix"]["any"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "framework"),
    [
        ("_ZN10tensorflow7functor28FillPhiloxRandomKernelLaunchINS_6random", "tensorflow"),
        ("_ZN2at6native18elementwise_kernelILi512ELi1EZNS0_15gpu_kernel_impl", "pytorch"),
        ("void mxnet::op::mxnet_op::mxnet_generic_kernel<int>(int)", "mxnet"),
        ("void somewhat::native::kernel<int>(int)", None),
    ],
)
def test_a_framework_is_known_by_its_kernels_also_as_compilers_write_them(
    tmp_path: Path, kernel: str, framework: str | None
) -> None:
    given = transposing(0, 50)
    given.kernel(kernel, 2900, 2901, launched=2050)
    write(tmp_path, given)
    rule = advice.load(["layout_between_operators"])[0]
    assert found(tmp_path, rule.name)[rule.name].fix == rule.extra["fix"][framework or "any"]


def test_a_rule_that_is_none_and_a_threshold_that_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean pageable_copies"):
        advice.load(["pageable_copy"])
    write(tmp_path, transposing(0, 50))
    with pytest.raises(UsageError, match="layout_device_pct = 'much' is not a number: "):
        found(tmp_path, "layout_between_operators", layout_device_pct="much")


KNOWN = {
    "kineto/a100-alexnet-forward.json.gz": {
        "allocations_at_start": 8480.496,
        "host_bound": 4369.270,
    },
    "kineto/a100-convnet-train-nccl.json.gz": {"host_bound": 163.122, "layout_in_convolutions": 4.482},
    "kineto/mi300-resnet18-train.json.gz": {
        "device_allocations": 741.883,
        "small_grids": 19.521,
        "layout_in_convolutions": 11.770,
    },
    "kineto/v100-resnet50-train-old.json.gz": {
        "data_loading": 31.423,
        "host_bound": 12.220,
        "pageable_copies": 2.246,
        "slow_algorithm": 2.221,
        "slow_convolutions": 3.892,
        # 1.405 ms of it are explicit_convolve_sgemm<float, ...>, of which tensor cores would still take 0.093.
        "tensor_cores_unused": 62.457,
        "unfused_optimizer": 1.709,
    },
    "kineto/v100-dlrm-train-nccl.json.gz": {
        "tensor_cores_unused": 80.037,
        "exposed_communication": 71.469,
        "host_bound": 138.826,
        "unfused_optimizer": 6.097,
    },
    "kineto/v100-dlrm-8ranks": {
        "exposed_communication": 11.056,
        "host_bound": 8.624,
        "data_loading": 1.298,
        "small_grids": 0.641,
        "tensor_cores_unused": 0.116,
        "straggler": 1.333,
        "unfused_optimizer": 1.105,
        "rank_skew": 0.0,
    },
    "kineto/cpu-only.json.gz": {},
    "nvprof/gtx980-tf-alexnet-new.txt.gz": {
        "autotune_in_the_window": 819.404,
        "layout_between_operators": 3.981,
        "first_layer_gradient": 3.672,
    },
    "nvprof/gtx980-tf-alexnet-old.txt.gz": {"layout_between_operators": 3.550, "autotune_in_the_window": 89.330},
}
"""Bounds in milliseconds per step. The A100 AlexNet has no steps: there they are those of the whole recording, and what
a search or the first allocations cost is once per run. Of communication_bound the time is that of
exposed_communication, of rank_skew that of straggler, and not said twice."""


def few(traces: Iterable[str]) -> list[Any]:
    """Mark traces as long, but those that `make test` converts anyway."""
    return [pytest.param(trace, marks=() if Path(trace).name in SHORT else pytest.mark.long) for trace in traces]


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("trace", few(KNOWN))
def test_public_traces(trace: str, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    answers = advice.run(captures.open(shared / "traces" / trace), advice.load(), {}, 0.5)
    said = {f.rule: round((f.saving_ns or 0) / 1e6, 3) for f in answers if f.status == "found"}
    assert said == {rule: pytest.approx(bound, abs=0.002) for rule, bound in KNOWN[trace].items()}
    assert all(f.saving_pct is None or 0 <= f.saving_pct <= 100 for f in answers)


SQL_OF = [trace for trace in KNOWN if "dlrm" not in trace]
"""The ranks of DLRM have eight rules of the same kind, and take a minute."""


@pytest.mark.shared
@pytest.mark.parametrize("trace", few(SQL_OF))
def test_the_printed_sql_of_what_was_found_gives_it_again(trace: str, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(shared / "traces" / trace)
    for said in advice.run(connection, advice.load(list(KNOWN[trace]))) if KNOWN[trace] else ():
        derive_again(connection, said)


FOUND_IN_SAMPLES = {
    "kineto/torch-2.13.0-alexnet-cpu.json.gz": {"unfused_optimizer"},
    "kineto/torch-2.13.0-lenet-ddp-cpu": {"plain_layout_on_cpu", "exposed_communication"},
    "onednn/onednn-3.12.0-alexnet-cpu.log.gz": {"plain_layout_on_cpu"},
    "onednn/onednn-3.12.0-lenet-cpu.log.gz": {"plain_layout_on_cpu"},
}
"""SGD makes eight passes over AlexNet's parameters where five would do; LeNet of two processes
exchanges more than it hides; plain oneDNN reorders between its layers."""


@pytest.mark.slow
@pytest.mark.parametrize("sample", first(2, FOUND_IN_SAMPLES))
def test_what_samples_show_and_its_printed_sql(sample: str, root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(root / "samples" / sample)
    found = [said for said in advice.run(connection, advice.load(), {}, 0.5) if said.status == "found"]
    assert {said.rule for said in found} == FOUND_IN_SAMPLES[sample]
    for said in found:
        derive_again(connection, said)
