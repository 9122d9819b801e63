"""Facts of XLA's compiler about the instructions that its profiler times: operator, kind, and a convolution's shapes.

A profile holds the compiled programs (`/host:metadata`). The schema is a handful of field numbers of `hlo.proto` and
`xla_data.proto` of the XLA project. An instruction without a name takes part in a layer only where the
program shows it: all that uses it is that layer's, or it is a gradient of that layer's convolution by its shapes.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterable
from posixpath import commonpath
from typing import Any

import numpy as np
import pyarrow as pa

from traceview.decode.hlo_convolution import Convolution, Operand, Window, understand
from traceview.decode.hlo_program import Instruction, Program, cost
from traceview.decode.protobuf import Fields, Ints, Wire
from traceview.decode.text_bounds import MAX_TEXT_BYTES

MODULE_NAME, MODULE_COMPUTATION, MODULE_ENTRY, MODULE_STACKS = 1, 3, 6, 17
COMPUTATION_INSTRUCTION, COMPUTATION_ID, COMPUTATION_ROOT = 2, 5, 6
NAME, OPCODE, SHAPE, METADATA, PARAMETER, WINDOW, DIMENSIONS, TARGET, DOT = 1, 2, 3, 7, 9, 15, 16, 28, 30
ID, OPERANDS, CALLS, CONFIG, GROUPS, BATCH_GROUPS = 35, 36, 38, 43, 50, 58
OP_NAME, SOURCE_FILE, SOURCE_LINE, FRAME = 2, 3, 4, 15
FILES, FUNCTIONS, LOCATIONS, FRAMES = 1, 2, 3, 4
"""Tables of a program's frames, counted from 1: a location is a file, a function and a line; a frame a location and the
frame around it."""
MOST_FRAMES = 64
MOST_DIMENSIONS = 64
Place = tuple[int, int]
"""Begin and end of a message in the file."""
SHAPE_TYPE, SHAPE_SIZES, SHAPE_PARTS = 2, 3, 4
IMAGE, FILTER, OUTPUT = (7, 8, 11), (3, 4, 6), (9, 10, 12)
"""Fields with the numbers of an operand's dimensions: batch (a filter's inputs), channels (its outputs), spatial."""
WINDOW_ENTRY, STRIDE, PADDING, DILATION, IMAGE_DILATION = 1, 2, 3, 5, 6
_NAMES = "bool s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 tuple opaque c64 bf16 token c128 f8e5m2 f8e4m3fn s4 u4"
TYPES = {at: name for at, name in enumerate(_NAMES.split(), 1) if name not in ("tuple", "opaque", "token")}
TYPES |= {23: "f8e4m3b11fnuz", 24: "f8e5m2fnuz", 25: "f8e4m3fnuz", 28: "f8e4m3", 29: "f8e3m4", 33: "f8e8m0fnu"}
_TELLING = "convolution dot custom-call select-and-scatter reduce-window scatter gather sort rng-bit-generator reduce"
"""Instructions that show the purpose of a fusion that holds one, the first one first."""
MOVES = ("transpose", "copy", "reverse", "reshape", "bitcast", "tuple", "get-tuple-element")
PREPARATIONS = frozenset((*MOVES, "iota", "broadcast", "broadcast scalar", "pad", "concatenate", "constant"))
_COLUMNS = "module instruction op_name kind works_for shapes inputs types output_shapes call_stack cost parameter"
SCHEMA = pa.schema([("program", pa.int64()), *((name, pa.string()) for name in _COLUMNS.split())])
NOTHING = pa.Table.from_batches([], SCHEMA)
"""For a trace without programs."""
_CUDNN = re.compile(r"cudnn\$conv(?:BiasActivation)?(Forward|BackwardInput|BackwardFilter)")
_PASSES = {"Forward": "fprop", "BackwardInput": "dgrad", "BackwardFilter": "wgrad"}
_NVIDIA = re.compile("__cu(blas|dnn)")
_LIBRARY = re.compile(r'"__(\w+?)_fusion"')
_SUMMED = re.compile(r'"lhs_contracting_dimensions":\["([\d",]+)"\]')
MAX_CONFIG = 1000


def instructions(wire: Wire, places: Iterable[tuple[int | None, int, int]]) -> pa.Table:
    """One row per instruction of the programs that lie in the file as (number of the program, begin, end)."""
    rows: list[dict[str, Any]] = []
    for number, start, end in places:
        module = wire.message(start, end)
        name = next((wire.text(a, b) for _, a, b in module.places(MODULE_NAME)), "")
        program = read(wire, module)
        understand_program(program)
        entry = program.computations.get(int(module.numbers(MODULE_ENTRY, 1)[0]), [])
        arguments = {one.at: str(one.parameter) for one in entry if one.opcode == "parameter"}
        known = {"program": number, "module": name}
        rows += [{**known, "parameter": arguments.get(one.at), **_row(one, program)} for one in program.by_id.values()]
    return pa.Table.from_pylist(rows, SCHEMA)


def understand_program(program: Program) -> None:
    """Find kinds, passes of convolutions, and what nameless instructions work for."""
    everything = list(program.by_id.values())
    for one in everything:
        one.kind = kind_of(one, program)
    understand([one.convolution for one in everything if one.convolution and one.opcode != "fusion"])
    for one in everything:
        if one.convolution and one.convolution.direction:
            one.kind += f" {one.convolution.direction}"
            one.works_for = one.convolution.works_for
    is_named = any(one.op_name for one in everything)
    users: dict[int, set[str | None]] = {}
    for one in (one for computation in program.computations.values() for one in reversed(computation)):
        masters = users.get(one.at, set())
        if not one.op_name and len(masters) == 1:
            # XLA expands the gradient of a pooling: the place of each window's maximum, then a scatter to these.
            master = next(iter(masters))
            is_search = one.kind == "reduce-window" and (master or "").endswith("select_and_scatter")
            if is_search or one.kind in PREPARATIONS:
                one.works_for = master
        if is_named and one.kind == "reduce-window" and not one.op_name and not one.works_for:
            one.kind = "reduce"  # XLA cuts a long sum into windows (TreeReductionRewriter); a pooling has its name.
        for operand in program.operands(one):
            users.setdefault(operand.at, set()).add(one.works_for or one.op_name or None)


def kind_of(one: Instruction, program: Program) -> str:
    """An opcode, of a fusion that of what it is for; after the name of the library that runs it."""
    inner = program.inside(one)
    if one.opcode == "custom-call":
        return f"custom-call {one.library}"
    if one.opcode != "fusion" or not inner:
        return _broadcast(one, program)
    opcodes = {part.opcode for part in inner}
    kind = next((opcode for opcode in _TELLING.split() if opcode in opcodes), None) or _moved(inner[-1], program)
    products = [part for part in inner if part.opcode in ("convolution", "dot")]
    if len({part.op_name for part in products}) > 1:  # It is of the layer around all of them, if there is one.
        one.works_for = f"{commonpath(f'/{part.op_name}' for part in products)}/products".lstrip("/")
    if kind == "convolution" and len(products) == 1:
        one.convolution = products[0].convolution
    elif kind == "convolution":
        kind = "products" if "dot" in opcodes else "convolutions"
    return f"{one.library} {kind}" if one.library else kind


def _moved(root: Instruction, program: Program) -> str:
    """The opcode of the last instruction that does more than move; where none does, of what moves most."""
    passed: set[str] = set()
    one = root
    while one.opcode in MOVES and (operands := program.operands(one)) and len(passed) < len(MOVES):
        if one.opcode in passed:
            break
        passed.add(one.opcode)
        one = operands[0]
    if "transpose" in passed or one.opcode in ("parameter", "constant"):
        return next((opcode for opcode in MOVES if opcode in passed), one.opcode)
    return _broadcast(one, program)


def _broadcast(one: Instruction, program: Program) -> str:
    is_scalar = one.opcode == "broadcast" and not any(operand.sizes for operand in program.operands(one))
    return "broadcast scalar" if is_scalar else one.opcode


def read(wire: Wire, module: Fields) -> Program:
    """A program, from the fields of its HloModuleProto."""
    _, starts, ends = module.spans(MODULE_COMPUTATION)
    computations = wire.fields(starts, ends)
    names = computations.numbers(COMPUTATION_ID, len(starts)).tolist()
    roots = set(computations.numbers(COMPUTATION_ROOT, len(starts)).tolist())
    message, starts, ends = computations.spans(COMPUTATION_INSTRUCTION)
    found = wire.fields(starts, ends)
    numbers = found.numbers(ID, len(starts)).tolist()
    every = _instructions(wire, found, len(starts))
    program = Program(dict(zip(numbers, every, strict=True)), {name: [] for name in names})
    for which, one in zip(message.tolist(), every, strict=True):
        program.computations[names[which]].append(one)
    for part in program.computations.values():
        part.sort(key=lambda one: numbers[one.at] in roots)
    _read_convolutions(wire, found, program)
    _read_lines(wire, module, found, every)
    return program


def _instructions(wire: Wire, found: Fields, count: int) -> list[Instruction]:
    texts = {number: _texts(wire, found, number) for number in (NAME, OPCODE, TARGET)}
    metadata, starts, ends = found.spans(METADATA)
    named = {int(metadata[at]): wire.text(a, b) for at, a, b in wire.fields(starts, ends).places(OP_NAME)}
    configs = {at: wire.text(a, b, MAX_TEXT_BYTES) for at, a, b in found.places(CONFIG)}
    libraries = {at: match.group(1) for at, text in configs.items() if (match := _LIBRARY.search(text))}
    dots, starts, ends = found.spans(DOT)
    summed = {int(dots[at]): axes for at, axes in _numbers(wire, wire.fields(starts, ends), 1).items()}
    for at, text in configs.items():
        if match := _SUMMED.search(text):
            summed[at] = [int(axis) for axis in match.group(1).split('","') if axis.isdecimal()]
    parameters = found.numbers(PARAMETER, count).tolist()
    sizes, types, n_bytes = _shapes(wire, found, texts[TARGET])
    operands, calls = _numbers(wire, found, OPERANDS), _numbers(wire, found, CALLS)
    return [
        Instruction(
            at, texts[NAME].get(at, ""), texts[OPCODE].get(at, ""), named.get(at, ""),
            texts[TARGET].get(at) or libraries.get(at, ""), sizes.get(at, ()), types.get(at),
            operands.get(at, []), calls.get(at, []), n_bytes.get(at, 0), parameters[at],
            configs.get(at, "")[:MAX_CONFIG], tuple(summed.get(at, ())),
        )
        for at in range(count)
    ]  # fmt: skip


def _read_lines(wire: Wire, module: Fields, found: Fields, every: list[Instruction]) -> None:
    message, starts, ends = found.spans(METADATA)
    metadata = wire.fields(starts, ends)
    lines = metadata.numbers(SOURCE_LINE, len(starts)).tolist()
    for at, file in _texts(wire, metadata, SOURCE_FILE).items():
        every[message[at]].call_stack = f"{file}({lines[at]}): "
    stack_of = _stacks(wire, module)
    for at, frame in enumerate(metadata.numbers(FRAME, len(starts)).tolist()):
        every[message[at]].call_stack = stack_of(frame) or every[message[at]].call_stack


def _stacks(wire: Wire, module: Fields) -> Callable[[int], str]:
    """Frames of a program by number, the innermost first; nothing for one that it does not hold."""
    _, starts, ends = module.spans(MODULE_STACKS)
    tables = wire.fields(starts, ends)
    files, functions = ([wire.text(a, b) for _, a, b in tables.places(number)] for number in (FILES, FUNCTIONS))

    def rows(number: int, *columns: int) -> list[tuple[int, ...]]:
        _, starts, ends = tables.spans(number)
        entries = wire.fields(starts, ends)
        return list(zip(*(entries.numbers(column, len(starts)).tolist() for column in columns), strict=True))

    locations, frames = rows(LOCATIONS, 1, 2, 3), rows(FRAMES, 1, 2)

    @functools.cache
    def stack_of(frame: int) -> str:
        said: list[str] = []
        for _ in range(MOST_FRAMES):
            if not 0 < frame <= len(frames):
                break
            place, frame = frames[frame - 1]
            file, function, line = locations[place - 1] if 0 < place <= len(locations) else (0, 0, 0)
            if 0 < file <= len(files):
                name = functions[function - 1] if 0 < function <= len(functions) else ""
                said.append(f"{files[file - 1]}({line}): {name}")
        return ";".join(said)

    return stack_of


def _read_convolutions(wire: Wire, found: Fields, program: Program) -> None:
    dimensions = {at: (a, b) for at, a, b in found.places(DIMENSIONS)}
    windows = {at: (a, b) for at, a, b in found.places(WINDOW)}
    if not dimensions:
        return
    count = sum(len(part) for part in program.computations.values())
    groups, batch_groups = found.numbers(GROUPS, count).tolist(), found.numbers(BATCH_GROUPS, count).tolist()
    for one in program.by_id.values():
        told = _CUDNN.search(one.library)
        operands = [operand.sizes for operand in program.operands(one)]
        if one.at in dimensions and len(operands) >= 2 and (told or one.opcode == "convolution"):
            way = _PASSES[told.group(1)] if told else None
            left, right, result = operands[0], operands[1], one.sizes
            # cuDNN's calls name image, filter and output as the forward pass does, whichever of them is the result.
            sides = {"dgrad": (result, right, left), "wgrad": (left, result, right)}.get(
                way or "", (left, right, result)
            )
            image, kernel, output = (
                _operand(wire, dimensions[one.at], numbers, shape)
                for numbers, shape in zip((IMAGE, FILTER, OUTPUT), sides, strict=True)
            )
            if image and kernel and output:
                window = _window(wire, windows.get(one.at, (0, 0)), len(kernel.spatial))
                shared = max(groups[one.at], 1), max(batch_groups[one.at], 1)
                one.convolution = Convolution(one.op_name, image, kernel, output, window, *shared, told=way)


def _operand(wire: Wire, place: Place, numbers: tuple[int, int, int], sizes: tuple[int, ...]) -> Operand | None:
    """The sizes of an operand by the meaning of its dimensions; None where they do not fit."""
    found = wire.message(*place)
    batch, channels = (int(found.numbers(number, 1)[0]) for number in numbers[:2])
    spatial = _numbers(wire, found, numbers[2]).get(0, [])
    if sorted([batch, channels, *spatial]) != list(range(len(sizes))):
        return None
    return Operand(sizes[batch], sizes[channels], tuple(sizes[at] for at in spatial))


def _window(wire: Wire, place: Place, rank: int) -> Window:
    """Strides, padding and dilations; what is not written is 1, padding 0."""
    _, starts, ends = wire.message(*place).spans(WINDOW_ENTRY)
    entries = wire.fields(starts, ends)
    count = len(starts)
    columns = [entries.numbers(number, count).tolist() for number in (STRIDE, PADDING, DILATION, IMAGE_DILATION)]
    stride, padding, dilation, image = columns if count == rank else [[0] * rank] * 4
    ones = [tuple(max(value, 1) for value in column) for column in (stride, dilation, image)]
    return Window(ones[0], tuple(padding), ones[1], ones[2])


def _texts(wire: Wire, found: Fields, number: int) -> dict[int, str]:
    return {at: wire.text(a, b) for at, a, b in found.places(number)}


def _numbers(wire: Wire, found: Fields, number: int) -> dict[int, list[int]]:
    """Repeated numbers by message, packed or one by one."""
    lists: dict[int, list[int]] = {}
    for at in np.flatnonzero(found.number == number).tolist():
        value, end = int(found.value[at]), int(found.end[at])
        lists.setdefault(int(found.message[at]), []).extend(wire.packed(value, end) if end >= 0 else [value])
    return lists


def _shapes(
    wire: Wire, found: Fields, targets: dict[int, str]
) -> tuple[dict[int, tuple[int, ...]], dict[int, str | None], dict[int, float]]:
    """Sizes and element type of each result, of a tuple those of its first part; bytes of the whole.

    The last part of what cuBLAS and cuDNN give is scratch memory, if it is of bytes: no result.
    """
    message, starts, ends = found.spans(SHAPE)
    shapes = wire.fields(starts, ends)
    sizes = _sizes(wire, message, shapes)
    types = {at: TYPES.get(kind) for at, kind in _kinds(message, shapes)}
    n_bytes = {at: _bytes(sizes.get(at, ()), kind) for at, kind in types.items()}
    part, starts, ends = shapes.spans(SHAPE_PARTS)
    parts, order = wire.fields(starts, ends), np.arange(len(part))
    of_part = _sizes(wire, order, parts)
    last = {int(message[whole]): at for at, whole in enumerate(part.tolist()) if at and part[at - 1] == whole}
    for at, kind in reversed(_kinds(order, parts)):
        whole, shape = int(message[part[at]]), of_part.get(at, ())
        if last.get(whole) == at and TYPES.get(kind) in ("s8", "u8") and _NVIDIA.match(targets.get(whole, "")):
            continue
        n_bytes[whole] = n_bytes.get(whole, 0) + _bytes(shape, TYPES.get(kind))
        sizes[whole], types[whole] = shape, TYPES.get(kind)
    return sizes, types, n_bytes


def _kinds(message: Ints, shapes: Fields) -> list[tuple[int, int]]:
    return list(zip(message.tolist(), shapes.numbers(SHAPE_TYPE, len(message)).tolist(), strict=True))


def _bytes(sizes: tuple[int, ...], kind: str | None) -> float:
    """Bytes of a tensor: numbers of four bits share one. A damaged size may be any."""
    bits = 8 if kind == "bool" else int(re.findall(r"\d+", kind)[0]) if kind else 0
    return min(math.prod(sizes), 1 << 60) * bits / 8


def _sizes(wire: Wire, message: Ints, shapes: Fields) -> dict[int, tuple[int, ...]]:
    """Sizes by message; no tensor has more than `MOST_DIMENSIONS`."""
    numbers = _numbers(wire, shapes, SHAPE_SIZES)
    return {int(message[at]): tuple(sizes[:MOST_DIMENSIONS]) for at, sizes in numbers.items()}


def _row(one: Instruction, program: Program) -> dict[str, Any]:
    found: dict[str, Any] = {
        "instruction": one.name, "op_name": one.op_name, "kind": one.kind, "works_for": one.works_for,
        "call_stack": one.call_stack,
    }  # fmt: skip
    problem = one.convolution.problem if one.convolution else None
    if problem:
        settings = problem.stride, problem.padding, problem.dilation, problem.groups
        found["shapes"] = json.dumps([problem.input, problem.filter])
        found["inputs"] = json.dumps([str(list(value) if isinstance(value, tuple) else value) for value in settings])
        own = next((part for part in program.inside(one) if part.convolution is one.convolution), one)
        found["types"] = json.dumps([operand.type for operand in program.operands(own)[:2]])
        found["output_shapes"] = json.dumps([problem.output])
    elif one.opcode not in ("parameter", "constant", "tuple", "get-tuple-element"):
        found["shapes"] = json.dumps([operand.sizes for operand in program.operands(one)])
        found["types"] = json.dumps([operand.type for operand in program.operands(one)])
        found["output_shapes"] = json.dumps([one.sizes])
        if numbers := cost(one, program):
            found["cost"] = json.dumps([*numbers, one.config if numbers[0] is None else ""])
    return found
