"""The machine code touches nothing but its tensors and its workspace: each of them ends, or begins, at a page that ends
the process that touches it."""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os

import pytest

torch = pytest.importorskip("torch")

from convolutions import spec_of, tensors_of  # noqa: E402
from plans import needs_kernels  # noqa: E402

from traceview.experiments.backends import winograd  # noqa: E402
from traceview.experiments.backends.workspace import Workspace  # noqa: E402
from traceview.experiments.layers import parse  # noqa: E402

LAST = torch.channels_last
PAGE = mmap.PAGESIZE


def guarded(tensor: torch.Tensor, edge: str) -> torch.Tensor:
    """A copy between two pages that may not be touched, right before the one or right behind the other."""
    n_bytes = 4 * tensor.numel()
    pages = -(-n_bytes // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    assert not protect(base, PAGE, 0) and not protect(base + (pages + 1) * PAGE, PAGE, 0)
    begin = PAGE + (pages * PAGE - n_bytes if edge == "end" else 0)
    flat = torch.frombuffer(memory, dtype=torch.float32, count=tensor.numel(), offset=begin)
    if tensor.dim() == 4 and tensor.is_contiguous(memory_format=LAST):
        images, channels, high, wide = tensor.shape
        return flat.view(images, high, wide, channels).permute(0, 3, 1, 2).copy_(tensor)
    return flat.view(tensor.shape).copy_(tensor)


class Guarded(Workspace):
    """Every piece of it between such pages."""

    edge = "end"

    def parts(self, *floats: int) -> list[torch.Tensor]:
        return [guarded(torch.zeros(max(size, 16)), self.edge) for size in floats]


def touched(text: str) -> int:
    """How a child ends that runs every pass on guarded memory: 0 where that was right, below 0 by a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        code = 0 if agrees(text) else 1
    finally:
        os._exit(code)


def agrees(text: str) -> bool:
    """Whether every pass is right on guarded memory."""
    spec = spec_of(text, parse(text)[1])
    tensors, b = tensors_of(spec), torch.randn(spec.out_channels)
    x, w, g = tensors["input"], tensors["filter"], tensors["grad_output"]
    wanted = tensors["fprop"] + b[:, None, None], tensors["dgrad"], tensors["wgrad"]
    guard = Guarded()
    winograd.workspace = lambda: guard
    is_right = True
    for edge in ("end", "begin"):
        guard.edge = edge
        given = [guarded(it.contiguous(memory_format=LAST), edge) for it in (x, g)]
        w_, b_ = guarded(w.contiguous(), edge), guarded(b, edge)
        for row in winograd.implementations(spec, "fprop"):
            made = [winograd.prepare(row, spec, name) for name in ("fprop", "dgrad", "wgrad")]
            found = made[0](given[0], w_, b_), made[1](given[1], w_), made[2](*given)
            for one, other in zip(found, wanted, strict=True):
                is_right &= float((one - other).abs().max()) < 1e-4 * float(other.abs().max())
    return is_right


@needs_kernels
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "text",
    [
        "1x32x7x7 k16 3x3 p1",
        "2x17x9x9 k5 3x3 p1",
        pytest.param("2x16x13x11 k32 5x5 p2", marks=pytest.mark.long),
        pytest.param("3x48x9x8 k64 3x3", marks=pytest.mark.long),
        pytest.param("2x16x15x15 k16 3x3 s2 p1", marks=pytest.mark.long),
        pytest.param("2x16x6x6 k16 2x2 p1", marks=pytest.mark.long),
    ],
)
def test_nothing_beside_the_tensors_is_touched(text: str) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert touched(text) == 0
    finally:
        torch.set_num_threads(before)


def test_a_guarded_page_is_noticed() -> None:
    child = os.fork()
    if not child:
        faulthandler.disable()
        ctypes.memset(guarded(torch.zeros(8), "end").data_ptr() + 32, 0, 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) < 0
