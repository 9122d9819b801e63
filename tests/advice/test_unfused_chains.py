"""Chains of elementwise operators: found by order and size, bounded by one pass through the memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

from traceview.analysis import advice, advice_path

pytestmark = pytest.mark.slow

RULE = "unfused_chains"
SIZE = (64, 1024, 1024)
"""268 MB in single precision: 345 us to read and write on an A100 of 1,555 GB/s."""
ONCE_NS = 1e9 * 2 * 4 * 64 * 1024 * 1024 / 1555e9
NORM = (
    ("aten::pow", [SIZE, ()]),
    ("aten::mean", [SIZE, (), (), ()]),
    ("aten::rsqrt", [(64, 1024, 1)]),
    ("aten::mul", [SIZE, SIZE]),
)


def steps(
    *ops: tuple[str, list[tuple[int, ...]]],
    us: float = 700,
    dtype: str = "float",
    device: str | None = "NVIDIA A100-SXM4-40GB",
) -> Given:
    """Each operator takes 700 us on a whole tensor, and 2 on a part; the step 10 ms."""
    given = training(length=10_000, device=device)
    for start in (0, 10_000, 20_000):
        at = start + 10.0
        for name, tensors in ops:
            given.op(name, at, at + 5, tensors, [""] * len(tensors), dtype)
            lasts = us if tensors[0] == SIZE else 2
            given.kernel(f"{name}_kernel", at + 6, at + 6 + lasts, launched=at + 1)
            at += lasts + 10
    return given


def test_a_norm_of_many_operators_is_found_and_one_pass_is_left(tmp_path: Path) -> None:
    found = answer(RULE, steps(*NORM), tmp_path)
    assert found.status == "found" and found.saving_ns == pytest.approx(3 * 700_000 + 2_000 - ONCE_NS, abs=1)
    assert found.evidence[0].startswith("(no module): pow, mean, rsqrt, mul: 1.0 times, 2.102 ms")
    assert found.confidence.startswith("medium")


def test_the_narrowest_type_decides_what_has_to_be_moved(tmp_path: Path) -> None:
    found = answer(RULE, steps(("aten::mul", [SIZE, SIZE]), ("aten::add", [SIZE, SIZE]), dtype="c10::Half"), tmp_path)
    assert found.saving_ns == pytest.approx(1_400_000 - ONCE_NS / 2, abs=1)


def test_what_ends_in_a_sum_writes_nothing_of_that_size(tmp_path: Path) -> None:
    found = answer(RULE, steps(("aten::pow", [SIZE, ()]), ("aten::sum", [SIZE, (), (), ()])), tmp_path)
    assert found.saving_ns == pytest.approx(1_400_000 - ONCE_NS / 2, abs=1)


def test_a_batch_norm_is_part_of_a_chain_in_inference_alone(tmp_path: Path) -> None:
    """In training it reads all of its tensor before it writes."""
    batch = [SIZE, (1024,), (1024,), (1024,), (1024,)]
    forward = (("aten::native_batch_norm", batch), ("aten::threshold", [SIZE, ()]))
    found = answer(RULE, steps(*forward), tmp_path / "inference")
    assert found.status == "found" and "native_batch_norm, threshold" in found.evidence[0]
    backward = ("aten::native_batch_norm_backward", [SIZE, SIZE])
    assert answer(RULE, steps(*forward, backward), tmp_path / "training").status == "not found"


def test_the_same_operators_again_are_a_second_chain(tmp_path: Path) -> None:
    """Rotary embeddings of queries and keys move two tensors, not one."""
    rotary = (("aten::mul", [SIZE, SIZE]), ("aten::neg", [SIZE]), ("aten::add", [SIZE, SIZE]))
    found = answer(RULE, steps(*rotary, *rotary), tmp_path)
    assert found.saving_ns == pytest.approx(6 * 700_000 - 2 * ONCE_NS, abs=2)
    assert "2 x (mul, neg, add)" in found.evidence[0]


OTHER = (32, 32)


@pytest.mark.parametrize(
    "ops",
    [
        (("aten::mul", [SIZE, SIZE]), ("aten::mm", [OTHER, OTHER]), ("aten::add", [SIZE, SIZE])),
        (("aten::mul", [SIZE, SIZE]), ("c10d::allreduce_", [SIZE]), ("aten::add", [SIZE, SIZE])),
        (("aten::mul", [SIZE, SIZE]), ("mylib::scan", [SIZE]), ("aten::add", [SIZE, SIZE])),
        (("aten::mul", [SIZE, SIZE]), ("aten::mul", [SIZE, SIZE])),
        (("aten::clone", [SIZE]), ("aten::add", [SIZE, SIZE])),
        (("aten::native_layer_norm", [SIZE]), ("aten::native_group_norm", [SIZE])),
        (("aten::mul", [SIZE, SIZE]), ("aten::add", [OTHER, OTHER])),
        (("aten::mean", [SIZE, ()]), ("aten::sub", [SIZE, ()])),
        (("aten::norm", [SIZE, ()]), ("aten::clamp", [()]), ("aten::mul", [SIZE, ()])),
    ],
    ids=[
        "a product between",
        "a collective between",
        "an operator without a cost between",
        "one kind",
        "a copy into another layout",
        "two norms",
        "another tensor",
        "the mean of all",
        "the norm of all, which clips",
    ],
)
def test_what_is_no_chain_is_not(tmp_path: Path, ops: tuple[tuple[str, list[tuple[int, ...]]], ...]) -> None:
    assert answer(RULE, steps(*ops), tmp_path).status == "not found"


@pytest.mark.parametrize("at", [400, 750])
def test_a_kernel_without_an_operator_between_two_ends_a_chain(at: int, tmp_path: Path) -> None:
    """Multiplications are called at 10 us, additions at 720: what is launched behind both is not between."""
    given = steps(("aten::mul", [SIZE, SIZE]), ("aten::add", [SIZE, SIZE]))
    for start in (0, 10_000, 20_000):
        given.kernel("fancy_scan_kernel", start + 5_000, start + 6_000, launched=start + at)
    assert answer(RULE, given, tmp_path).status == ("not found" if at == 400 else "found")


@pytest.mark.parametrize("between", ["mylib::scan", "aten::view"])
def test_on_a_cpu_a_library_between_two_ends_a_chain_and_a_view_does_not(between: str, tmp_path: Path) -> None:
    given = training(length=10_000, device=None)
    for start in (0, 10_000, 20_000):
        for at, name in ((10, "aten::mul"), (1000, between), (2000, "aten::add")):
            given.op(name, start + at, start + at + 900, [SIZE, SIZE], ["", ""])
    assert answer(RULE, given, tmp_path).status == ("found" if between == "aten::view" else "not found")


def test_without_sizes_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, training(), tmp_path).status == "cannot tell"


def test_without_a_bandwidth_it_is_a_guess(tmp_path: Path) -> None:
    """Then one pass is taken to be as long as the fastest operator that makes one."""
    found = answer(RULE, steps(*NORM, device="A device of tomorrow"), tmp_path)
    assert found.saving_ns == 1_402_000 and found.confidence.startswith("low")


def test_what_runs_beside_longer_work_gives_nothing(tmp_path: Path) -> None:
    given = steps(*NORM)
    for start in (0, 10_000, 20_000):
        given.kernel("ampere_sgemm_128x64_nn", start + 5, start + 9_990, launched=start + 1, stream=8)
    with given.open(tmp_path) as connection:
        (found,) = advice_path.run(connection, advice.load([RULE]), at_least_pct=0.5)
    assert found.status == "not found"


@pytest.mark.long
@pytest.mark.shared
def test_public_traces_that_have_them_and_that_do_not(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """Qwen computes its norms and rotary embeddings by their formulas; BERT's residual and norm are a pair."""
    folder = shared / "traces" / "operators"
    (found,) = advice.run(captures.open(folder / "h100-qwen-decode.json.gz"), advice.load([RULE]))
    assert found.saving_pct == pytest.approx(28, abs=1) and "22 modules Qwen2DecoderLayer_*" in found.place
    for name in ("h100-bert-forward", "mi300-sglang-prefill", "mi-normalization"):
        (found,) = advice.run(captures.open(folder / f"{name}.json.gz"), advice.load([RULE]), at_least_pct=0.5)
        assert found.status == "not found", name
