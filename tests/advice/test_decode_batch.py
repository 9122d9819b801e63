"""Iterations that make one token of each request: how many tokens share a reading of the weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer
from given import Given

from traceview.analysis import advice

RULE = "decode_batch"
BALANCE = 312e12 / 1555e9
"""FLOP of an A100 while it reads a byte."""


def decode(tokens: int, kernel: str = "ampere_bf16_s16816gemm_bf16_64x64", product_us: float = 600) -> Given:
    """Three iterations, whose attention takes 300 us."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for start in (0, 1000, 2000):
        given.span("user", f"step[DECODE bs={tokens}]", start, start + 990)
        given.kernel(kernel, start + 10, start + 10 + product_us, launched=start + 5)
        given.kernel("flash_fwd_splitkv_kernel", start + 620, start + 920, launched=start + 6)
    return given


@pytest.mark.slow
def test_what_more_tokens_would_share_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, decode(32), tmp_path)
    assert (found.status, found.of) == ("found", "the step")
    assert found.saving_ns == pytest.approx(600_000 * (1 - 32 / BALANCE), abs=1)
    assert found.problem == (
        "Decode reads the weights for 32 tokens at a time; for up to 201 its products take no longer by the roofline."
    )
    most = 1e9 * BALANCE / (600_000 + 300_000 * BALANCE / 32)
    assert found.evidence == (
        "32 tokens, 3 times: 0.900 ms on the device, 0.600 ms of it products, in which it can read 0.9 GB at most; "
        f"{1e9 * 32 / 900_000:,.0f} tokens/s; weights, keys and values: sizes not recorded; at 201 tokens at most "
        f"{most:,.0f}",
    )


def typed(operator: str, dtype: str) -> Given:
    """Products of a kernel whose name says no type, called by this operator."""
    given = decode(32, kernel="cutlass_gemm_kernel")
    for start in (0, 1000, 2000):
        given.op(operator, start + 2, start + 5.5, [(32, 4096), (4096, 4096)], ["", ""], dtype)
    return given


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        decode(202),
        decode(32, product_us=60),
        decode(32, product_us=60, kernel="marlin_gemm_w4a16"),
    ],
    ids=["as many as the peaks allow", "mostly attention", "mostly attention beside four bits"],
)
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        decode(32, kernel="marlin_gemm_w4a16"),
        decode(32, "Cijk_Alik_Bljk_F8BS"),
        decode(32, "nvjet_qqtst_64x8_128x4_4x1_v_bz_TNT"),
        decode(32, "nvjet_sm100_ootst_128x64_128x8_1x2_h_bz_TNT"),
        typed("custom::product", "c10::Float8_e4m3fn"),
        decode(32, "fused_moe_kernel"),
    ],
    ids=["four bits", "eight bits", "fp8", "fp4", "types", "experts"],
)
def test_of_quantised_weights_and_experts_it_cannot_tell(given: Given, tmp_path: Path) -> None:
    """They are left out, and were no problem that was checked."""
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "iterations with quantised weights, and products of experts, are left out: their products take 66.7 % of the "
        "devices' time in decode.",
    )


def test_prompts_are_not(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.span("user", "step[EXTEND bs=1 toks=100]", 0, 900)
    given.kernel("ampere_bf16_s16816gemm_bf16_64x64", 10, 800, launched=5)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_marks_of_an_engine_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"


@pytest.mark.long
@pytest.mark.shared
def test_public_traces_with_and_without(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    rules = advice.load([RULE])
    (found,) = advice.run(captures.open(shared / "traces/operators/mi300-sglang-decode.json.gz"), rules)
    assert found.status == "found"
    assert found.saving_ns == pytest.approx(5_782_257 * (1 - 32 * 5.3e12 / 1307.4e12), abs=2)
    for name in ("mi300-sglang-prefill", "mi300-vllm-piecewise"):
        (found,) = advice.run(captures.open(shared / f"traces/operators/{name}.json.gz"), rules)
        assert found.status == "not found"
