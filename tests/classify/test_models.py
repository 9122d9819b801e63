"""Models of operators: every entry wins its own examples, and counts made elsewhere of the same calls agree."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from given import Given, rows

from traceview.classify import models

Call = Mapping[str, Any]
KEYS = ("matrix_flop", "executed_flop", "vector_flop", "bytes")


def costs(folder: Path, calls: Iterable[Call]) -> list[dict[str, Any]]:
    """The cost of each call, one after the other, whatever device they are for."""
    given = Given()
    for number, call in enumerate(calls):
        if "annotation" in call:
            given.add("ranges", kind="user", name=call["annotation"], pid=1, tid=1, start_ns=100 * number, dur_ns=60)
        lists = {key: json.dumps(call[key]) for key in ("shapes", "types", "strides") if key in call}
        inputs = json.dumps(call["values"]) if "values" in call else None
        given.add(
            "ops",
            name=call["operator"],
            pid=1,
            tid=1,
            start_ns=100 * number,
            dur_ns=50,
            external_id=number,
            inputs=inputs,
            **lists,
        )
    query = f"""SELECT o.external_id, k.model, {", ".join(f"k.{key}" for key in KEYS)}, k.reason, k.how FROM raw.ops o
        LEFT JOIN costed.call c ON c.op_id = o.id LEFT JOIN costed.cost k USING (number) ORDER BY o.external_id"""
    found = rows(given.open(folder), query)
    return [dict(zip(("number", "model", *KEYS, "reason", "how"), row, strict=True)) for row in found]


def expected(example: Call) -> tuple[Any, ...]:
    matrix = example.get("matrix_flop", 0)
    return matrix, example.get("executed_flop", matrix), example.get("vector_flop", 0), example["bytes"]


@pytest.mark.slow
def test_every_model_wins_its_own_examples(tmp_path: Path) -> None:
    examples = [(entry, example) for entry in models.entries() for example in entry["examples"]]
    assert {entry["name"] for entry, _ in examples} == {entry["name"] for entry in models.entries()}
    examples = [(entry, example) for entry, example in examples if "operator" in example]
    for (entry, example), cost in zip(examples, costs(tmp_path, (each for _, each in examples)), strict=True):
        assert cost["model"] == entry["name"], example
        if "bytes" in example:
            assert tuple(cost[key] for key in KEYS) == expected(example), example
        else:
            assert cost["reason"] in entry["unless"].values(), example
            assert [cost[key] for key in KEYS] == [None] * 4, example


def test_every_model_of_a_primitive_wins_its_own_examples(tmp_path: Path) -> None:
    given = Given()
    told = [(entry, each) for entry in models.entries() for each in entry["examples"] if "primitive" in each]
    for number, (_, example) in enumerate(told):
        given.primitive(start=10 * number, end=10 * number + 5, **example["primitive"])
    columns = ", ".join(f"k.{key}" for key in ("model", *KEYS))
    query = f"SELECT {columns} FROM costed.primitive p JOIN costed.cost k USING (number) ORDER BY p.id"
    found = rows(given.open(tmp_path), query)
    for (entry, example), (model, *numbers) in zip(told, found, strict=True):
        assert (model, *numbers) == (entry["name"], *expected({"bytes": None, **example})), example


def test_every_model_has_a_source_and_no_key_is_lost() -> None:
    keys = {
        "name",
        "family",
        "direction",
        "operators",
        "prefix",
        "arguments",
        "let",
        "dtype",
        "is_wrapper",
        "unless",
        "how",
    }
    for entry in models.entries():
        assert set(entry) <= keys | {*KEYS, "source", "examples"}, entry["name"]
        assert len(entry["source"]) > 15, entry["name"]


def test_no_operator_has_two_models() -> None:
    names = [operator for entry in models.entries() for operator in models.operators(entry)]
    assert sorted(set(names)) == sorted(names)


def test_what_is_not_recorded_is_not_guessed(tmp_path: Path) -> None:
    """Without types no bytes, without values no convolution, with a damaged size nothing: each says why."""
    reason = "shapes, types or values of its arguments are not recorded"
    found = costs(
        tmp_path,
        [
            {"operator": "aten::mm", "shapes": [[2, 3], [3, 4]]},
            {"operator": "aten::relu", "shapes": [[2, 3]]},
            {"operator": "aten::convolution", "shapes": [[1, 3, 8, 8], [4, 3, 3, 3]], "types": ["float", "float"]},
            {"operator": "aten::mm", "shapes": [[2, -3], [3, 4]], "types": ["float", "float"]},
            {"operator": "aten::mm", "shapes": [[2**62, 2**62], [2**62, 4]], "types": ["float", "float"]},
            {"operator": "aten::cat", "shapes": [[[2, 3], [2, 1]], []], "types": ["TensorList", "Scalar"]},
        ],
    )
    assert [(row["matrix_flop"], row["bytes"]) for row in found[:2]] == [(48, None), (None, None)]
    assert [row["reason"] for row in found] == [None, reason, reason, reason, reason, None]
    assert found[5]["how"] == "shapes; elements of lists taken for float" and found[5]["bytes"] == 64


@pytest.mark.parametrize(
    ("kernel", "size"),
    [("vectorized_elementwise_kernel<4, AddFunctor<float>>", 4), ("elementwise<c10::Half>", 2), ("plain_kernel", None)],
)
def test_kernels_tell_the_element_types_that_are_not_recorded(kernel: str, size: int | None, tmp_path: Path) -> None:
    """PyTorch 1.8 wrote shapes and an empty list of types."""
    given = Given()
    given.add("ops", name="aten::relu", pid=1, tid=1, start_ns=0, dur_ns=50_000, shapes="[[2, 3]]", types="[]")
    given.kernel(kernel, 60, 90, launched=10)
    found = rows(given.open(tmp_path), "SELECT vector_flop, bytes, how FROM op_costs WHERE op_name = 'aten::relu'")
    told = "shapes; sizes of elements as the names of its kernels tell"
    assert found == [(6, 12 * size, told) if size else (None, None, None)]


def test_of_kernels_that_tell_different_element_types_the_first_one_counts(tmp_path: Path) -> None:
    given = Given()
    given.add("ops", name="aten::relu", pid=1, tid=1, start_ns=0, dur_ns=50_000, shapes="[[2, 3]]", types="[]")
    given.op("mine", 20, 30)
    for start, launched, kernel in ((60, 10, "plain"), (70, 21, "elementwise<c10::Half>"), (80, 40, "add<float>")):
        given.kernel(kernel, start, start + 5, launched=launched)
    found = rows(given.open(tmp_path), "SELECT bytes FROM op_costs WHERE op_name = 'aten::relu'")
    assert found == [(2 * 6 * 2,)]


def pairs_seen(folder: Path, calls: Iterable[tuple[str, int, int, list[Any]]]) -> list[float]:
    """Pairs of a query and a key that calls count: operator, queries, keys, and values with "q" and "k" for them."""
    told = []
    for operator, queries, keys, values in calls:
        sizes = {"q": queries, "k": keys}
        is_inner = "scaled_dot_product" not in operator
        shapes = [([1, 1, sizes[value], 16] if value in sizes else []) for value in values]
        shapes = [shape[:1] + shape[2:0:-1] + shape[3:] if is_inner else shape for shape in shapes]
        types = ["c10::Half" if shape else "Scalar" for shape in shapes]
        recorded = ["" if shape else str(value) for shape, value in zip(shapes, values, strict=True)]
        told.append({"operator": operator, "shapes": shapes, "types": types, "values": recorded})
    found = zip(told, costs(folder, told), strict=True)
    return [cost["matrix_flop"] / (128 if "backward" in call["operator"] else 64) for call, cost in found]


def test_flash_attention_of_a_gpu_is_causal_from_the_bottom_right(tmp_path: Path) -> None:
    """Two queries see 7 and 8 of 8 keys, being the last; by the other operators they are the first: 1 and 2."""
    product, kernel = "aten::_scaled_dot_product_", "aten::_flash_attention_"
    backward = [*"qqkkq", "", "", "", 2, 8, 0.0, True, "", "", ""]
    calls = [
        (product + "flash_attention", [*"qkk", 0.0, True, False, ""], 15),
        (product + "flash_attention_backward", backward, 15),
        (kernel + "forward", [*"qkk", "", "", 2, 8, 0.0, True, False, ""], 15),
        (kernel + "backward", backward, 15),
        # The overload for 8 bits has three scales in front of dropout.
        (product + "flash_attention", [*"qkk", "", "", "", 0.0, True, False, ""], 15),
        (product + "flash_attention_for_cpu", [*"qkk", 0.0, True, "", ""], 3),
        (product + "cudnn_attention", [*"qkk", "", False, 0.0, True, False, ""], 3),
    ]
    found = pairs_seen(tmp_path, ((operator, 2, 8, values) for operator, values, _ in calls))
    assert found == [pairs for *_, pairs in calls]


def test_a_window_of_attention_counts_the_keys_in_it(tmp_path: Path) -> None:
    """Counted key by key. A window of flash-attn is so many keys beside the query's own, of memory-efficient in all."""

    def seen(queries: int, keys: int, back: int, ahead: int, shift: int) -> int:
        return sum(-back <= key - query - shift <= ahead for query in range(queries) for key in range(keys))

    windows = [(2, 0, True), (1, 1, False), (0, -1, False), (-1, 2, False), (3, 5, True), (-1, -1, True)]
    outer = ["", "", 5, 5, 0.0]
    calls: list[tuple[str, int, int, list[Any]]] = []
    expected: list[int] = []
    for queries, keys in [(5, 5), (2, 7), (7, 2)]:
        for back, ahead, causal in windows:
            behind = 0 if causal else ahead if 0 <= ahead < keys else 99
            # The overload for 8 bits has three scales behind the debug mask.
            for operator, values in [
                ("flash_attn::_flash_attn_forward", [*"qkk", 0.0, 0.3, causal, back, ahead, 0.0, "", False]),
                ("flash_attn::_flash_attn_backward", [*"qqkkq", "", *"qkk", 0.0, 0.3, causal, back, ahead, 0.0]),
                ("aiter::mha_fwd", [*"qkk", 0.0, 0.3, causal, back, ahead, True, False]),
                ("aten::_flash_attention_forward", [*"qkk", *outer, causal, False, 0.3, back, ahead, "", "", "", ""]),
                ("aten::_flash_attention_forward", [*"qkk", *outer, causal, False, "", "", "", 0.3, back, ahead, ""]),
                ("aten::_flash_attention_backward", [*"qqkkq", "", *outer, causal, "", "", 0.3, back, ahead]),
            ]:
                calls.append((operator, queries, keys, values))
                expected.append(seen(queries, keys, back if back >= 0 else 99, behind, keys - queries))
        for mask, window, back in [(1, 3, 2), (2, 3, 2), (1, "", 99), (2, 0, 99)]:
            end = [mask, True, 0.3, "", window]
            forward, backward = [*"qkk", "", *outer, *end], [*"qqkk", "", "q", *outer[:4], "", 0.0, "", "", *end]
            for operator, values in [("forward", forward), ("backward", backward)]:
                calls.append((f"aten::_efficient_attention_{operator}", queries, keys, values))
                expected.append(seen(queries, keys, back, 0, keys - queries if mask == 2 else 0))
    assert pairs_seen(tmp_path, calls) == expected


def table(shared: Path, name: str) -> list[dict[str, str]]:
    csv.field_size_limit(10**9)
    with (shared / "models" / f"{name}.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def call(row: Mapping[str, str], dims: str, types: str, values: str) -> dict[str, Any]:
    known = {"shapes": json.loads(row[dims]), "values": json.loads(row[values])}
    known["types"] = json.loads(row[types]) if types else ["float" if shape else "" for shape in known["shapes"]]
    if row.get("strides"):
        known["strides"] = json.loads(row["strides"])
    return {"operator": row["op"], **known}


@pytest.mark.slow
def test_costs_are_those_of_public_reports_where_these_are_right(shared: Path, tmp_path: Path) -> None:
    """821 rows; paged attention has no cost from its arguments alone, and some rows have no verdict."""
    told = [row for row in table(shared, "reference") if row["flops_expected"]]
    found = costs(tmp_path, (call(row, "dims", "dtypes", "concrete_inputs") for row in told))
    differ = []
    for row, cost in zip(told, found, strict=True):
        flop = cost["matrix_flop"] or cost["vector_flop"]
        if (flop, cost["bytes"]) != (int(float(row["flops_expected"])), int(float(row["bytes_expected"]))):
            differ.append((row["op"], row["dims"], flop, cost["bytes"], row["flops_expected"], row["bytes_expected"]))
    assert [row[0] for row in differ] == ["sglang_profiler::attention_paged_attention_ragged"], differ
    assert len(told) > 810


def test_flop_is_what_was_counted_by_hand(shared: Path, tmp_path: Path) -> None:
    """87 calls, FlopCounterMode's among them; of several operators only the first is recorded there."""
    told = [{**row, "op": row["ops_recorded"].split("+")[0]} for row in table(shared, "reference_flopcounter")]
    assert len(told) == 87
    recorded = [row for row in told if row["op"]]
    found = costs(tmp_path, (call(row, "dims_first_op", "", "concrete_first_op") for row in recorded))
    for row, cost in zip(recorded, found, strict=True):
        others = row["ops_recorded"].split("+")[1:]
        factor = 1 + sum(2 if other.endswith("_backward") else 1 for other in others)
        assert cost["matrix_flop"] * factor == int(row["flop_expected"]) == int(row["flop_by_hand"]), row["case"]
        if row["flop_executed"] and not others:
            assert cost["executed_flop"] == int(row["flop_executed"]), row["case"]
    [product] = [row for row in told if not row["op"]]
    assert product["flop_expected"] == "0"


def test_bytes_are_those_of_the_tensors(shared: Path, tmp_path: Path) -> None:
    """Tensors that went in and came out of 169 calls; the table says where the least traffic is another number."""
    told = table(shared, "reference_bytes")
    found = costs(tmp_path, (call(row, "dims", "dtypes", "concrete_inputs") for row in told))
    differ = []
    equal = 0
    for row, cost in zip(told, found, strict=True):
        expected = int(row["bytes_expected"]) if row["bytes_expected"] else None
        equal += cost["bytes"] == int(row["bytes_of_arguments_and_results"]) or row["verdict"] == "agree"
        if cost["bytes"] != expected:
            differ.append((row["op"], row["case"], cost["bytes"], expected))
    assert differ == []
    assert equal >= 142
