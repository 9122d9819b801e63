"""Attention by what computed it: fused back-ends, the math path with what it was given, products and softmax."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import training
from given import Given, pick, section

pytestmark = pytest.mark.slow

HALF = "c10::BFloat16"
WIDE, SCORES = (2, 8, 64, 32), (2, 8, 64, 64)
COLUMNS = ("backend", "op_name", "direction", "calls", "busy_ns", "given")


def run(given: Given, at: float, name: str, tensors: list[tuple[int, ...]], us: float, kernel: str) -> None:
    given.op(name, at, at + 5, tensors, [""] * len(tensors), HALF)
    given.kernel(kernel, at + 6, at + 6 + us, launched=at + 1)


def parts(given: Given, at: float) -> None:
    """Products of 10 us and a softmax of 20."""
    run(given, at, "aten::bmm", [(16, 64, 32), (16, 32, 64)], 10, "ampere_bf16_s16816gemm_bf16_128x64")
    run(given, at + 20, "aten::_softmax", [SCORES, (), ()], 20, "softmax_warp_forward")
    run(given, at + 50, "aten::bmm", [(16, 64, 64), (16, 64, 32)], 10, "ampere_bf16_s16816gemm_bf16_128x64")


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("aten::_scaled_dot_product_flash_attention", "flash"),
        ("aten::_scaled_dot_product_efficient_attention", "mem_efficient"),
        ("aten::_scaled_dot_product_cudnn_attention", "cudnn"),
        ("aten::_scaled_dot_product_fused_attention_overrideable", "another kernel"),
    ],
)
def test_a_fused_kernel_is_called_by_its_back_end(name: str, backend: str, tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        run(given, start + 10, name, [WIDE, WIDE, WIDE], 30, "a_kernel_of_attention")
    found = section(given.open(tmp_path), "ops/attention")
    assert pick(found, *COLUMNS) == [(backend, name, "forward", 1.0, 30_000.0, None)]
    assert found[0]["busy_pct"] == 100


@pytest.mark.parametrize(
    ("mask", "dropout", "said"),
    [
        (SCORES, "0.1", "mask given, bf16, head size 32, dropout 0.1"),
        ((), "0.", "mask none, bf16, head size 32, dropout 0."),
    ],
)
def test_the_math_path_says_what_it_was_given(mask: tuple[int, ...], dropout: str, said: str, tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        inputs = ["", "", "", "", dropout, "False"]
        name = "aten::_scaled_dot_product_attention_math"
        given.op(name, start + 5, start + 200, [WIDE, WIDE, WIDE, mask, (), ()], inputs, HALF)
        parts(given, start + 10)
    found = section(given.open(tmp_path), "ops/attention")
    assert pick(found, *COLUMNS) == [("math", "aten::bmm", "forward", 1.0, 40_000.0, said)]


def test_what_the_program_writes_out_is_no_back_end(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        parts(given, start + 10)
    found = section(given.open(tmp_path), "ops/attention")
    said = ("in parts: products and softmax", "aten::bmm", "forward", 1.0, 40_000.0, "mask none, bf16, head size 32")
    assert pick(found, *COLUMNS) == [said]


def test_products_alone_are_no_attention(tmp_path: Path) -> None:
    given = training()
    run(given, 10, "aten::bmm", [(16, 64, 32), (16, 32, 64)], 10, "ampere_bf16_s16816gemm_bf16_128x64")
    assert section(given.open(tmp_path), "ops/attention") == []


PUBLIC = {
    "h100-bert-forward": ("flash", "BertSdpaSelfAttention_*", 4, None),
    "h100-vit-forward": ("flash", "ViTSdpaSelfAttention_*", 12, None),
    "h100-qwen-decode": ("flash", "Qwen2Attention_*", 23, None),
    "h100-timesformer-forward": (
        "in parts: products and softmax",
        "TimesformerSelfAttention_*",
        24,
        "mask none, bf16, head size 64",
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if "bert" in name else pytest.mark.long) for name in PUBLIC]
)
def test_public_traces(name: str, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    found = section(captures.open(shared / f"traces/operators/{name}.json.gz"), "ops/attention")
    assert pick(found, "backend", "module", "calls", "given") == [PUBLIC[name]]
