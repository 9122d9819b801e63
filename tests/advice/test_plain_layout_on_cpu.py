"""Reorders from and to the plain layout: how long, of what, and what another layout may give besides."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from asked import opened
from given import Given

from traceview.analysis import advice

pytestmark = pytest.mark.slow

RULE = "plain_layout_on_cpu"
REASON = "the trace holds no primitives of a CPU library (ONEDNN_VERBOSE, or traceview collect)."

SHAPE, FILTER = (2, 16, 32, 32), (16, 16, 3, 3)
PLAIN = "src:f32::blocked:abcd::f0 dst:f32::blocked:aBcd16b::f0"


def steps(reorder_us: float, formats: str = PLAIN, shape: str = "2x16x32x32") -> Given:
    given = training(device=None)
    for start in (0, 1000, 2000):
        given.op("aten::convolution", start + 10, start + 400, [SHAPE, FILTER], ["", "", "", [1, 1], [1, 1]])
        given.primitive("reorder", start + 20, start + 20 + reorder_us, impl="jit:blk", formats=formats, shape=shape)
        given.primitive(
            "convolution",
            start + 100,
            start + 300,
            shape="mb2_ic16oc16_ih32oh32kh3sh1dh0ph1_iw32ow32kw3sw1dw0pw1",
            prop_kind="forward_training",
        )
        given.op("aten::max_pool2d", start + 500, start + 540)
    return given


@pytest.mark.parametrize(("sizes", "status"), [([32], "not found"), ([32, 32], "found"), ([8, 16, 16], "found")])
def test_only_images_and_volumes_have_another_layout(tmp_path: Path, sizes: list[int], status: str) -> None:
    """PyTorch hands a signal to the library as an image of one row, and cannot hold it in channels_last."""
    given = training(device=None)
    shape = "2x16x1x32" if len(sizes) == 1 else "x".join(map(str, (2, 16, *sizes)))
    formats = PLAIN if len(sizes) < 3 else PLAIN.replace("abcd:", "abcde:").replace("aBcd16b", "aBcde16b")
    for start in (0, 1000, 2000):
        inputs = [(2, 16, *sizes), (16, 16, *(3 for _ in sizes))]
        given.op("aten::convolution", start + 10, start + 400, inputs, ["", "", "", [1], [1]])
        given.primitive("reorder", start + 20, start + 40, impl="jit:blk", formats=formats, shape=shape)
    assert answer(RULE, given, tmp_path).status == status


def known(*flags: str) -> Given:
    given = steps(11)
    given.device("Given Processor", kind="cpu", device=None)
    given.about = {"threads": 2, "cores": 2, "cpu_flags": ["avx2", *flags], "cpu_hz": 2_000_000_000}
    return given


def test_the_bound_is_the_reorders(tmp_path: Path) -> None:
    found = answer(RULE, steps(11), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 11_000)
    assert found.problem == "1.0 reorders of activations from or to the plain layout take 0.011 ms."
    assert found.evidence == (
        "reorders of activations: 0.011 ms",
        "beyond the reorders nothing is known: the instruction sets are not recorded",
    )


@pytest.mark.parametrize("name", ["aten::mkldnn_rnn_layer", "aten::mkldnn_rnn_layer_backward", "aten::bmm"])
def test_reorders_of_what_has_no_channels_are_none_of_it(tmp_path: Path, name: str) -> None:
    """Filters of an LSTM are reordered in every step whatever the layout of images; so are batches of matrices."""
    given = training(device=None)
    for start in (0, 1000, 2000):
        given.op(name, start + 10, start + 400)
        given.primitive("reorder", start + 20, start + 120, impl="jit:uni", formats=PLAIN, shape="1x4x256x256")
    assert answer(RULE, given, tmp_path).status == "not found"


def test_max_pooling_forward_counts_where_reorders_are_found(tmp_path: Path) -> None:
    given, below = steps(11), steps(9)
    for start in (0, 1000, 2000):
        for each in (given, below):
            each.op("aten::max_pool2d_with_indices", start + 600, start + 650)
    found = answer(RULE, given, tmp_path / "given")
    assert (found.status, found.saving_ns) == ("found", 61_000)
    assert found.evidence[1] == "max pooling in the plain layout, forward: 0.050 ms"
    assert answer(RULE, below, tmp_path / "below").status == "not found"


@pytest.mark.long
def test_what_other_implementations_may_give_is_a_second_number(tmp_path: Path) -> None:
    found = answer(RULE, known("avx512f"), tmp_path)
    floor_us = 2 * 2 * 16 * 16 * 9 * 32 * 32 / (2 * 64 * 2) / 1.5 / 1000
    assert found.saving_ns == 11_000
    assert found.evidence[1].startswith(f"speculative: up to {(240 - floor_us) / 1000:.3f} ms more (")


@pytest.mark.long
def test_without_avx512_nothing_is_promised_beyond_the_reorders(tmp_path: Path) -> None:
    assert answer(RULE, known(), tmp_path).evidence[1].endswith("the processor has no AVX-512")


@pytest.mark.long
def test_blocked_filters_and_changes_of_type_stay(tmp_path: Path) -> None:
    weights = "src:f32::blocked:abcd::f0 dst:f32::blocked:ABcd16b16a::f0"
    assert answer(RULE, steps(50, formats=weights), tmp_path / "filter").status == "not found"
    cast = "src:f32::blocked:abcd::f0 dst:bf16::blocked:aBcd16b::f0"
    assert answer(RULE, steps(50, formats=cast), tmp_path / "cast").status == "not found"


@pytest.mark.long
def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(9), tmp_path).status == "not found"


@pytest.mark.long
def test_filters_and_other_layouts_do_not_count(tmp_path: Path) -> None:
    assert answer(RULE, steps(50, shape="16x16x3x3"), tmp_path / "filter").status == "not found"
    blocked = "src:f32::blocked:acdb::f0 dst:f32::blocked:aBcd16b::f0"
    assert answer(RULE, steps(50, formats=blocked), tmp_path / "blocked").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)


V0 = "mkldnn_verbose,exec,{},jit,undef,in:f32_{} out:{}_{},num:1,{},{}\n"
V1 = "dnnl_verbose,exec,cpu,{},jit,undef,src_f32::blocked:{}:f0 dst_{}::blocked:{}:f0,,,{},{}\n"
V3 = "onednn_verbose,v1,primitive,exec,cpu,{},jit,undef,src:f32::blocked:{}::f0 dst:{}::blocked:{}::f0,,,{},{}\n"
CONV = V3.format("convolution", "abcd", "f32", "abcd", "mb8_ic64oc64_ih56oh56kh3sh1dh0ph1_iw56ow56kw3sw1dw0pw1", 100)
COUNTED = [
    (V0, "nchw", "f32", "nChw16c"),
    (V1, "aBcd16b", "f32", "abcd"),
    (V3, "abcd", "f32", "aBcd16b"),
    (V3, "abcd", "f32", "acdb"),
]
OTHERS = [
    (V0, "oihw", "f32", "OIhw16i16o"),
    (V1, "abcd", "bf16", "aBcd16b"),
    (V3, "abcd", "bf16", "aBcd16b"),
    (V3, "abcd", "f32", "abcd"),
    (V3, "acbd", "f32", "abcd"),
]
REORDERS = "".join(
    line.format("reorder", *rest, "8x64x56x56", 2**power) for power, (line, *rest) in enumerate(COUNTED + OTHERS)
)


@pytest.mark.parametrize(
    ("log", "status", "saving_ns"),
    [
        (CONV + REORDERS, "found", 15_000_000),
        (CONV.replace("convolution", "matmul") + REORDERS, "not found", 0),
        ((CONV + REORDERS).replace(",exec,cpu,", ",exec,gpu,"), "cannot tell", 0),
    ],
    ids=["cpu", "no convolution", "gpu"],
)
def test_reorders_of_images_count_as_each_version_spells_them(
    tmp_path: Path, log: str, status: str, saving_ns: int
) -> None:
    """Not filters, casts, copies and heads of attention; and only beside convolutions, on a processor."""
    with opened(tmp_path, log) as connection:
        (found,) = advice.run(connection, advice.load([RULE]), {})
    assert (found.status, found.saving_ns or 0) == (status, saving_ns)
