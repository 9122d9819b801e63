"""Attention in several kernels: found by the sizes of its operators, bounded by what one kernel has to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, rows

from traceview.analysis import advice, advice_path

RULE = "unfused_attention"
GEMM = "ampere_bf16_s1688gemm_bf16_128x128_ldg8_f2f_tn"
HEADS, QUERIES, SIZE = 8, 1024, 64
SCORES = (HEADS, QUERIES, QUERIES)
HALF = "c10::BFloat16"


def run(given: Given, at: float, name: str, tensors: list[tuple[int, ...]], us: float, kernel: str = "softmax") -> None:
    """One operator of bfloat16, with the kernel that it launches."""
    given.op(name, at, at + 5, tensors, [""] * len(tensors), HALF)
    given.kernel(kernel, at + 6, at + 6 + us, launched=at + 1)


def forward(given: Given, at: float, queries: int = QUERIES, between: str = "aten::mul") -> None:
    """Scale and softmax of 20 and 100 us between products of 50."""
    scores = (HEADS, queries, QUERIES)
    run(given, at, "aten::bmm", [(HEADS, queries, SIZE), (HEADS, SIZE, QUERIES)], 50, GEMM)
    run(given, at + 60, between, [scores, ()], 20, "elementwise_kernel")
    run(given, at + 90, "aten::_softmax", [scores, (), ()], 100)
    run(given, at + 200, "aten::bmm", [scores, (HEADS, QUERIES, SIZE)], 50, GEMM)


def steps(between: str = "aten::mul") -> Given:
    given = training()
    for start in (0, 1000, 2000):
        forward(given, start + 10, between=between)
    return given


FLOP = 2 * 2 * HEADS * QUERIES * QUERIES * SIZE
VECTOR_FLOP = 5 * HEADS * QUERIES * QUERIES


def test_it_is_found_and_bounded_by_what_one_kernel_has_to_do(tmp_path: Path) -> None:
    """2.1 GFLOP at 312 TFLOP/s of bf16 take 6.9 us; 5 per score at 19.5 TFLOP/s take 2.2, 4.2 MB at 1,555 GB/s 2.7."""
    found = answer(RULE, steps(), tmp_path)
    least_ns = 1e9 * FLOP / 312e12
    assert least_ns > max(1e9 * VECTOR_FLOP / 19.5e12, 1e9 * 4 * 2 * HEADS * QUERIES * SIZE / 1555e9)
    assert found.status == "found" and found.saving_ns == pytest.approx(220_000 - least_ns, abs=1)
    assert found.problem == (
        "Attention runs operator by operator 1.0 times: 0.220 ms, 0.100 ms of it softmax. One kernel would take 0.007 "
        "ms at least. The program writes it out itself."
    )
    assert found.confidence.startswith("high")


def test_a_mask_may_spare_half_of_the_work(tmp_path: Path) -> None:
    found = answer(RULE, steps("aten::masked_fill"), tmp_path)
    assert found.saving_ns == pytest.approx(220_000 - 1e9 * FLOP / 2 / 312e12, abs=1)


@pytest.mark.slow
def test_its_gradient_has_two_products_on_either_side(tmp_path: Path) -> None:
    """Products of a linear layer beside it are no part of it."""
    given = training()
    for start in (0, 1000, 2000):
        begin = len(given.rows.get("ops", ()))
        run(given, start + 10, "aten::mm", [(QUERIES, 512), (512, 512)], 30, GEMM)
        run(given, start + 60, "aten::bmm", [(HEADS, QUERIES, QUERIES), (HEADS, QUERIES, SIZE)], 50, GEMM)
        run(given, start + 120, "aten::bmm", [(HEADS, QUERIES, SIZE), (HEADS, SIZE, QUERIES)], 50, GEMM)
        run(given, start + 180, "aten::_softmax_backward_data", [SCORES, SCORES, (), ()], 70)
        run(given, start + 260, "aten::bmm", [(HEADS, SIZE, QUERIES), SCORES], 50, GEMM)
        run(given, start + 320, "aten::bmm", [SCORES, (HEADS, QUERIES, SIZE)], 50, GEMM)
        run(given, start + 380, "aten::mm", [(QUERIES, 512), (512, 512)], 30, GEMM)
        for row in given.rows["ops"][begin:]:
            row["forward_thread"] = 1
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == pytest.approx(270_000 - 1.25 * 1e9 * 2 * FLOP / 312e12, abs=2)
    assert found.evidence[0].startswith("(no module) backward, 8 x 1024 queries x 1024 keys x 64, bf16: 1.0 times")


@pytest.mark.parametrize("groups", [1, 2])
def test_heads_that_share_keys_and_values_may_be_rows_of_one_product(groups: int, tmp_path: Path) -> None:
    """Grouped-query attention by einsum: two products, each with four of eight heads in its rows; of one product for
    all its second factor may be a weight."""
    given = training()
    for start in (0, 1000, 2000):
        rows = HEADS * QUERIES // groups
        run(given, start + 10, "aten::bmm", [(groups, rows, SIZE), (groups, SIZE, QUERIES)], 50, GEMM)
        run(given, start + 70, "aten::_softmax", [(1, groups, HEADS // groups, QUERIES, QUERIES), (), ()], 100)
        run(given, start + 180, "aten::bmm", [(groups, rows, QUERIES), (groups, QUERIES, SIZE)], 50, GEMM)
    found = answer(RULE, given, tmp_path)
    if groups == 1:
        assert found.status == "not found"
    else:
        assert found.saving_ns == pytest.approx(200_000 - 1e9 * FLOP / 312e12, abs=1)
        assert found.evidence[0].startswith("(no module) forward, 8 x 1024 queries x 1024 keys x 64, bf16: 1.0 times")


def test_an_empty_tensor_beside_it_is_none(tmp_path: Path) -> None:
    """An expert without tokens: its products have no rows, so that their third size cannot be told."""
    given = steps()
    for start in (500, 1500, 2500):
        forward(given, start, queries=0)
    assert answer(RULE, given, tmp_path).problem.startswith("Attention runs operator by operator 1.0 times: 0.220 ms")


def test_other_softmaxes_and_fused_attention_are_not(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        run(given, start + 10, "aten::mm", [(QUERIES, 512), (512, 1000)], 50, GEMM)
        run(given, start + 70, "aten::_softmax", [(QUERIES, 1000), (), ()], 100)
        run(given, start + 180, "aten::mm", [(QUERIES, 512), (512, 512)], 50, GEMM)
        q = (1, HEADS, QUERIES, SIZE)
        given.op(
            "aten::_scaled_dot_product_flash_attention",
            start + 240,
            start + 245,
            [q, q, q, (), ()],
            ["", "", "", "0.", "False"],
            HALF,
        )
        given.kernel("flash_fwd_kernel", start + 250, start + 400, launched=start + 241)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.parametrize(("layer", "status"), [("aten::addmm", "not found"), ("aten::mm", "found")])
def test_a_gate_between_layers_of_one_size_is_not(layer: str, status: str, tmp_path: Path) -> None:
    """A layer of 1,024 units for 1,024 samples, a softmax of its result, and such a layer behind it: all sizes fit."""
    given, square = training(), (QUERIES, QUERIES)
    sizes = [(QUERIES,), square, square] if layer == "aten::addmm" else [square, square]
    for start in (0, 1000, 2000):
        run(given, start + 10, layer, sizes, 50, GEMM)
        run(given, start + 70, "aten::_softmax", [square, (), ()], 100)
        run(given, start + 180, layer, sizes, 50, GEMM)
    assert answer(RULE, given, tmp_path).status == status


def test_without_sizes_it_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, training(), tmp_path)
    assert found.status == "cannot tell" and found.record == "shapes of operators (PyTorch: record_shapes=True)"


def test_of_a_softmax_that_is_written_out_it_cannot_tell(tmp_path: Path) -> None:
    """Sizes are recorded: recording them again gives no other answer."""
    given = training()
    run(given, 10, "aten::bmm", [(HEADS, QUERIES, SIZE), (HEADS, SIZE, QUERIES)], 50, GEMM)
    run(given, 70, "aten::exp", [SCORES], 100)
    found = answer(RULE, given, tmp_path)
    assert found.status == "cannot tell" and found.record == "training with these operators"
    assert "a softmax written out is not recognised" in found.reason


def test_the_math_path_of_the_fused_operator_says_what_it_was_given(tmp_path: Path) -> None:
    given = steps()
    q = (1, HEADS, QUERIES, SIZE)
    for start in (0, 1000, 2000):
        values = ["", "", "", "", "0.1", "False"]
        name = "aten::_scaled_dot_product_attention_math"
        given.op(name, start + 5, start + 300, [q, q, q, (QUERIES, QUERIES), (), ()], values, HALF)
    problem = answer(RULE, given, tmp_path).problem
    assert problem.endswith("its math path ran (mask given, bf16, head size 64, dropout 0.1).")


@pytest.mark.slow
def test_without_the_peaks_of_a_device_all_of_it_counts_and_that_is_said(tmp_path: Path) -> None:
    given = training(device="A device of tomorrow")
    for start in (0, 1000, 2000):
        forward(given, start + 10)
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == 220_000 and found.confidence.startswith("medium")


def test_of_work_beside_other_work_the_path_has_the_last_word(tmp_path: Path) -> None:
    given = steps()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 5, start + 990, launched=start + 1, stream=8)
    with given.open(tmp_path) as connection:
        (found,) = advice_path.run(connection, advice.load([RULE]), at_least_pct=0.5)
    assert found.status == "not found"


@pytest.mark.long
@pytest.mark.shared
def test_public_traces_that_have_it_and_that_do_not(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """TimeSformer's: 12 times 2.4e11 FLOP at 989.4 TFLOP/s, and 12 small ones by their bytes, of 129.3 ms."""
    folder = shared / "traces" / "operators"
    (found,) = advice.run(captures.open(folder / "h100-timesformer-forward.json.gz"), advice.load([RULE]))
    assert found.saving_ns == pytest.approx(125.85e6, rel=1e-3) and "12 modules" in found.place
    for name in ("h100-bert-forward", "h100-vit-forward", "h100-qwen-decode"):
        (found,) = advice.run(captures.open(folder / f"{name}.json.gz"), advice.load([RULE]))
        assert found.status == "not found", name
    connection = captures.open(folder / "h100-timesformer-forward.json.gz")
    kinds = rows(connection, "SELECT part, count(*) FROM unfused_attention GROUP BY 1 ORDER BY 1")
    assert kinds == [("between", 24), ("product", 48), ("softmax", 24)]
