"""The C functions of oneDNN inside PyTorch, and what its header says.

PyTorch exports none of them, but its builds for Linux keep the local symbols (ELF `.symtab`), from which their
addresses follow; the numbers of enumerations come from the header that PyTorch ships. The lookup takes a second and is
stored by the library's build id, where nobody but this user can write.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import re
import struct
from pathlib import Path
from typing import Any

import torch

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
        self.functions = {name: self._function(name, base + offsets[name]) for name in FUNCTIONS}
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

    def _function(self, name: str, address: int) -> Any:
        kind = Handle if name in POINTERS else SIZES.get(name, ctypes.c_int)
        return ctypes.CFUNCTYPE(kind)(address)

    def call(self, name: str, *values: Any) -> None:
        """Call a function that returns a status; raises `RuntimeError` where it is not success."""
        status = self.functions[f"dnnl_{name}"](*values)
        if status:
            raise RuntimeError(f"oneDNN: {name} returned status {status}")

    def ask(self, name: str, *values: Any) -> Any:
        """Call a function and return what it does."""
        return self.functions[f"dnnl_{name}"](*values)


_library: list[Library | Absent] = []


def library() -> Library:
    """The one of this process; raises `Absent` with the reason."""
    if not _library:
        try:
            _library.append(Library())
        except (Absent, OSError, ValueError, struct.error) as error:
            _library.append(error if isinstance(error, Absent) else Absent(f"oneDNN cannot be reached: {error}"))
    if isinstance(_library[0], Absent):
        raise _library[0]
    return _library[0]


def _offsets(file: Path) -> dict[str, int]:
    """Where the functions are in the library, from the store of this user or looked up."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:4] != b"\x7fELF":
            raise Absent("oneDNN is looked up in ELF files only (Linux)")
        sections = _sections(data)
        stored = _store(data, sections, file)
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(stored.read_text(encoding="utf-8")) if _is_own(stored) else None
            if isinstance(found, dict) and all(isinstance(value, int) for value in found.values()):
                return found
        offsets = _looked_up(data, sections)
    with contextlib.suppress(OSError, ValueError):
        stored.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = stored.with_name(f"{stored.name}.{os.getpid()}")
        part.write_text(json.dumps(offsets), encoding="utf-8")
        part.rename(stored)
    return offsets


def _is_own(file: Path) -> bool:
    """Whether nobody else can have written what is called from here on."""
    return all(
        place.stat().st_uid == os.geteuid() and not place.stat().st_mode & 0o022 for place in (file, file.parent)
    )


def _sections(data: mmap.mmap) -> list[tuple[Any, ...]]:
    """Section headers: name, type, flags, address, offset, size, link, info, alignment, size of an entry."""
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count, _ = struct.unpack_from("<HHH", data, 0x3A)
    return [struct.unpack_from("<IIQQQQIIQQ", data, start + size * place) for place in range(count)]


def _store(data: mmap.mmap, sections: list[tuple[Any, ...]], file: Path) -> Path:
    """The file for what was looked up, named after the library's build id; without one, after its size and time."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    status = file.stat()
    plain = root / "traceview" / f"onednn-symbols-{status.st_size:x}-{status.st_mtime_ns:x}.json"
    note = next((one for one in sections if one[1] == 7), None)
    if note is None:
        return plain
    name_size, size, kind = struct.unpack_from("<III", data, note[4])
    if kind != 3 or not 4 <= size <= 64:
        return plain
    at = note[4] + 12 + (name_size + 3) // 4 * 4
    return root / "traceview" / f"onednn-symbols-{data[at : at + size].hex()}.json"


def _looked_up(data: mmap.mmap, sections: list[tuple[Any, ...]]) -> dict[str, int]:
    """Values of the symbols in `.symtab`."""
    import numpy as np

    table = next((one for one in sections if one[1] == 2), None)
    if table is None:
        return {}
    texts = data[sections[table[6]][4] :][: sections[table[6]][5]]
    entry = [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
    symbols = np.frombuffer(data[table[4] : table[4] + table[5]], dtype=np.dtype(entry))
    found = {}
    for name in (*FUNCTIONS, ANCHOR):
        at = texts.find(b"\0" + name.encode() + b"\0")
        hits = symbols[(symbols["name"] == at + 1) & (symbols["section"] != 0)] if at >= 0 else []
        if len(hits):
            found[name] = int(hits[0]["value"])
    return found


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
