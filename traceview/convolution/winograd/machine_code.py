"""A small assembler for x86-64 vector code (AVX2, AVX-512): what the fused Winograd kernels are made of.

It knows the dozen instructions that they need, takes addresses of the form [register + displacement] alone, and puts
the finished code into memory that can be executed and no longer written.
Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
from collections.abc import Callable
from pathlib import Path

RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 = range(16)
SAVED = (RBX, RBP, R12, R13, R14, R15)
"""Registers that a function has to leave as they were (System V ABI)."""

FLOAT_BYTES = 4
NEEDED = {"avx512": {"avx512f", "avx512dq", "avx512vl", "fma"}, "avx2": {"avx2", "fma"}}
LANES = {"avx512": 16, "avx2": 8}
REGISTERS = {"avx512": 32, "avx2": 16}
PREFIX_NONE, PREFIX_66 = 0, 1
MAP_0F, MAP_0F38 = 1, 2


def instruction_set() -> str | None:
    """The widest one that this processor and this file have in common: avx512, avx2, or None."""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return None
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    flags = set(next((line for line in text.splitlines() if line.startswith("flags")), "").split())
    return next((name for name, needed in NEEDED.items() if needed <= flags), None)


class Code:
    """Instructions, one after the other; `finish` makes a function of them."""

    def __init__(self, isa: str) -> None:
        self.isa = isa
        self.lanes = LANES[isa]
        self.vector_bytes = FLOAT_BYTES * self.lanes
        self.registers = REGISTERS[isa]
        self.text = bytearray()

    # Vectors

    def load(self, to: int, base: int, at: int) -> None:
        """A vector from memory, at any address."""
        self._vector(PREFIX_NONE, MAP_0F, 0x10, to, 0, (base, at))

    def store(self, value: int, base: int, at: int) -> None:
        """A vector to memory, at any address."""
        self._vector(PREFIX_NONE, MAP_0F, 0x11, value, 0, (base, at))

    def broadcast(self, to: int, base: int, at: int) -> None:
        """One number from memory into every lane."""
        self._vector(PREFIX_66, MAP_0F38, 0x18, to, 0, (base, at), scale=FLOAT_BYTES)

    def zero(self, to: int) -> None:
        """0 in every lane."""
        self._vector(PREFIX_66, MAP_0F, 0xEF, to, to, to)

    def add(self, to: int, one: int, other: int | tuple[int, int]) -> None:
        """to = one + other."""
        self._vector(PREFIX_NONE, MAP_0F, 0x58, to, one, other)

    def subtract(self, to: int, one: int, other: int | tuple[int, int]) -> None:
        """to = one - other."""
        self._vector(PREFIX_NONE, MAP_0F, 0x5C, to, one, other)

    def multiply(self, to: int, one: int, other: int | tuple[int, int]) -> None:
        """to = one * other."""
        self._vector(PREFIX_NONE, MAP_0F, 0x59, to, one, other)

    def multiply_add(self, to: int, one: int, other: int | tuple[int, int]) -> None:
        """to += one * other, rounded once."""
        self._vector(PREFIX_66, MAP_0F38, 0xB8, to, one, other)

    def multiply_subtract(self, to: int, one: int, other: int | tuple[int, int]) -> None:
        """to -= one * other, rounded once."""
        self._vector(PREFIX_66, MAP_0F38, 0xBC, to, one, other)

    def _vector(
        self,
        prefix: int,
        opcode_map: int,
        opcode: int,
        reg: int,
        second: int,
        third: int | tuple[int, int],
        scale: int | None = None,
    ) -> None:
        rm = third[0] if isinstance(third, tuple) else third
        # Of a register above 15, EVEX keeps the fifth bit in X.
        high = 0 if isinstance(third, tuple) else rm >> 4
        if self.isa == "avx512":
            inverted = (~reg >> 3 & 1) << 7 | (~high & 1) << 6 | (~rm >> 3 & 1) << 5 | (~reg >> 4 & 1) << 4
            self.text += bytes((0x62, inverted | opcode_map, (~second & 15) << 3 | 4 | prefix))
            self.text.append(2 << 5 | (~second >> 4 & 1) << 3)
        else:
            inverted = (~reg >> 3 & 1) << 7 | 1 << 6 | (~rm >> 3 & 1) << 5
            self.text += bytes((0xC4, inverted | opcode_map, (~second & 15) << 3 | 4 | prefix))
        self.text.append(opcode)
        if isinstance(third, tuple):
            unit = (scale or self.vector_bytes) if self.isa == "avx512" else 1
            self._memory(reg, rm, third[1], unit)
        else:
            self.text.append(0xC0 | (reg & 7) << 3 | rm & 7)

    def _memory(self, reg: int, base: int, at: int, unit: int = 1) -> None:
        """ModRM for [base + at]; EVEX counts short displacements in units of the operand."""
        is_short = at % unit == 0 and -128 <= at // unit < 128
        self.text.append((0x40 if is_short else 0x80) | (reg & 7) << 3 | base & 7)
        if base & 7 == RSP:
            self.text.append(0x24)
        self.text += struct.pack("<b", at // unit) if is_short else _signed(at)

    # Numbers and addresses

    def move(self, to: int, value: int) -> None:
        """to = value, of two registers."""
        self._wide(0x89, value, to)

    def constant(self, to: int, value: int) -> None:
        """A number of 64 bits."""
        self.text += bytes((0x48 | to >> 3, 0xB8 | to & 7)) + struct.pack("<q", value)

    def read(self, to: int, base: int, at: int) -> None:
        """64 bits from memory."""
        self.text += bytes((0x48 | (to >> 3) << 2 | base >> 3, 0x8B))
        self._memory(to, base, at)

    def advance(self, register: int, by: int) -> None:
        """register += by, a constant of 32 bits."""
        if by:
            self.text += bytes((0x48 | register >> 3, 0x81, 0xC0 | register & 7)) + _signed(by)

    def advance_by(self, register: int, other: int) -> None:
        """register += other."""
        self._wide(0x01, other, register)

    def _wide(self, opcode: int, reg: int, rm: int) -> None:
        self.text += bytes((0x48 | (reg >> 3) << 2 | rm >> 3, opcode, 0xC0 | (reg & 7) << 3 | rm & 7))

    # Order

    def repeat(self, counter: int, body: Callable[[], None]) -> None:
        """`body` as often as the register says, which is at least once and counts down to 0."""
        start = len(self.text)
        body()
        self.text += bytes((0x48 | counter >> 3, 0xFF, 0xC8 | counter & 7))  # dec
        self.text += b"\x0f\x85" + _signed(start - len(self.text) - 6)  # jnz

    def enter(self, scratch_bytes: int = 0) -> None:
        """Begin a function; RBX is the address of memory of its own, on a boundary of 64 bytes."""
        for register in SAVED:
            self._push(register)
        self.move(RBP, RSP)
        if scratch_bytes:
            self.advance(RSP, -scratch_bytes - 64)
            self.text += b"\x48\x83\xe4\xc0"  # and rsp, -64
            self.move(RBX, RSP)

    def leave(self) -> None:
        """End it."""
        self.move(RSP, RBP)
        for register in reversed(SAVED):
            self.text += bytes((0x41,) if register >> 3 else ()) + bytes((0x58 | register & 7,))
        self.text += b"\xc5\xf8\x77\xc3"  # vzeroupper, ret

    def _push(self, register: int) -> None:
        self.text += bytes((0x41,) if register >> 3 else ()) + bytes((0x50 | register & 7,))

    def finish(self, arguments: int) -> Function:
        """The code as a function of `arguments` addresses and numbers (at most 6). Raises OSError where memory may not
        be made executable."""
        return Function(bytes(self.text), arguments)


def _signed(value: int) -> bytes:
    """A number of 32 bits. Raises OSError where it has more."""
    if not -(1 << 31) <= value < 1 << 31:
        raise OSError(f"an offset of {value} bytes, and they have 32 bits")
    return struct.pack("<i", value)


class Function:
    """Code in memory; it can be called for as long as this object lives."""

    def __init__(self, text: bytes, arguments: int) -> None:
        self.memory = mmap.mmap(-1, len(text), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.memory.write(text)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        if protect(self.address, len(text), mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(ctypes.get_errno(), "memory may not be made executable here")
        self.call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * arguments)(self.address)
