"""The advice rules as a whole: order, ranks, frameworks, wrong names, a healthy capture, the public traces."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import training
from given import Given, write

from traceview import advice, capture
from traceview.errors import UsageError
from traceview.model import Finding

TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"


def transposing(rank: int, layout_us: float) -> Given:
    given = training()
    given.rank = rank
    for start in (0, 1000, 2000):
        given.kernel(TO_NHWC, start + 100, start + 100 + layout_us, launched=start + 1)
        given.kernel("ampere_sgemm_128x64_nn", start + 700, start + 800, launched=start + 20)
    return given


def found(path: Path, **params: str) -> dict[str, Finding]:
    with capture.connect(path) as connection:
        return {f.rule: f for f in advice.run(connection, advice.load(), params) if f.status == "found"}


def test_of_several_ranks_the_one_that_loses_most_is_told(tmp_path: Path) -> None:
    write(tmp_path, transposing(0, 50), transposing(1, 200), transposing(2, 1))
    finding = found(tmp_path)["layout_between_operators"]
    assert (finding.rank, finding.n_ranks, finding.saving_ns) == (1, 2, 200_000)


def test_what_can_save_too_little_is_not_found_and_says_so(tmp_path: Path) -> None:
    with transposing(0, 50).open(tmp_path) as connection:
        (finding,) = advice.run(connection, advice.load(["layout_between_operators"]), {}, at_least_pct=6)
    assert (finding.status, finding.reason) == ("not found", "there is some, but it costs 5.00 % of the step")


def test_found_comes_first_by_saving_then_what_cannot_be_told(tmp_path: Path) -> None:
    given = transposing(0, 50)
    given.copy("HtoD", 1, 2, launched=0, src_kind="pinned", dst_kind="device", size_bytes=9000)
    with given.open(tmp_path) as connection:
        answers = [finding.status for finding in advice.run(connection, advice.load())]
    assert sorted(answers, key=("found", "cannot tell", "not found").index) == answers
    assert set(answers) == {"found", "cannot tell", "not found"}


def test_a_healthy_capture_has_no_findings(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        given.copy(
            "HtoD", start + 5, start + 25, launched=start, src_kind="pinned", dst_kind="device", size_bytes=500_000
        )
        for number in range(9):
            at = start + 30 + 100 * number
            given.kernel(
                "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32", at, at + 99, launched=start + number
            )
    write(tmp_path, given)
    assert found(tmp_path) == {}


def test_the_fix_is_that_of_the_framework(tmp_path: Path) -> None:
    given = transposing(0, 50)
    given.kernel("void tensorflow::functor::FillPhiloxRandomKernelLaunch<int>(int)", 2900, 2901, launched=2050)
    write(tmp_path, given)
    rule = advice.load(["layout_between_operators"])[0]
    assert found(tmp_path)[rule.name].fix == rule.extra["fix"]["tensorflow"]
    assert advice.fix_of(rule, ("jax_cpu", "jax")) == rule.extra["fix"]["jax"]
    assert advice.fix_of(rule, ("caffe",)) == rule.extra["fix"]["any"]


def test_a_rule_that_is_none_and_a_threshold_that_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean pageable_copies"):
        advice.load(["pageable_copy"])
    write(tmp_path, transposing(0, 50))
    with pytest.raises(UsageError, match="layout_device_pct = 'much' is no DOUBLE"):
        found(tmp_path, layout_device_pct="much")


KNOWN = {
    "kineto/a100-alexnet-forward.json.gz": {"pageable_copies": 55.496},
    "kineto/a100-convnet-train-nccl.json.gz": {"layout_in_convolutions": 4.482},
    "kineto/mi300-resnet18-train.json.gz": {"layout_in_convolutions": 11.770},
    "kineto/v100-resnet50-train-old.json.gz": {"pageable_copies": 2.246, "data_loading": 31.423},
    "kineto/v100-dlrm-train-nccl.json.gz": {"exposed_communication": 71.469, "launch_bound": 71.980},
    "kineto/cpu-only.json.gz": {},
    "nvprof/gtx980-tf-alexnet-new.txt.gz": {"layout_between_operators": 6.130, "input_gradient_copied": 3.672},
    "nvprof/gtx980-tf-alexnet-old.txt.gz": {"layout_between_operators": 5.732},
}
"""Bounds in milliseconds per step. The A100 AlexNet has no steps: there it is the upload of the parameters."""
COVERED = (
    "layout_in_convolutions",
    "layout_between_operators",
    "pageable_copies",
    "tiny_copies",
    "repeated_copies",
    "first_layer_gradient",
    "input_gradient_copied",
    "autotune_in_the_window",
    "exposed_communication",
    "data_loading",
    "launch_bound",
    "unfused_bias_activation",
)


@pytest.mark.shared
@pytest.mark.parametrize("trace", KNOWN)
def test_public_traces(trace: str, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(shared / "traces" / trace)
    answers = advice.run(connection, advice.load(COVERED), {}, 0.5)
    said = {f.rule: round((f.saving_ns or 0) / 1e6, 3) for f in answers if f.status == "found"}
    assert said == {rule: pytest.approx(bound, abs=0.002) for rule, bound in KNOWN[trace].items()}
