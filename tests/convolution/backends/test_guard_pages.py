"""Code that takes addresses touches nothing but operands, workspace and result: each of them ends, or begins, at a page
that ends the process that touches it.

    python test_guard_pages.py SEED [WORD...]     the cases of a seed whose names hold every word
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import random
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from convolutions import spec_of, tensors_of  # noqa: E402
from forked import ending, endings, run_each  # noqa: E402
from plans import needs_kernels  # noqa: E402
from torch.nn import functional  # noqa: E402

from traceview.convolution import passes  # noqa: E402
from traceview.convolution.backends import winograd  # noqa: E402
from traceview.convolution.backends.workspace import ALIGNMENT, Workspace  # noqa: E402
from traceview.convolution.winograd import fused  # noqa: E402
from traceview.convolution.winograd.machine_code import NEEDED, instruction_set  # noqa: E402
from traceview.experiments.algorithms.layers import parse  # noqa: E402

LAST = torch.channels_last
PAGE = mmap.PAGESIZE
Tensors = dict[str, torch.Tensor]
DIRECTIONS = ("fprop", "dgrad", "wgrad")
PLACES = (("end", True), ("begin", True), ("end", False))
"""Place of the page that ends the process, and whether each piece of the workspace has one, or the whole."""
PLAIN = ("1x17x7x7 k5 3x3 p1", "3x5x9x11 k33 5x5 p2", "1x1x3x3 k1 3x3")
SAME_STEPS = (*PLAIN, "3x48x9x8 k40 3x3", "1x3x15x13 k16 7x7 s2 p3", "3x9x15x15 k7 3x3 s2 p1", "5x16x6x7 k16 2x2 p1")
ANY = (
    *SAME_STEPS,
    *("3x6x11x9 k9 3x5 s2x1 p1x2 g3", "1x17x9x9 k5 1x1 s2", "3x8x9x7 k8 3x3 p2 d2", "1x7x13x11 k7 3x3 p1 g7"),
)
LAYERS = {
    "winograd": SAME_STEPS,
    "nnpack": PLAIN,
    "onednn": ANY,
    "winograd_torch": PLAIN[:2],
    "torch_gemm": ("3x9x15x13 k7 3x5 s2x1 p1x2", "3x17x9x7 k5 1x1 s2"),
    "torch_fft": PLAIN[:1],
}
RANDOM = {"winograd": 10, "nnpack": 6, "onednn": 8}
"""More layers of each back-end that calls code of ours or of a library by addresses."""
ROWS = 2
"""Implementations of Winograd for each pass of a layer; of the others, all."""
MADE = {name: getattr(torch, name) for name in ("empty", "zeros", "stack")}
REPEAT = torch.Tensor.repeat


def guarded(tensor: torch.Tensor, edge: str) -> torch.Tensor:
    """A copy between two pages that may not be touched, right before the one or right behind the other."""
    n_bytes = tensor.numel() * tensor.element_size()
    if not n_bytes:
        return tensor
    pages = -(-n_bytes // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    assert not protect(base, PAGE, 0) and not protect(base + (pages + 1) * PAGE, PAGE, 0)
    begin = PAGE + (pages * PAGE - n_bytes if edge == "end" else 0)
    flat = torch.frombuffer(memory, dtype=tensor.dtype, count=tensor.numel(), offset=begin)
    return flat.as_strided(tensor.shape, tensor.stride()).copy_(tensor)


def unwritten(n_bytes: int) -> torch.Tensor:
    """Memory that holds what nobody may use: every float of it is no number."""
    return MADE["empty"](n_bytes, dtype=torch.uint8).fill_(255)


class Guarded(Workspace):
    """Every piece of it, of exactly the bytes that were asked for, between such pages."""

    def __init__(self, edge: str) -> None:
        super().__init__()
        self.edge, self.kept = edge, []

    def parts(self, *floats: int) -> list[torch.Tensor]:
        return [guarded(unwritten(4 * size).view(torch.float32), self.edge) for size in floats]

    def address(self, n_bytes: int) -> int:
        self.kept.append(guarded(unwritten(-(-max(n_bytes, 1) // ALIGNMENT) * ALIGNMENT), self.edge))
        return self.kept[-1].data_ptr()


@lru_cache
def code_of(isa: str) -> fused.Kernels:
    """Machine code for one set of instructions."""
    return fused.Kernels(isa)


def guard(backend: Any, isa: str, edge: str, in_pieces: bool) -> None:
    """Have a back-end take all its memory between such pages, for as long as this process lives."""

    def of(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda *given, **named: guarded(make(*given, **named), edge)

    def empty(*given: Any, **named: Any) -> torch.Tensor:
        out = guarded(MADE["empty"](*given, **named), edge)
        return out.fill_(float("nan")) if out.is_floating_point() else out.fill_(255)

    torch.empty, torch.zeros, torch.stack = empty, of(MADE["zeros"]), of(MADE["stack"])
    torch.Tensor.repeat = of(REPEAT)
    changes = ("pad", "pixel_shuffle", "pixel_unshuffle")
    winograd.functional = SimpleNamespace(**{name: of(getattr(functional, name)) for name in changes})
    if isa:
        made = code_of(isa)
        made.tables.clear()
        fused.kernels = winograd.kernels = lambda: made
    if in_pieces:
        pieces = Guarded(edge)
        backend.workspace = lambda: pieces


def agrees(name: str, isa: str, spec: Any, tensors: Tensors, direction: str, row: dict[str, Any], threads: int) -> str:
    """How a pass on guarded memory differs from double precision, in words; "" where it does not."""
    torch.set_num_threads(threads)
    backend = import_module(f"{winograd.__package__}.{name}")
    own_workspace = getattr(backend, "workspace", None)
    bias = torch.randn(spec.out_channels)
    form = LAST if row["layout_in"] == "nhwc" else torch.contiguous_format
    for edge, in_pieces in PLACES:
        backend.workspace = own_workspace
        guard(backend, isa, edge, in_pieces)
        runner = backend.prepare(row, spec, direction)
        if not callable(runner):
            runner.pack = partial(_packed, runner.pack, edge)
        given = [
            guarded(tensors[it].contiguous(memory_format=torch.contiguous_format if it == "filter" else form), edge)
            for it in runner.operands
        ]
        for added in (None, guarded(bias, edge)) if direction == "fprop" else (None,):
            wanted = tensors[direction] + (0 if added is None else bias[:, None, None])
            found = passes.run(runner, *given, added)
            error = float((found.double() - wanted).abs().max() / wanted.abs().max())
            if found.shape != wanted.shape or not error < 1e-4:
                return f"{error:.1e} off with the page at the {edge}"
    return ""


def _packed(pack: Callable[..., Any], edge: str, name: str, tensor: torch.Tensor) -> Any:
    out = pack(name, tensor)
    return guarded(out, edge) if isinstance(out, torch.Tensor) and out is not tensor else out


def layer(name: str, dice: random.Random) -> str:
    """Some layer that a back-end takes, with sizes that fill no vector."""
    size = dice.choice({"winograd": (2, 3, 4, 5, 7), "nnpack": (3, 3, 5, 7)}.get(name, (1, 2, 3, 5)))
    groups, stride, dilation, pad = 1, 1, 1, dice.randrange(size)
    if name == "winograd" and size > 3:
        stride = dice.choice((1, 2)) if size < 6 else 2
    elif name == "onednn":
        groups, stride, dilation = dice.choice((1, 1, 2, 3)), dice.choice((1, 2, 3)), dice.choice((1, 1, 2))
    reach = dilation * (size - 1) + 1
    high, wide = (max(reach - 2 * pad, 1) + dice.randrange(14) for _ in "hw")
    channels, filters = (groups * dice.randint(1, 40 // groups) for _ in "ck")
    return (
        f"{dice.choice((1, 3, 5))}x{channels}x{high}x{wide} k{filters} {size}x{size} "
        f"s{stride} p{pad} d{dilation} g{groups}"
    )


def cases(seed: int) -> dict[str, Callable[[], str]]:
    """A fixed list of layers and some by chance, by name."""
    dice = random.Random(seed)
    found = {}
    for name, layers in LAYERS.items():
        for text in (*layers, *(layer(name, dice) for _ in range(RANDOM.get(name, 0)))):
            found.update(of_layer(name, text, dice))
    return found


def of_layer(name: str, text: str, dice: random.Random) -> Iterator[tuple[str, Callable[[], str]]]:
    """The passes of one layer, on one thread and on two."""
    backend = import_module(f"{winograd.__package__}.{name}")
    best = instruction_set()
    sets = [isa for isa in NEEDED if isa == best or best == "avx512"] if name == "winograd" else [""]
    spec = spec_of(text, parse(text)[1])
    tensors = tensors_of(spec)
    for direction in DIRECTIONS:
        rows = [row for row in backend.implementations(spec, direction) if not row["reason"]]
        for isa in sets:
            chosen = dice.sample(rows, ROWS) if isa and len(rows) > ROWS else rows
            for place, row in enumerate(chosen):
                threads = 1 + (place + len(text)) % 2
                said = row.get("label", row["implementation"])
                title = f"{name} {isa + ' ' * bool(isa)}{direction}, {text}, {said}, threads: {threads}"
                yield title, partial(agrees, name, isa, spec, tensors, direction, row, threads)


@needs_kernels
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_small_pass_touches_nothing_beside_its_memory(direction: str) -> None:
    spec = spec_of(PLAIN[0], 1)
    row = next(it for it in winograd.implementations(spec, direction) if it["m"] == 4)
    given = str(instruction_set()), spec, tensors_of(spec), direction, row
    assert not ending(partial(agrees, "winograd", *given, 1))


@needs_kernels
@pytest.mark.long
def test_no_pass_touches_anything_beside_its_memory() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed: {seed}")
    found = endings(__file__, str(seed))
    assert not {name: told for name, told in found.items() if told}, f"seed: {seed}"
    seen = {tuple(name.split(",")[0].split()) for name in found}
    assert {("winograd", isa, way) for isa in NEEDED if isa == "avx2" for way in DIRECTIONS} <= seen
    assert {("torch_gemm", way) for way in DIRECTIONS} <= seen


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("edge", "at"), [("end", 32), ("begin", -1)])
def test_a_guarded_page_is_noticed(edge: str, at: int) -> None:
    def touch() -> str:
        faulthandler.disable()
        ctypes.memset(guarded(torch.zeros(8), edge).data_ptr() + at, 0, 1)
        return "nothing"

    assert ending(touch) == "ended by SIGSEGV"


if __name__ == "__main__":
    chosen = cases(int(sys.argv[1]))
    run_each({name: case for name, case in chosen.items() if all(word in name for word in sys.argv[2:])})
