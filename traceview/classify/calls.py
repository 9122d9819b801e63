"""Decides a convolution call from the set and order of what ran under it.

The one law: the unit is the call. A plain sgemm between two Winograd transforms is Winograd, a complex GEMM between two
FFTs is FFT, a GEMM after im2col or alone is explicit GEMM, an add launched by a convolution is its bias. A call that
tries several algorithms (autotuning) is judged stage by stage, each stage being the kernels around one main kernel.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from traceview.classify.rules import Verdict

FORWARD, DATA, FILTER = "fprop", "dgrad", "wgrad"
_GEMM = ("gemm",)
_BIAS_OPS = re.compile(r"^aten::(add_?|sum)$")
_LAYOUT_OPS = re.compile(r"^aten::(contiguous|clone|copy_|to|_to_copy)$")
_INPUT_LAYOUT = re.compile(r"(?i)nchw_?to_?(nhwc|cnhw)")
_OUTPUT_LAYOUT = re.compile(r"(?i)(nhwc|cnhw)_?to_?nchw")
_OUTPUT_TRANSFORM = re.compile(r"c2r|Output|regular_fft_clip")
_TILED_PRODUCT = re.compile(r"gcgemm")


@dataclass(frozen=True)
class Item:
    """One kernel, fill or primitive under a call, in launch order, with the verdict on its name alone."""

    name: str
    op: str
    verdict: Verdict


@dataclass(frozen=True)
class Part:
    """What it is as part of the call."""

    category: str
    algorithm: str | None
    direction: str | None
    role: str | None


def classify_call(op: str, items: Sequence[Item]) -> list[Part]:
    """One part per item. `op` is the call's outermost operator, for example aten::convolution_backward."""
    backward = "backward" in op.lower() or "Backprop" in op
    parts = [_alone(item, backward) for item in items]
    parts = _algorithms(items, parts)
    if not backward:
        return [replace(part, direction=FORWARD) for part in parts]
    return _directions(items, parts)


def _alone(item: Item, backward: bool) -> Part:
    """The item's category and role, knowing only that it is part of a convolution."""
    verdict = item.verdict
    if verdict.category == "conv":
        return Part("conv", verdict.algorithm, _direction(item), verdict.role or "main")
    if verdict.category == "layout_transpose" or (verdict.category == "copy" and _LAYOUT_OPS.match(item.op)):
        return Part("layout_transpose", None, _direction(item), "helper")
    if verdict.category in ("bias", "activation", "cast", "memset"):
        return Part(verdict.category, None, _direction(item), "helper" if verdict.category == "memset" else None)
    if _BIAS_OPS.match(item.op) or (backward and verdict.category == "reduction"):
        return Part("bias", None, FILTER if backward else FORWARD, None)
    if verdict.category in _GEMM:
        return Part("conv", None, _direction(item), "main")
    return Part("conv", None, _direction(item), "helper")


def _direction(item: Item) -> str | None:
    """From the inner operator of old PyTorch and TensorFlow, else from the name."""
    if re.search(r"backward_input|BackpropInput", item.op):
        return DATA
    if re.search(r"backward_weight|BackpropFilter", item.op):
        return FILTER
    return item.verdict.direction if item.verdict.direction in (DATA, FILTER) else None


def _algorithms(items: Sequence[Item], parts: list[Part]) -> list[Part]:
    """Give every main kernel, transform and helper its algorithm, stage by stage."""
    out = list(parts)
    stage: str | None = None
    waiting: list[int] = []
    for index, (item, part) in enumerate(zip(items, parts, strict=True)):
        if part.category != "conv":
            continue
        if part.role == "main":
            found = part.algorithm if item.verdict.category == "conv" and part.algorithm else None
            if stage and stage.startswith(("fft", "winograd_nonfused")) and (found is None or found.startswith("fft")):
                found = stage
            if found is None or found.startswith("fft"):
                found = _fft(item, stage) if _is_fft(item, stage) else found or stage or "explicit_gemm"
            for before in waiting:
                out[before] = replace(out[before], algorithm=found)
            waiting = []
            stage = found if stage or (part.role == "main" and found.startswith(("fft", "winograd_nonfused"))) else None
            out[index] = replace(part, algorithm=found)
        elif part.role == "transform":
            if _OUTPUT_TRANSFORM.search(item.name) and stage:
                out[index] = replace(part, algorithm=stage)
                stage = None if stage != "explicit_gemm" else stage
            else:
                stage = part.algorithm or stage
                waiting.append(index)
        else:
            waiting.append(index)
    last = next((part.algorithm for part in reversed(out) if part.role == "main" and part.category == "conv"), None)
    for before in waiting:
        if out[before].algorithm is None:
            out[before] = replace(out[before], algorithm=last)
    return out


def _is_fft(item: Item, stage: str | None) -> bool:
    return (stage or "").startswith("fft") or (item.verdict.algorithm or "").startswith("fft")


def _fft(item: Item, stage: str | None) -> str:
    """Tiles are multiplied by a grouped complex GEMM, whole images by a plain or batched one."""
    if _TILED_PRODUCT.search(item.name):
        return "fft_tiling"
    if re.search(r"cgemm", item.name):
        return "fft"
    return item.verdict.algorithm or stage or "fft"


def _directions(items: Sequence[Item], parts: list[Part]) -> list[Part]:
    """In a backward call the input's gradient comes first, then the filter's; names settle what they can."""
    mains = [index for index, part in enumerate(parts) if part.role == "main" and part.category == "conv"]
    betrayed = {index: parts[index].direction or _nearby(parts, index, mains) for index in mains}
    chosen = {index: direction for index, direction in betrayed.items() if direction}
    last_data = max((index for index, direction in chosen.items() if direction == DATA), default=-1)
    first_filter = min((index for index, direction in chosen.items() if direction == FILTER), default=-1)
    for index in mains:
        if index not in chosen and (index < last_data or index < first_filter):
            chosen[index] = DATA
        elif index not in chosen and last_data >= 0:
            chosen[index] = FILTER
    unknown = [index for index in mains if index not in chosen]
    for position, index in enumerate(unknown):
        chosen[index] = DATA if len(unknown) > 1 and position < len(unknown) / 2 else FILTER
    return [
        replace(
            part, direction=chosen.get(index) or part.direction or _of_neighbour(items, parts, index, mains, chosen)
        )
        for index, part in enumerate(parts)
    ]


def _nearby(parts: list[Part], index: int, mains: list[int]) -> str | None:
    """The direction that a main kernel's own transforms and helpers betray."""
    position = mains.index(index)
    low = mains[position - 1] if position else -1
    high = mains[position + 1] if position + 1 < len(mains) else len(parts)
    before = [part.direction for part in parts[low + 1 : index] if part.category == "conv" and part.direction]
    after = [part.direction for part in parts[index + 1 : high] if part.category == "conv" and part.direction]
    if before:
        return before[-1]
    return after[0] if after and after[0] == FILTER and position + 1 == len(mains) else None


def _of_neighbour(
    items: Sequence[Item], parts: list[Part], index: int, mains: list[int], chosen: dict[int, str]
) -> str | None:
    """A transform, layout change or helper goes with the next main kernel; what restores a layout with the last one."""
    if not mains:
        return None
    following = next((main for main in mains if main > index), None)
    preceding = next((main for main in reversed(mains) if main < index), None)
    restores = _OUTPUT_LAYOUT.search(items[index].name) or (
        parts[index].role == "transform" and _OUTPUT_TRANSFORM.search(items[index].name)
    )
    order = (preceding, following) if restores else (following, preceding)
    return next((chosen[main] for main in order if main is not None), None)
