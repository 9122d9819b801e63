"""The assembler: what it makes computes what it says, with AVX2 and AVX-512."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from traceview.convolution.winograd.machine_code import (  # noqa: E402
    LANES,
    R12,
    RBX,
    RDI,
    RDX,
    RSI,
    Code,
    instruction_set,
)

pytestmark = pytest.mark.skipif(instruction_set() is None, reason="needs AVX2 under Linux")


@pytest.mark.parametrize("isa", LANES)
def test_arithmetic_addresses_and_loops(isa: str) -> None:
    if isa == "avx512" and instruction_set() != "avx512":
        pytest.skip("no AVX-512 here")
    code = Code(isa)
    size, top = code.vector_bytes, code.registers - 1
    code.enter(2 * size)
    code.constant(R12, 3)

    def body() -> None:
        code.load(0, RDI, 0)
        code.load(top, RSI, size)
        code.add(1, 0, top)
        code.multiply_add(1, 0, (RSI, size))
        code.broadcast(2, RDI, 4)
        code.multiply_subtract(1, 2, top)
        code.store(1, RBX, size)
        code.zero(3)
        code.subtract(3, 3, (RBX, size))
        code.multiply(3, 3, 0)
        code.store(3, RDX, 4 * 300)
        code.advance(RDI, size)
        code.advance(RDX, size)

    code.repeat(R12, body)
    code.leave()
    function = code.finish(3)
    lanes = code.lanes
    a, b, out = torch.randn(3 * lanes), torch.randn(2 * lanes), torch.full((300 + 4 * lanes,), 7.0)
    function.call(a.data_ptr(), b.data_ptr(), out.data_ptr())
    for turn in range(3):
        one, other = a[turn * lanes :][:lanes], b[lanes:]
        wanted = -(one + other + one * other - one[1] * other) * one
        assert torch.allclose(out[300 + turn * lanes :][:lanes], wanted, atol=1e-5)
    assert (out[:300] == 7).all() and (out[300 + 3 * lanes :] == 7).all(), "nothing else is written"


def test_code_cannot_be_written_once_it_runs() -> None:
    code = Code(str(instruction_set()))
    code.enter()
    code.leave()
    function = code.finish(0)
    function.call()
    lines = Path("/proc/self/maps").read_text(encoding="ascii").splitlines()
    here = next(line for line in lines if int(line.split("-")[0], 16) <= function.address < _end(line))
    assert here.split()[1] == "r-xp"


def _end(line: str) -> int:
    return int(line.split()[0].split("-")[1], 16)
