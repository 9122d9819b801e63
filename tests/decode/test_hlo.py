"""Compiled programs in a profile: kinds, shapes, and what nameless instructions work for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from messages import field, varint

from traceview.decode import hlo, xspace
from traceview.decode.protobuf import Wire

SAMPLE = "samples/xplane/jax-0.10.2-alexnet-cpu.xplane.pb.gz"


def instruction(number: int, name: str, opcode: str, *operands: int, op_name: str = "", **more: Any) -> bytes:
    """An HloInstructionProto; without a type (11 is f32, 16 bf16) with a result of f32."""
    shape = field(2, more.get("type", 11)) + field(3, b"".join(map(varint, more.get("sizes", ()))))
    if "scratch" in more:  # A tuple of the result and bytes of type s8.
        shape = field(2, 13) + field(4, shape) + field(4, field(2, 2) + field(3, varint(more["scratch"])))
    text = field(1, name) + field(2, opcode) + field(3, shape) + field(35, number)
    text += field(36, b"".join(map(varint, operands))) + field(7, field(2, op_name))
    if "calls" in more:
        text += field(38, varint(more["calls"]))
    if "config" in more:
        text += field(43, more["config"])
    if "target" in more:
        text += field(28, more["target"])
    text += field(9, more["parameter"]) if "parameter" in more else b""
    text += field(30, field(1, varint(more["sums"]))) if "sums" in more else b""
    text += field(16, b"".join(field(*pair) for pair in CHANNELS_LAST)) if opcode == "convolution" else b""
    return text


CHANNELS_LAST = ((7, 0), (8, 3), (11, b"\1\2"), (3, 2), (4, 3), (6, b"\0\1"), (9, 0), (10, 3), (12, b"\1\2"))
"""Dimensions of a convolution's image, filter (sizes, inputs, outputs) and result."""


def program(*computations: tuple[int, int, list[bytes]], stacks: bytes = b"") -> list[dict[str, Any]]:
    """The rows of a program of (id, id of the result, instructions)."""
    module = field(1, "jit_step") + (field(17, stacks) if stacks else b"")
    for number, root, parts in computations:
        module += field(3, b"".join(field(2, part) for part in parts) + field(5, number) + field(6, root))
    rows: list[dict[str, Any]] = hlo.instructions(Wire(module), [(7, 0, len(module))]).to_pylist()
    return rows


def by_name(rows: list[dict[str, Any]], column: str) -> dict[str, Any]:
    return {row["instruction"]: row[column] for row in rows}


@pytest.fixture(scope="module")
def alexnet(root: Path) -> list[dict[str, Any]]:
    wire = Wire(gzip.decompress((root / SAMPLE).read_bytes()))
    (plane,) = (plane for plane in xspace.planes(wire) if plane.name == "/host:metadata")
    (only,) = xspace.programs(wire, plane)
    assert (only.module, only.number) == ("jit_step", 56)
    rows: list[dict[str, Any]] = hlo.instructions(wire, [(only.number, only.start, only.end)]).to_pylist()
    return rows


def test_kinds_of_a_real_program(alexnet: list[dict[str, Any]]) -> None:
    kinds = by_name(alexnet, "kind")
    assert kinds["ynn_fusion.26"] == "ynn convolution fprop"
    assert kinds["ynn_fusion.10"] == "ynn convolution wgrad"
    assert kinds["ynn_fusion.21"] == "ynn dot"
    # Under the name of a transpose, which was folded into it.
    assert kinds["dot"] == "dot"
    assert by_name(alexnet, "op_name")["dot"] == "jit(step)/transpose(jvp(fc6))/transpose"
    assert kinds["wrapped_iota"] == "iota"
    assert kinds["wrapped_broadcast"] == "broadcast scalar"
    assert kinds["transpose_copy_fusion.13"] == "transpose"
    # Arithmetic done again on the way into another layout; the layout is what it is for.
    assert kinds["transpose_copy_fusion.3"] == "transpose"
    assert kinds["copy_subtract_fusion"] == "subtract"
    assert kinds["bitcast_copy_fusion.2"] == "copy"


def test_transposes_of_a_real_program_work_for_the_convolution_that_reads_them(alexnet: list[dict[str, Any]]) -> None:
    masters = by_name(alexnet, "works_for")
    assert masters["transpose_copy_fusion.13"] == "jit(step)/transpose(jvp(conv5))/conv_general_dilated"
    assert masters["transpose_copy_fusion.9"] == "jit(step)/transpose(jvp(conv1))/conv_general_dilated"


def test_shapes_are_those_of_the_forward_pass_channels_first(alexnet: list[dict[str, Any]]) -> None:
    for name in ("ynn_fusion.26", "ynn_fusion.10"):  # conv1, forward and filter gradient; the program is channels last
        (row,) = (row for row in alexnet if row["instruction"] == name)
        assert row["shapes"] == "[[4, 3, 227, 227], [96, 3, 11, 11]]"
        assert row["output_shapes"] == "[[4, 96, 55, 55]]"
        assert row["inputs"] == '["[4, 4]", "[0, 0]", "[1, 1]", "1"]'


def test_what_only_one_layer_uses_works_for_that_layer() -> None:
    rows = program(
        (1, 5, [
            instruction(1, "p", "parameter", sizes=(2, 3)),
            instruction(2, "turned", "transpose", 1, sizes=(3, 2)),
            instruction(3, "shared", "copy", 1, sizes=(2, 3)),
            instruction(4, "a", "dot", 2, 3, op_name="jit(f)/a/dot", sizes=(3, 3)),
            instruction(5, "b", "dot", 4, 3, op_name="jit(f)/b/dot", sizes=(3, 3)),
        ]),
    )  # fmt: skip
    assert by_name(rows, "works_for") == {"p": None, "turned": "jit(f)/a/dot", "shared": None, "a": None, "b": None}
    assert {row["program"] for row in rows} == {7}


def test_a_fusion_is_what_it_is_for() -> None:
    inner = [
        instruction(11, "p0", "parameter", sizes=(4, 4)),
        instruction(12, "p1", "parameter", sizes=(4, 4)),
        instruction(13, "d", "dot", 11, 12, sizes=(4, 4)),
        instruction(14, "m", "maximum", 13, 12, sizes=(4, 4)),
    ]
    config = '{"fusion_config":{"kind":"__onednn_fusion"}}'
    fusion = instruction(21, "f", "fusion", calls=1, config=config, sizes=(4, 4))
    rows = program((1, 14, inner), (2, 21, [fusion]))
    assert by_name(rows, "kind")["f"] == "onednn dot"


@pytest.mark.parametrize(
    ("last", "kind", "more"),
    [
        ({"opcode": "convolution", "sizes": (2, 4, 4, 32)}, "ynn convolutions", 2 * 2 * 4 * 4 * 32 * 16),
        ({"opcode": "dot", "sizes": (2, 4, 4, 32), "sums": 3}, "ynn products", 2 * 2 * 4 * 4 * 32 * 16),
    ],
)
def test_a_fusion_of_several_products_is_none_of_them(last: dict[str, Any], kind: str, more: int) -> None:
    """It has the FLOP of all, the layer that holds them all, and the shapes of none."""
    inner = [
        instruction(11, "x", "parameter", sizes=(2, 4, 4, 8)),
        instruction(12, "w", "parameter", sizes=(1, 1, 8, 16), parameter=1),
        instruction(13, "v", "parameter", sizes=(1, 1, 16, 32), parameter=2),
        instruction(14, "c", "convolution", 11, 12, sizes=(2, 4, 4, 16), op_name="jit(f)/block/conv1/conv"),
        instruction(15, "d", last.pop("opcode"), 14, 13, op_name="jit(f)/block/conv2/conv", **last),
    ]
    sizes = {31: (2, 4, 4, 8), 32: (1, 1, 8, 16), 33: (1, 1, 16, 32)}
    outer = [instruction(number, f"p{number}", "parameter", sizes=size) for number, size in sizes.items()]
    config = '{"fusion_config":{"kind":"__ynn_fusion"}}'
    fusion = instruction(
        34, "f", "fusion", *sizes, calls=1, config=config, sizes=(2, 4, 4, 32), op_name="jit(f)/block/conv2/conv"
    )
    (row,) = (row for row in program((1, 15, inner), (2, 34, [*outer, fusion])) if row["instruction"] == "f")
    assert (row["kind"], row["works_for"].rpartition("/")[0]) == (kind, "jit(f)/block")
    assert row["inputs"] is None
    assert json.loads(row["cost"])[:2] == [2 * 2 * 4 * 4 * 16 * 8 + more, 0]


def test_a_convolution_computes_in_the_type_of_its_operands() -> None:
    """In bf16, though its sum is f32; in a fusion, whose operands are f32, too."""
    inner = [
        instruction(11, "x", "parameter", sizes=(2, 4, 4, 8)),
        instruction(12, "half", "convert", 11, sizes=(2, 4, 4, 8), type=16),
        instruction(13, "w", "parameter", sizes=(1, 1, 8, 16), parameter=1, type=16),
        instruction(14, "inside", "convolution", 12, 13, sizes=(2, 4, 4, 16), op_name="jit(f)/a/conv"),
    ]
    outer = [
        instruction(21, "y", "parameter", sizes=(2, 4, 4, 8)),
        instruction(22, "v", "parameter", sizes=(1, 1, 8, 16), type=16),
        instruction(23, "fused", "fusion", 21, 22, calls=1, sizes=(2, 4, 4, 16), op_name="jit(f)/a/conv"),
        instruction(24, "z", "parameter", sizes=(2, 4, 4, 8), type=16),
        instruction(25, "bare", "convolution", 24, 22, sizes=(2, 4, 4, 16), op_name="jit(f)/b/conv"),
    ]
    types = by_name(program((1, 14, inner), (2, 25, outer)), "types")
    assert (types["fused"], types["bare"]) == ('["bf16", "bf16"]', '["bf16", "bf16"]')


def test_what_an_instruction_costs() -> None:
    """Two FLOP per multiply-add; of a table that is only looked up, cut or written in part, that part."""
    table, product = {"sizes": (100, 8), "parameter": 0}, {"sizes": (4, 16), "sums": 1}
    inner = [
        instruction(11, "t", "parameter", **table),
        instruction(12, "b", "bitcast", 11, sizes=(100, 8)),
        instruction(13, "cut", "dynamic-slice", 12, sizes=(4, 8)),
        instruction(14, "w", "parameter", sizes=(8, 16), parameter=1),
        instruction(15, "d", "dot", 13, 14, **product),
        instruction(16, "tanh", "tanh", 15, sizes=(4, 16)),
    ]
    put = [
        instruction(21, "t2", "parameter", **table),
        instruction(22, "u", "parameter", sizes=(4, 8), parameter=1),
        instruction(23, "put", "dynamic-update-slice", 21, 22, sizes=(100, 8)),
    ]
    outer = [
        instruction(31, "table", "parameter", sizes=(100, 8)),
        instruction(32, "weight", "parameter", sizes=(8, 16)),
        instruction(33, "rows", "parameter", sizes=(4, 8)),
        instruction(41, "fused", "fusion", 31, 32, calls=1, sizes=(4, 16)),
        instruction(42, "written", "fusion", 31, 33, calls=2, sizes=(100, 8)),
        instruction(43, "twice", "multiply", 33, 33, sizes=(4, 8)),
        instruction(44, "sum", "reduce", 33, sizes=(4,)),
        instruction(45, "loop", "while", 33, sizes=(4, 8)),
        instruction(46, "own", "custom-call", 33, sizes=(4,), target="mine", config="heads = 2"),
        instruction(
            47, "gemm", "custom-call", 33, 32, sizes=(4, 16), target="__cublas$gemm",
            config='{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}', scratch=1 << 25,
        ),
        instruction(48, "packed", "custom-call", 33, sizes=(4,), target="mine", scratch=100),
    ]  # fmt: skip
    costs = by_name(program((1, 16, inner), (2, 23, put), (3, 47, outer)), "cost")
    expected = {
        "fused": [1024, 64, 128 + 512 + 256, ""],  # 2 x 4 x 8 x 16; the four rows, the weight, the result
        "written": [0, 0, 128 + 128, ""],
        "twice": [0, 32, 128 + 128, ""],
        "sum": [0, 32, 128 + 16, ""],
        "own": [None, None, 128 + 16, "heads = 2"],
        "gemm": [1024, 0, 128 + 512 + 256, ""],  # Not its scratch memory.
        "packed": [None, None, 128 + 16 + 100, ""],
    }
    assert {name: json.loads(text) for name, text in costs.items() if text and name in expected} == expected
    assert costs["loop"] is None


def test_the_cost_of_a_convolution_is_that_of_its_pass(alexnet: list[dict[str, Any]]) -> None:
    assert sum(1 for row in alexnet if row["cost"]) > 100
    assert not [row for row in alexnet if "convolution" in row["kind"] and row["cost"]]


@pytest.mark.parametrize("loop", [13, 99])
def test_programs_that_make_no_sense_are_read(loop: int) -> None:
    """An instruction that reads itself, one that reads nothing known, computations and ids that collide."""
    parts = [instruction(13, "a", "copy", loop), instruction(13, "b", "bitcast", 13), instruction(0, "", "")]
    rows = program((1, 13, parts), (1, 1, [instruction(13, "f", "fusion", calls=1), field(15, b"\xff"), b"\x82"]))
    assert {row["module"] for row in rows} == {"jit_step"}


def test_sizes_that_no_tensor_has_are_cut_and_their_cost_with_them() -> None:
    many, negative = (
        instruction(1, "many", "add", sizes=[2**62] * 200_000),
        instruction(2, "less", "add", 1, sizes=[-2]),
    )
    rows = program((1, 1, [many, negative]))
    assert [len(sizes) for sizes in json.loads(by_name(rows, "output_shapes")["many"])] == [64]
    assert [json.loads(cost)[:2] for cost in by_name(rows, "cost").values()] == [[0, 1 << 60], [0, 0]]


def test_fusions_deep_in_fusions_and_several_of_one_computation_have_no_cost() -> None:
    nested = [(n, n, [instruction(n, f"f{n}", "fusion", calls=n + 1)]) for n in range(1, 3000)]
    costs = by_name(program(*nested, (3000, 3000, [instruction(3000, "last", "add", sizes=[4])])), "cost")
    assert costs["f1"] is None and json.loads(costs["last"])[:2] == [0, 4]
    inside = (2, 2, [instruction(10_000 + n, f"p{n}", "add", sizes=[4]) for n in range(2000)])
    calls = [instruction(n, f"f{n}", "fusion", calls=2) for n in range(10, 2000)]
    costs = by_name(program((1, 1, calls), inside), "cost")
    assert json.loads(costs["f10"])[:2] == [0, 8000] and {costs[f"f{n}"] for n in range(11, 2000)} == {None}


def test_nothing_is_a_table_too() -> None:
    assert hlo.NOTHING.num_rows == 0 and hlo.NOTHING.column_names[0] == "program"


def test_an_instruction_knows_the_line_that_it_was_made_from() -> None:
    placed = instruction(1, "dot.1", "dot") + field(7, field(2, "jit(f)/dot") + field(3, "net.py") + field(4, 12))
    rows = program((3, 1, [placed, instruction(2, "add.2", "add", op_name="jit(f)/add")]))
    assert by_name(rows, "call_stack") == {"dot.1": "net.py(12): ", "add.2": None}


def test_newer_programs_number_frames_and_name_the_functions_around_a_line() -> None:
    stacks = field(1, "net.py") + field(1, "train.py") + field(2, "block") + field(2, "step")
    stacks += field(3, field(1, 1) + field(2, 1) + field(3, 12)) + field(3, field(1, 2) + field(2, 2) + field(3, 40))
    # The second frame lies in the first; the third, damaged, in itself and at no place that there is.
    stacks += field(4, field(1, 2)) + field(4, field(1, 1) + field(2, 1)) + field(4, field(1, 9) + field(2, 3))
    placed = [
        instruction(number, name, "dot") + field(7, field(2, "jit(f)/dot") + field(15, frame))
        for number, name, frame in ((1, "dot.1", 2), (2, "dot.2", 1), (3, "dot.3", 3), (4, "dot.4", 7))
    ]
    rows = program((3, 1, placed), stacks=stacks)
    both = "net.py(12): block;train.py(40): step"
    assert by_name(rows, "call_stack") == {"dot.1": both, "dot.2": "train.py(40): step", "dot.3": None, "dot.4": None}
