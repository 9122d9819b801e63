"""Kernels that Inductor made, against the time of moving their arguments once."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from cases import first
from given import Given

from traceview.analysis import advice

RULE = "slow_compiled_kernels"
BYTES = 3 * 4 * 4096 * 1024
LEAST_US = 1e6 * BYTES / 1555e9


def steps(times: float, name: str = "triton_poi_fused_add_relu_3", step_us: float = 1000, rows: int = 4096) -> Given:
    given, tensor, least_us = training(length=step_us), (rows, 1024), LEAST_US * rows / 4096
    for step in range(3):
        start = step * step_us
        given.op(name, start + 10, start + 20, [tensor, tensor, tensor, ()], ["", "", "", rows * 1024])
        given.kernel(name, start + 30, start + 30 + times * least_us, launched=start + 11)
    return given


def test_beyond_the_bandwidth_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(4), tmp_path)
    assert (found.status, found.saving_ns) == ("found", pytest.approx(3000 * LEAST_US, rel=1e-3))
    assert found.place == "Mostly triton_poi_fused_add_relu_3"
    assert found.evidence == (
        f"triton_poi_fused_add_relu_3: 1.0 calls of {4 * LEAST_US / 1e3:.3f} ms, 50.33 MB, 389 of 1555 GB/s",
    )


@pytest.mark.parametrize(
    "given",
    first(
        5,
        [
            steps(1.9),
            steps(4, "triton_tem_fused_mm_3"),
            steps(2.1, step_us=5_000),
            steps(4, rows=512),
            steps(4, "triton_per_fused_sort_0"),
            steps(4, "triton_poi_fused_index_put_new_zeros_3"),
            steps(4, "triton_poi_fused_bernoulli_mul_3"),
            steps(4, "triton_poi_fused_add_lgamma_3"),
            steps(4, "triton_poi_fused_max_pool2d_with_indices_3"),
        ],
    ),
    ids=[
        "near the bandwidth",
        "a product",
        "little of the step",
        "a few microseconds",
        "comparisons, many times",
        "adds where others add",
        "random numbers",
        "special functions",
        "windows that overlap",
    ],
)
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("triton_poi_fused_native_dropout_0", "not found"),
        ("triton_poi_fused_add_native_dropout_bitwise_and_0", "not found"),
        ("triton_poi_fused_native_dropout_backward_0", "found"),
    ],
)
def test_a_dropout_draws_random_numbers_and_its_gradient_does_not(name: str, status: str, tmp_path: Path) -> None:
    assert answer(RULE, steps(4, name), tmp_path).status == status


def test_without_compiled_kernels_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, training(), tmp_path).status == "cannot tell"


@pytest.mark.long
@pytest.mark.shared
def test_public_traces_with_and_without(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    rules = advice.load([RULE])
    (found,) = advice.run(captures.open(shared / "traces/operators/triton-compile.json.gz"), rules)
    assert found.status == "found" and found.saving_ns == pytest.approx(527_382 - 1e9 * 1073741824 / 5.3e12, abs=2)
    (found,) = advice.run(captures.open(shared / "traces/kineto/b200-eager.json.gz"), rules)
    assert found.status == "not found"
