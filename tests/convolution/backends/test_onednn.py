"""oneDNN inside PyTorch: what it enumerates runs in every pass and agrees with double precision."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from convolutions import errors, reasons, spec_of  # noqa: E402

from traceview.convolution.backends import onednn  # noqa: E402


@pytest.fixture(autouse=True)
def _present() -> None:
    try:
        onednn.version()
    except onednn.Absent as absent:
        pytest.skip(str(absent))


@pytest.mark.parametrize(
    "text", ["8x9x8 k16 3x3 p1", "3x12x12 k16 5x5 s2 p2", "8x9x9 k12 3x2 s2 g2", "16x9x9 k16 3x3 d2 p2"]
)
@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
def test_every_implementation_agrees_with_double_precision(text: str, direction: str) -> None:
    found = errors(onednn, text, direction)
    assert len(found) >= 2 and max(found.values()) < 1e-5, found
    assert any("gemm" in name for name, _, _ in found), "its GEMM takes every layer"


def test_the_layouts_are_those_that_the_primitive_demands() -> None:
    found = errors(onednn, "16x9x9 k32 3x3 p1", "fprop")
    assert {"nchw", "nhwc"} <= {layout for _, layout, _ in found}
    if torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512"):
        assert any(name.startswith("jit:") and layout.startswith("aBcd") for name, layout, _ in found)


def test_what_cannot_be_says_why() -> None:
    found = reasons(onednn, "8x9x8 k16 3x3 p1", "fprop")
    assert "no winograd convolution" in found.get("winograd", "no winograd convolution")
    assert "reference loops" in found["ref:any"]
    assert "no convolution of float64" in reasons(onednn, "8x9x8 k16 3x3 p1", "fprop", dtype="float64")["any"]


def test_a_scratchpad_is_part_of_what_is_said() -> None:
    rows = onednn.implementations(spec_of("8x9x8 k16 3x3 p1"), "wgrad")
    gemm = next(row for row in rows if "gemm" in row["implementation"])
    # The unrolled image: C x R x S x P x Q floats at least.
    assert gemm["workspace_bytes"] >= 4 * 8 * 9 * 9 * 8


def test_an_implementation_is_found_again_by_its_name_and_layouts() -> None:
    spec = spec_of("8x9x8 k16 3x3 p1")
    for row in onednn.implementations(spec, "dgrad"):
        if row["reason"] is None:
            named = {name: row[name] for name in ("implementation", "layout_in", "layout_out")}
            assert onednn.prepare(named, spec, "dgrad").implementation == row["implementation"]
    with pytest.raises(LookupError, match="does not enumerate"):
        onednn.prepare({"implementation": "jit:z80", "layout_in": "nchw", "layout_out": "nchw"}, spec, "dgrad")


@pytest.mark.slow
def test_every_symbol_is_found() -> None:
    found = onednn._offsets(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so")
    assert set(found) == {*onednn.FUNCTIONS, onednn.ANCHOR} and all(found.values())
