"""Adds derived meaning to recorded rows: categories of names, and what a kernel is as part of a convolution call.

The unit is the call. What ran below a convolution operator is judged together, and equal calls are judged
once, so the work grows with the number of distinct names and calls, not with the number of kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields, replace
from functools import cache, partial
from typing import Any

from traceview import sql
from traceview.classify import (
    classify_hlo,
    classify_in_context,
    classify_kernel,
    classify_op,
    classify_primitive,
    facts,
    rules,
)
from traceview.classify.calls import Item, Part, classify_parts, classify_stage, stage_mark
from traceview.classify.context import context_rules
from traceview.classify.rules import Verdict

COMPOSITE = frozenset(
    ("activation", "dropout_rng", "softmax_loss", "batch_norm", "layer_norm", "lrn", "pooling", "attention", "rnn")
)
"""Categories of operators that stand for a whole layer: what they launch through others is theirs."""
GENERIC = frozenset(("elementwise", "reduction", "copy", "fill", "cast", "other"))
"""Categories that say how, not what for."""
PRODUCTS = frozenset(("conv", "gemm", "xla_fusion"))
_WRAPPER = re.compile(r"^autograd::|Backward\d*$")
_VERDICT = {field.name: "VARCHAR" for field in fields(Verdict)}
_PART = {field.name: "VARCHAR" for field in fields(Part)}


_query = sql.texts("attribution")
_made = partial(sql.made, "attributed", _query)


def read_rules() -> None:
    """Read the rules that nearly every trace needs, so that they are there when its names come."""
    for file in ("kernels.toml", "ops.toml"):
        rules(file)
    context_rules()


def attribute(run: sql.Run) -> None:
    """Make the schemas `names` (name -> verdict) and `attributed` (row -> call, and its part in it) for the views.

    Each query stands for itself: what runs them may run one again where it failed.
    """
    run("CREATE SCHEMA IF NOT EXISTS names; CREATE SCHEMA IF NOT EXISTS attributed")
    kernels = run(_query("kernel_names"))
    verdicts = (_in_phase(classify_in_context(name or "", _telling(path)), phase) for name, path, phase in kernels)
    _keep_verdicts(run, "kernel", ["name", "op_path", "phase"], kernels, verdicts)
    ops = run("SELECT DISTINCT path, phase, hlo_kind FROM raw.ops")
    verdicts = (_in_phase(_classify_compiled(path or "", kind), phase) for path, phase, kind in ops)
    _keep_verdicts(run, "op", ["path", "phase", "hlo_kind"], ops, verdicts)
    primitives = run("SELECT DISTINCT kind, impl, prop_kind FROM raw.primitives")
    verdicts = (classify_primitive(kind or "", impl or "", prop or "") for kind, impl, prop in primitives)
    _keep_verdicts(run, "primitive", ["kind", "impl", "prop_kind"], primitives, verdicts)
    _attribute_ops(run)
    if not run(f"SELECT 1 FROM ({_query('ran')}) LIMIT 1"):
        columns = ", ".join(f"{name} {kind}" for name, kind in {"id": "BIGINT", "call_id": "BIGINT", **_PART}.items())
        run(f"CREATE OR REPLACE TABLE attributed.part ({columns})")
        return
    _attribute_calls(run)
    names = [name for (name,) in run(_query("loose_names"))]
    if names:
        _attribute_stages(run, names)
        run(f"INSERT INTO attributed.part BY NAME {_query('lone_products')}")
        run(_made(loose="loose_calls"))
        run(f"INSERT INTO attributed.part BY NAME {_query('loose_parts')}")
        run(_made(part="called_parts"))


def keep_facts(run: sql.Run, name: str) -> None:
    """Make the table `names.NAME` of facts of the rules, in that schema."""
    _keep(run, f"names.{name}", facts.columns(name), facts.rows(name))


def _attribute_ops(run: sql.Run) -> None:
    """Every operator at or below an outermost convolution operator, with the id of that one, and every operator below a
    linear one: level by level, since to find what is around each by its time would sort all of them."""
    run(_made(conv_op="conv_ops", linear="linears", level="levels"))
    run(_made(op="level_of_calls", inside_linear="level_of_linears", **{"pass": "passes"}))


def _attribute_calls(run: sql.Run) -> None:
    made = _made(item="items", per_call="per_call", sequence="sequences")
    run(f"CREATE OR REPLACE VIEW attributed.ran AS {_query('ran')}; {made}; DROP VIEW attributed.ran")
    kinds = run(_query("kinds"))
    items = {number: _item(*kind) for number, *kind in kinds}
    sequences = run("SELECT number, op, items FROM attributed.sequence")
    rows = [
        (number, position, *astuple(part))
        for number, op, sequence in sequences
        for position, part in enumerate(classify_parts(op, [items[item] for item in sequence]))
    ]
    _keep(run, "attributed.verdict", {"number": "BIGINT", "position": "BIGINT", **_PART}, rows)
    run(_made(part="parts"))


def _attribute_stages(run: sql.Run, names: Sequence[str | None]) -> None:
    """Classify kernels without an operator as part of the convolution that their neighbours show."""
    marks = [(name, stage_mark(name or "")) for name in names]
    _keep(run, "attributed.stage_name", {"name": "VARCHAR", "mark": "VARCHAR"}, marks)
    run(_made(home="homes"))
    if not {"open", "unroll"} & {mark for _, mark in marks}:
        return
    run(_made(stage="stages"))
    sequences = [names for (names,) in run("SELECT DISTINCT names FROM attributed.stage")]
    rows = [
        (names, position, *astuple(part))
        for names in sequences
        for position, part in enumerate(classify_stage(tuple(names)))
    ]
    _keep(run, "attributed.stage_verdict", {"names": "VARCHAR[]", "position": "BIGINT", **_PART}, rows)
    run(f"INSERT INTO attributed.part BY NAME {_query('stage_parts')}")
    run(_made(side="side_streams"))
    run("INSERT INTO attributed.part BY NAME SELECT * FROM attributed.side")


def _telling(path: str | None) -> str | None:
    """The operator of a path that says most: the innermost one that names a whole layer, else all of the path.

    A ReLU launches its kernel through aten::clamp_min_, a dropout through aten::mul. Autograd's wrappers do not count:
    an addition below one accumulates gradients of whatever it wraps.
    """
    for operator in (path or "").split(" < "):
        if _is_composite(operator):
            return operator
    return path


@cache
def _is_composite(operator: str) -> bool:
    return classify_op(operator).category in COMPOSITE and not _WRAPPER.search(operator)


def _classify_path(path: str) -> Verdict:
    """Classify an operator: its own category if it has a definite one, else that of the layer it works for."""
    own = classify_op(path)
    if own.category not in GENERIC:
        return own
    telling = _telling(path)
    return classify_op(telling) if telling and telling != path else own


def _classify_compiled(path: str, kind: str | None) -> Verdict:
    """An XLA instruction has the name of one of the operators it was made of: what it computes is its own word."""
    named = _classify_path(path)
    if kind is None:
        return named
    told = classify_hlo(kind)
    if "/" not in path and told.category != "other":  # The instruction's own name: its kind is the better word.
        return told
    if named.category == "conv" and told.category == "gemm":  # A 1x1 filter: XLA makes it a matrix product.
        return replace(named, algorithm="explicit_gemm", role="main", library=told.library)
    if named.category == told.category == "conv" and "/" in path:  # TensorFlow's names say which gradient it is.
        return replace(told, direction=told.direction or named.direction)
    is_product = bool({named.category, told.category} & PRODUCTS)
    return told if is_product or named.category == "other" else named


def _in_phase(verdict: Verdict, phase: str | None) -> Verdict:
    """Generic arithmetic in the optimizer's phase is the optimizer."""
    if phase == "optimizer" and verdict.category in GENERIC:
        return replace(verdict, category="optimizer")
    return verdict


def _item(kind: str, name: str | None, impl: str | None, prop_kind: str | None, part_op: str | None) -> Item:
    if kind == "primitive":
        return Item(name or "", True, classify_primitive(name or "", impl or "", prop_kind or ""))
    return Item(name or "", False, classify_kernel(name or ""), part_op)


def _keep_verdicts(
    run: sql.Run,
    table: str,
    keys: list[str],
    names: Sequence[tuple[Any, ...]],
    verdicts: Iterable[Verdict],
) -> None:
    """`names.<table>`: the key columns and the verdict's columns."""
    rows = [(*name, *astuple(verdict)) for name, verdict in zip(names, verdicts, strict=True)]
    _keep(run, f"names.{table}", {**dict.fromkeys(keys, "VARCHAR"), **_VERDICT}, rows)


def _keep(run: sql.Run, table: str, types: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
    query, values = sql.of_rows(types, rows)
    run(f"CREATE TABLE {table} AS {query}", values)
