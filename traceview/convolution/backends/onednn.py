"""oneDNN inside PyTorch: every implementation that it enumerates for a convolution, each in the layouts it demands.

Names, layouts and scratchpads are what oneDNN says of the primitive that it made. oneDNN 3 has no Winograd on x86.
"""

from __future__ import annotations

import ctypes
import mmap
import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch

from .runners import FORMATS, OPERANDS, RESULT, offered, shapes
from .workspace import workspace

SCRATCHPAD_USER = 1
ANCHOR = "aoti_torch_device_type_cpu"
"""A function that PyTorch exports: its address gives that of all others."""
NAMES = """
version engine_create stream_create stream_wait
memory_desc_create_with_tag memory_desc_create_with_strides memory_desc_destroy memory_desc_get_size
memory_desc_query memory_desc_equal memory_create memory_destroy
convolution_forward_primitive_desc_create convolution_backward_data_primitive_desc_create
convolution_backward_weights_primitive_desc_create reorder_primitive_desc_create
primitive_desc_next_impl primitive_desc_query primitive_desc_query_md primitive_desc_clone primitive_desc_destroy
primitive_create primitive_destroy primitive_execute primitive_attr_create primitive_attr_set_scratchpad_mode
"""
FUNCTIONS = tuple(f"dnnl_{name}" for name in NAMES.split())
SIZES = {"dnnl_memory_desc_get_size": ctypes.c_size_t}
POINTERS = ("dnnl_version", "dnnl_primitive_desc_query_md")
Handle = ctypes.c_void_p


class Absent(Exception):
    """Why oneDNN cannot be called here."""


class Library:
    """The functions, and what is made once: engine, stream, attributes."""

    def __init__(self) -> None:
        folder = Path(torch.__file__).parent
        file = folder / "lib" / "libtorch_cpu.so"
        if not file.exists():
            raise Absent(f"this PyTorch has no {file.name}, in which oneDNN would be")
        self.loaded = ctypes.CDLL(str(file))
        offsets = _offsets(file)
        lacking = [name for name in (*FUNCTIONS, ANCHOR) if name not in offsets]
        if lacking or not hasattr(self.loaded, ANCHOR):
            raise Absent(
                f"this build of PyTorch keeps no symbols of oneDNN ({len(lacking)} of {len(FUNCTIONS)} missing)"
            )
        base = (ctypes.cast(getattr(self.loaded, ANCHOR), Handle).value or 0) - offsets[ANCHOR]
        kinds = {**dict.fromkeys(FUNCTIONS, ctypes.c_int), **dict.fromkeys(POINTERS, Handle), **SIZES}
        self.functions: dict[str, Any] = {n: ctypes.CFUNCTYPE(kinds[n])(base + offsets[n]) for n in FUNCTIONS}
        numbers = struct.unpack("iii", ctypes.string_at(self.functions["dnnl_version"](), 12))
        self.version = ".".join(map(str, numbers))
        if numbers[0] != 3:
            raise Absent(f"oneDNN {self.version}: only version 3 is known")
        self.queries, self.arguments = _header(folder / "include/oneapi/dnnl/dnnl_types.h")
        self.engine, self.stream, self.attributes = Handle(), Handle(), Handle()
        self.call("engine_create", ctypes.byref(self.engine), 1, ctypes.c_size_t(0))
        self.call("stream_create", ctypes.byref(self.stream), self.engine, 1)
        self.call("primitive_attr_create", ctypes.byref(self.attributes))
        self.call("primitive_attr_set_scratchpad_mode", self.attributes, SCRATCHPAD_USER)

    def call(self, name: str, *values: Any) -> None:
        """Call a function that returns a status; raises `RuntimeError` where it is not success."""
        status = self.functions[f"dnnl_{name}"](*values)
        if status:
            raise RuntimeError(f"oneDNN: {name} returned status {status}")

    def ask(self, name: str, *values: Any) -> Any:
        """Call a function and return what it does."""
        return self.functions[f"dnnl_{name}"](*values)


@cache
def _made() -> Library | Absent:
    try:
        return Library()
    except (Absent, OSError, ValueError, struct.error) as error:
        return error if isinstance(error, Absent) else Absent(f"oneDNN cannot be reached: {error}")


def library() -> Library:
    """The one of this process; raises `Absent` with the reason."""
    found = _made()
    if isinstance(found, Absent):
        raise found
    return found


def _offsets(file: Path) -> dict[str, int]:
    """Return the values of the functions' symbols in the library's `.symtab`.

    One pass over all names: 0.1 s of the processor for the 76 MB of torch 2.13 (30 November 2026).
    """
    import numpy as np

    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:4] != b"\x7fELF":
            raise Absent("oneDNN is looked up in ELF files only (Linux)")
        (start,) = struct.unpack_from("<Q", data, 0x28)
        size, count, _ = struct.unpack_from("<HHH", data, 0x3A)
        # Name, type, flags, address, offset, size, link, info, alignment, size of an entry.
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * place) for place in range(count)]
        table = next((one for one in sections if one[1] == 2), None)
        if table is None:
            return {}
        at, n_bytes = sections[table[6]][4:6]
        texts, content = data[at : at + n_bytes], data[table[4] : table[4] + table[5]]
    listed = "|".join((*FUNCTIONS, ANCHOR)).encode()
    names = {match.start(1): match[1].decode() for match in re.finditer(rb"\0(%b)(?=\0)" % listed, texts)}
    entry = [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
    symbols = np.frombuffer(content, dtype=np.dtype(entry))
    hits = symbols[np.isin(symbols["name"], list(names)) & (symbols["section"] != 0)]
    return {names[int(hit["name"])]: int(hit["value"]) for hit in hits[::-1]}


def _header(file: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Numbers of the queries and of the arguments of primitives."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise Absent("this PyTorch comes without the headers of oneDNN") from error
    body = text[text.index("dnnl_query_undef = 0") : text.index("dnnl_query_max")]
    queries, value = {}, -1
    for name, number in re.findall(r"^\s*dnnl_query_(\w+)(?:\s*=\s*(\w+))?\s*,?", body, re.MULTILINE):
        value = int(number, 0) if number[:1].isdigit() else value + 1
        queries[re.sub(r"_s(32|64)$", "", name)] = value
    arguments = {name: int(number) for name, number in re.findall(r"#define DNNL_ARG_(\w+) (\d+)\n", text)}
    for name, other in re.findall(r"#define DNNL_ARG_(\w+) DNNL_ARG_(\w+)\n", text):
        if other in arguments:
            arguments[name] = arguments[other]
    return queries, arguments


NAME = "onednn"
DEVICES = ("cpu",)
ANY, NCHW, NHWC = "any", "nchw", "nhwc"
ALGORITHMS = {"direct": 1, "winograd": 2}
FORWARD, TAG_ANY = 64, 1
TYPES = {"float32": 3, "bfloat16": 2, "float16": 1}
"""oneDNN's numbers of element types."""
Dims = ctypes.c_int64 * 12


REFERENCE = "oneDNN's reference loops, there to check others, hundreds of times slower"


class Argument(ctypes.Structure):
    """One argument of a primitive: which, and the memory."""

    _fields_ = [("which", ctypes.c_int), ("memory", Handle)]


def version() -> str:
    """Return the versions of the oneDNN inside PyTorch, and of PyTorch; raises `Absent`."""
    return f"{library().version} in torch {torch.__version__}"


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """List oneDNN's implementations with the layouts left to it, with channels last and with plain ones, each once."""
    try:
        if layer.dtype not in TYPES:
            raise Absent(f"oneDNN has no convolution of {layer.dtype} on a CPU")
        library()
    except Absent as error:
        return [offered("any", None, ANY, str(error))]
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    missing = []
    for algorithm, number in ALGORITHMS.items():
        n_before = len(found)
        for request in (ANY, NHWC, NCHW):
            for handle in _described(layer, direction, request, number):
                made = Described(handle, direction)
                reason = REFERENCE if made.is_reference else None
                offer = offered(made.name, None, made.layout_in, reason, layout_out=made.layout_out)
                offer["label"] = f"{made.name}, {made.layout_in} to {made.layout_out}"
                offer |= {"request": request, "number": number, "workspace_bytes": made.scratchpad}
                # The reference takes any layout, so that it would stand there once for each.
                layouts = () if made.is_reference else (made.layout_in, made.layout_out)
                found.setdefault((made.name, *layouts), offer)
        if len(found) == n_before:
            reason = f"oneDNN {library().version} has no {algorithm} convolution for this layer on this processor"
            missing.append(offered(algorithm, algorithm, ANY, reason))
    return [*found.values(), *missing]


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Runner:
    """The primitive of an implementation; raises `LookupError` where oneDNN does not enumerate it (any more)."""
    asked = implementation["implementation"], implementation["layout_in"], implementation["layout_out"]
    requests = [implementation["request"]] if "request" in implementation else [NHWC, NCHW, ANY]
    numbers = [implementation["number"]] if "number" in implementation else list(ALGORITHMS.values())
    for request in requests:
        for number in numbers:
            for handle in _described(layer, direction, request, number):
                made = Described(handle, direction)
                if (made.name, made.layout_in, made.layout_out) == asked:
                    return Runner(made, layer, direction)
    raise LookupError(f"oneDNN does not enumerate {' '.join(asked)} here")


def shape_of(layer: Any, name: str) -> tuple[int, ...]:
    """The shape of a tensor of the layer, as oneDNN has it: the filter of a grouped one has a dimension more."""
    shape = shapes(layer)[name]
    if name != "filter" or layer.groups == 1:
        return shape
    return (layer.groups, shape[0] // layer.groups, *shape[1:])


def _strides(shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """Return the strides of dense elements in order, or with channels last."""
    if layout == NHWC:
        _, channels, high, wide = shape
        return channels * high * wide, 1, wide * channels, channels
    found = [1]
    for size in reversed(shape[1:]):
        found.insert(0, found[0] * size)
    return tuple(found)


def _memory(shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: str) -> Any:
    """The description of a tensor, with these strides or as oneDNN likes it."""
    made = Handle()
    if strides is None:
        name, last = "memory_desc_create_with_tag", TAG_ANY
    else:
        name, last = "memory_desc_create_with_strides", Dims(*strides)  # type: ignore[assignment]
    library().call(name, ctypes.byref(made), len(shape), Dims(*shape), TYPES[dtype], last)
    return made


def _bias(layer: Any) -> Any:
    """The description of a bias."""
    return _memory((layer.out_channels,), (1,), layer.dtype)


def _described(layer: Any, direction: str, request: str, algorithm: int) -> Iterator[Any]:
    """Handles of what oneDNN enumerates for a pass, the first choice first; each is the caller's."""
    lib = library()
    x, w, y = (
        _memory(shape, None if request == ANY or name == "filter" else _strides(shape, request), layer.dtype)
        for name in ("input", "filter", "grad_output")
        for shape in [shape_of(layer, name)]
    )
    steps = Dims(layer.stride_h, layer.stride_w), Dims(layer.dilation_h - 1, layer.dilation_w - 1)
    pads = Dims(layer.pad_h, layer.pad_w)
    geometry = (*steps, pads, pads)
    made, hint = Handle(), Handle()
    create = "dnnl_convolution_{}_primitive_desc_create".format
    bias = _bias(layer)
    forward = lib.functions[create("forward")]
    any_of = [_memory(shape_of(layer, name), None, layer.dtype) for name in ("input", "filter", "grad_output")]
    if direction == "fprop":
        status = forward(ctypes.byref(made), lib.engine, FORWARD, algorithm, x, w, bias, y, *geometry, lib.attributes)
    else:
        kinds = any_of[0], any_of[1], None, any_of[2]
        if forward(ctypes.byref(hint), lib.engine, FORWARD, ALGORITHMS["direct"], *kinds, *geometry, None):
            return
        data = lib.functions[create("backward_data" if direction == "dgrad" else "backward_weights")]
        operands = (x, w, y) if direction == "dgrad" else (x, w, None, y)
        status = data(ctypes.byref(made), lib.engine, algorithm, *operands, *geometry, hint, lib.attributes)
    for memory in (x, w, y, bias, *any_of):
        lib.ask("memory_desc_destroy", memory)
    try:
        while not status:
            copy = Handle()
            lib.call("primitive_desc_clone", ctypes.byref(copy), made)
            yield copy
            status = lib.ask("primitive_desc_next_impl", made)
    finally:
        # The hint is looked at again for the next implementation.
        for handle in filter(None, (made, hint)):
            lib.ask("primitive_desc_destroy", handle)


class Described:
    """Description of an implementation by oneDNN."""

    def __init__(self, handle: Any, direction: str) -> None:
        lib = library()
        self.handle = handle
        text = ctypes.c_char_p()
        lib.ask("primitive_desc_query", handle, lib.queries["impl_info_str"], 0, ctypes.byref(text))
        self.name = (text.value or b"").decode(errors="replace")
        prefix = {"fprop": ("", "", ""), "dgrad": ("diff_", "", "diff_"), "wgrad": ("", "diff_", "diff_")}[direction]
        kinds = zip(("input", "filter", "grad_output"), prefix, ("src", "weights", "dst"))
        self.names = {name: f"{gradient}{kind}" for name, gradient, kind in kinds}
        self.memories = {name: self._asked(f"{kind}_md") for name, kind in self.names.items()}
        self.layout_in = _layout(self.memories["input"])
        self.layout_out = _layout(self.memories["grad_output"])
        self.pad = self._asked("scratchpad_md")
        self.is_reference = self.name.startswith("ref")
        self.scratchpad = int(lib.ask("memory_desc_get_size", self.pad)) if self.pad else 0

    def _asked(self, what: str) -> Any:
        found = library().ask("primitive_desc_query_md", self.handle, library().queries[what], 0)
        return Handle(found) if found else None

    def __del__(self) -> None:
        library().ask("primitive_desc_destroy", self.handle)


def _numbers(memory: Any, what: str, count: int) -> list[int]:
    """An array that a description holds."""
    found = Handle()
    library().call("memory_desc_query", memory, library().queries[what], ctypes.byref(found))
    return list((ctypes.c_int64 * count).from_address(found.value)) if count and found.value else []


def _layout(memory: Any) -> str:
    """nchw, nhwc, or the name of a blocked layout as oneDNN writes it, for example aBcd8b."""
    n_dims, n_blocks = ctypes.c_int(), ctypes.c_int()
    for what, place in (("ndims", n_dims), ("inner_nblks", n_blocks)):
        library().call("memory_desc_query", memory, library().queries[what], ctypes.byref(place))
    strides, padded = (_numbers(memory, what, n_dims.value) for what in ("strides", "padded_dims"))
    blocks, which = (_numbers(memory, what, n_blocks.value) for what in ("inner_blks", "inner_idxs"))
    outer = list(padded)
    for block, dim in zip(blocks, which):
        outer[dim] //= block
    # A dimension of one element may have any stride.
    order = sorted(range(n_dims.value), key=lambda dim: (-strides[dim], outer[dim] == 1, dim))
    text = "".join(chr((65 if dim in which else 97) + dim) for dim in order)
    text += "".join(f"{block}{chr(97 + dim)}" for block, dim in zip(blocks, which))
    return {"abcd": NCHW, "acdb": NHWC}.get(text, text)


class Tensor:
    """Elements as oneDNN sees them: a description, and the PyTorch tensor that holds them (or their address)."""

    def __init__(self, description: Any, held: Any) -> None:
        self.description, self.held, self.handle = description, held, Handle()
        lib = library()
        address = Handle(held if isinstance(held, int) else held.data_ptr())
        lib.call("memory_create", ctypes.byref(self.handle), description, lib.engine, address)

    def __del__(self) -> None:
        library().ask("memory_destroy", self.handle)


def _buffer(n_bytes: int) -> torch.Tensor:
    return torch.empty(max(n_bytes, 64), dtype=torch.uint8)


class Runner:
    """One primitive; its scratchpad is a piece of the thread's workspace."""

    takes_bias = True

    def __init__(self, made: Described, layer: Any, direction: str) -> None:
        lib = library()
        self.made, self.operands, self.result = made, OPERANDS[direction], RESULT[direction]
        self.implementation, self.workspace_bytes = made.name, made.scratchpad
        self.shapes = {name: shape_of(layer, name) for name in made.names}
        self.plain = {name: (made.layout_in if name == "input" else made.layout_out) for name in made.names}
        self.element, self.dtype = layer.dtype, getattr(torch, layer.dtype)
        self.primitive = Handle()
        lib.call("primitive_create", ctypes.byref(self.primitive), made.handle)
        self.bias = (_bias(layer), torch.zeros(layer.out_channels, dtype=self.dtype)) if direction == "fprop" else None
        self.format = FORMATS.get(getattr(layer, "layout", NCHW), torch.contiguous_format)
        self.filter_shape = (layer.out_channels, layer.in_channels // layer.groups, *self.shapes["filter"][-2:])

    def __del__(self) -> None:
        if getattr(self, "primitive", None):
            library().ask("primitive_destroy", self.primitive)
        if getattr(self, "bias", None):
            library().ask("memory_desc_destroy", self.bias[0])  # type: ignore[index]

    def pack(self, name: str, tensor: torch.Tensor) -> Tensor:
        """The tensor in the layout that the primitive demands; itself where it has it."""
        shape, strides = self.shapes[name], tensor.stride()
        if name == "filter" and len(shape) == 5:
            strides = (shape[1] * strides[0], *strides)
        given, needed = _memory(shape, tuple(strides), self.element), self.made.memories[name]
        packed = Tensor(needed, tensor)
        if not library().ask("memory_desc_equal", given, needed):
            packed = Tensor(needed, _buffer(library().ask("memory_desc_get_size", needed)))
            _reorder(Tensor(given, tensor), packed)
        library().ask("memory_desc_destroy", given)
        return packed

    def run(self, first: Tensor, second: Tensor, bias: torch.Tensor | None = None) -> Tensor:
        """The pass, into a new tensor."""
        lib = library()
        out = self._new()
        given = {self.made.names[name].upper(): one for name, one in zip(self.operands, (first, second))}
        given[self.made.names[self.result].upper()] = out
        if self.bias:
            described, nothing = self.bias
            given["BIAS"] = Tensor(described, nothing if bias is None else bias.contiguous())
        if self.made.scratchpad:
            given["SCRATCHPAD"] = Tensor(self.made.pad, workspace().address(self.made.scratchpad))
        arguments = [Argument(lib.arguments[name], one.handle) for name, one in given.items()]
        listed = (Argument * len(arguments))(*arguments)
        lib.call("primitive_execute", self.primitive, lib.stream, len(arguments), listed)
        lib.call("stream_wait", lib.stream)
        return out

    def _new(self) -> Tensor:
        needed = self.made.memories[self.result]
        layout = self.plain[self.result] if self.result != "filter" else ""
        if layout in FORMATS:
            shape = self.shapes[self.result]
            return Tensor(needed, torch.empty(shape, dtype=self.dtype, memory_format=FORMATS[layout]))
        return Tensor(needed, _buffer(library().ask("memory_desc_get_size", needed)))

    def unpack(self, out: Tensor) -> torch.Tensor:
        """The result as PyTorch has it: as it lies where it lies plain, else copied into the layer's layout."""
        held: torch.Tensor = out.held
        if held.dtype != torch.uint8:
            return held
        shape = self.filter_shape if self.result == "filter" else self.shapes[self.result]
        form = torch.contiguous_format if self.result == "filter" else self.format
        tensor = torch.empty(shape, dtype=self.dtype, memory_format=form)
        strides = tensor.stride()
        if len(self.shapes[self.result]) == 5:
            strides = (self.shapes[self.result][1] * strides[0], *strides)
        plain = _memory(self.shapes[self.result], tuple(strides), self.element)
        _reorder(out, Tensor(plain, tensor))
        library().ask("memory_desc_destroy", plain)
        return tensor


def _reorder(given: Tensor, into: Tensor) -> None:
    """Copy elements from one layout into another."""
    lib = library()
    described, primitive = Handle(), Handle()
    lib.call(
        "reorder_primitive_desc_create",
        *(ctypes.byref(described), given.description, lib.engine, into.description, lib.engine, None),
    )
    lib.call("primitive_create", ctypes.byref(primitive), described)
    both = (Argument * 2)(Argument(lib.arguments["FROM"], given.handle), Argument(lib.arguments["TO"], into.handle))
    lib.call("primitive_execute", primitive, lib.stream, 2, both)
    lib.call("stream_wait", lib.stream)
    lib.ask("primitive_destroy", primitive)
    lib.ask("primitive_desc_destroy", described)
