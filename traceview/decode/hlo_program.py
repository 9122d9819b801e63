"""Programs that XLA compiled: their instructions, and the FLOP and bytes of each, of a fusion those of what is inside.

Two FLOP per multiply-add of a product, one per element that an arithmetic instruction gives or a reduction takes. Each
operand is read once, of one that is only cut or looked up the part; each result is written once, in place where it may.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from traceview.decode.hlo_convolution import Convolution

MOVED = "copy transpose reverse reshape bitcast tuple get-tuple-element parameter constant iota broadcast pad slice"
MOVED += " concatenate dynamic-slice gather dynamic-update-slice scatter fusion rng-bit-generator rng after-all convert"
UNTOLD = "custom-call all-reduce all-gather all-to-all reduce-scatter collective-permute send recv infeed outfeed"
INSIDE = "while conditional call async-start async-update async-done copy-start copy-done"
"""Instructions without arithmetic; those that do not say what they compute or wait for others; and those that
stand for what is timed inside them."""
DEEPEST, MOST = 20, 1 << 60
"""How deep fusions stand in fusions, and the most of anything: what says more is damaged."""
CUTS, REPLACED = ("slice", "dynamic-slice", "gather"), ("dynamic-update-slice", "scatter")


@dataclass
class Instruction:
    """One instruction; `library` runs it, where the compiler says so: a custom call's target, `ynn`, `onednn`."""

    at: int
    name: str
    opcode: str
    op_name: str
    library: str
    sizes: tuple[int, ...]
    type: str | None
    operands: list[int]
    """Ids."""
    calls: list[int]
    """Ids of computations."""
    n_bytes: float = 0
    """Bytes of its result, of a tuple those of all parts."""
    parameter: int = 0
    """Which operand of its fusion a parameter is."""
    config: str = ""
    summed: tuple[int, ...] = ()
    """Dimensions of the first operand over which a product sums."""
    kind: str = ""
    convolution: Convolution | None = None
    works_for: str | None = None
    """The operator whose layer it shares."""
    call_stack: str | None = None
    """Its line, as `file(line): function`, and the frames around it, the innermost first; older programs lack these."""


@dataclass
class Program:
    """The instructions by id, and those of each computation in an order in which users come last."""

    by_id: dict[int, Instruction]
    computations: dict[int, list[Instruction]]
    flop: dict[int, tuple[int | None, int | None] | None] = field(default_factory=dict)
    """Matrix and other FLOP of instructions, by place, where they were worked out."""
    callers: dict[int, int] = field(default_factory=dict)
    """The fusion that calls a computation: the first one, for no computation is that of two."""

    def operands(self, one: Instruction) -> list[Instruction]:
        """Return the instructions whose results an instruction reads."""
        return [self.by_id[number] for number in one.operands if number in self.by_id]

    def inside(self, one: Instruction) -> list[Instruction]:
        """Return the instructions of a fusion, the one that gives its result last."""
        return [part for number in one.calls for part in self.computations.get(number, ())]


def cost(one: Instruction, program: Program) -> tuple[int | None, int | None, int] | None:
    """Matrix FLOP, other FLOP and bytes; FLOP are None where the program does not say what is computed, and everything
    where other rows have the cost."""
    flop = _flop(one, program)
    if flop is None:
        return None
    matrix, other = (number if number is None else max(0, min(number, MOST)) for number in flop)
    return matrix, other, int(max(0, min(_moved(one, program), MOST)))


def _flop(one: Instruction, program: Program, depth: int = 0) -> tuple[int | None, int | None] | None:
    if one.at in program.flop:
        return program.flop[one.at]
    program.flop[one.at] = None  # What makes no sense may hold itself.
    if one.opcode == "fusion" and one.calls:
        if depth == DEEPEST or any(program.callers.setdefault(number, one.at) != one.at for number in one.calls):
            return None
        parts = [_flop(part, program, depth + 1) for part in program.inside(one)]
        known = [part for part in parts if part is not None]
        sums = [None if None in column else sum(column) for column in zip(*known, strict=True)] or [0, 0]
        program.flop[one.at] = (sums[0], sums[1]) if len(known) == len(parts) else None
    elif one.opcode == "convolution":  # As of its forward pass. Where that is not known, nothing is.
        problem = one.convolution.problem if one.convolution else None
        program.flop[one.at] = (2 * math.prod((*problem.output, *problem.filter[1:])), 0) if problem else None
    elif one.opcode not in INSIDE.split():
        is_told = one.summed or one.opcode not in UNTOLD.split()
        program.flop[one.at] = (_matrix(one, program), _other(one, program)) if is_told else (None, None)
    return program.flop[one.at]


def _matrix(one: Instruction, program: Program) -> int:
    first = program.operands(one)[:1]
    if not one.summed or not first or max(one.summed) >= len(first[0].sizes):
        return 0
    flop = 2 * math.prod(one.sizes) * math.prod(first[0].sizes[at] for at in one.summed)
    return flop * 4 if (one.type or "").startswith("c") else flop


def _other(one: Instruction, program: Program) -> int:
    if one.opcode in ("reduce", "reduce-window", "select-and-scatter", "sort"):
        return sum(math.prod(operand.sizes) for operand in program.operands(one)[:1])
    return 0 if one.summed or one.opcode in MOVED.split() else math.prod(one.sizes)


def _moved(one: Instruction, program: Program) -> float:
    inner = program.inside(one) if one.opcode == "fusion" else []
    users: dict[int, list[tuple[Instruction, int]]] = {}
    for part in inner:
        for place, operand in enumerate(program.operands(part)):
            users.setdefault(operand.at, []).append((part, place))
    parameters = {part.parameter: part for part in inner if part.opcode == "parameter"}
    reads: dict[int, float] = {}
    for place, operand in enumerate(program.operands(one)):
        reading = list(users.get(parameters[place].at, ())) if place in parameters else [(one, place)]
        seen: set[int] = set()
        for user, at in reading:  # Behind a bitcast stand its users.
            if inner and user.opcode == "bitcast" and not at and user.at not in seen:
                seen.add(user.at)
                reading += users.get(user.at, ())
        known = sum(_read(user, at, operand) for user, at in reading if user.at not in seen)
        reads[operand.at] = min(operand.n_bytes, reads.get(operand.at, 0) + known)
    root = inner[-1] if inner else one
    return sum(reads.values()) + sum(
        _written(part, program) for part in (program.operands(root) if root.opcode == "tuple" else [root])
    )


def _read(one: Instruction, place: int, operand: Instruction) -> float:
    """Bytes that an instruction reads of an operand."""
    if place or one.opcode not in (*CUTS, *REPLACED):
        return operand.n_bytes
    return one.n_bytes if one.opcode in CUTS else 0


def _written(one: Instruction, program: Program) -> float:
    operands = program.operands(one)
    if one.opcode == "bitcast" and operands:
        one = operands[0]
        operands = program.operands(one)
    if one.opcode == "scatter" and len(operands) > 2:
        return 2 * sum(operand.n_bytes for operand in operands[len(operands) // 2 + 1 :])
    return operands[1].n_bytes if one.opcode in REPLACED and len(operands) > 1 else one.n_bytes
