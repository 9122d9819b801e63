"""Allocations that hold what XLA assigned to a program: by its execution and size, else by size alone as a guess."""

from __future__ import annotations

from pathlib import Path

from given import Given, rows
from memories import allocated

PIECES = (
    ("jit_step", "output", 700), ("jit_step", "temporary", 900), ("jit_step", "argument", 40),
    ("jit_step", "output", 55), ("jit_step", "temporary", 55), ("jit_step", "thread_local", 3),
    ("jit_other", "aliased", 60), ("jit_other", "output", 40), ("jit_other", "temporary", 700),
    ("jit_more", "temporary", 900), ("jit_other", "argument", 80),
)  # fmt: skip


def ran(is_named: bool = True) -> Given:
    """A program runs from 10 to 50 us, and itself from 20 on, when its memory has been allocated."""
    given = Given()
    for number, (module, kind, size) in enumerate(PIECES):
        given.add("program_buffers", module=module, program=1, buffer=number, kind=kind, size_bytes=size)
    for at in (10, 110):
        given.span("user", "PjRtStreamExecutorLoadedExecutable::EnqueueExecution", at, at + 40)
        if is_named:
            given.span("user", "jit_step:XLA GPU module", at + 10, at + 39)
    return given


def kinds(given: Given, folder: Path) -> list[tuple[object, ...]]:
    """Kind, guess and program by size, of allocations that were made in the order of their sizes."""
    return rows(given.open(folder), "SELECT size_bytes, kind, is_guessed, program FROM allocations ORDER BY id")


def test_within_an_execution_only_its_results_and_its_temporary_buffer_are_allocated(tmp_path: Path) -> None:
    given = ran()
    # What is asked for counts, not what the allocator makes of it.
    for at, size, asked in ((11, 768, 700), (12, 900, 900), (13, 40, 40), (14, 55, 55), (112, 900, None)):
        allocated(given, at, at + 30, size_bytes=size, asked_bytes=asked, device=0)
    assert kinds(given, tmp_path) == [
        (768, "output", False, "jit_step"),
        (900, "temporary", False, "jit_step"),
        (40, "unknown", True, None),  # an argument of this size is allocated before
        (55, "unknown", True, None),  # either of two
        (900, "temporary", False, "jit_step"),
    ]


def test_elsewhere_a_size_that_only_one_kind_of_piece_has_is_a_guess(tmp_path: Path) -> None:
    given = ran()
    for at, size in ((2, 80), (3, 60), (51, 40), (52, 700), (53, 900), (54, 12)):
        allocated(given, at, at + 100, size_bytes=size, device=0)
    allocated(given, None, 60, size_bytes=80, device=0)
    assert kinds(given, tmp_path) == [
        (80, "argument", True, "jit_other"),
        (60, "argument", True, "jit_other"),
        (40, "unknown", True, None),  # an argument of one program, a result of another
        (700, "unknown", True, None),
        (900, "temporary", True, None),  # of either of two programs
        (12, "unknown", True, None),
        (80, "argument", True, "jit_other"),  # from before the recording
    ]


def test_an_execution_of_an_unknown_program_says_nothing(tmp_path: Path) -> None:
    """Nor does one whose program has begun before the allocation."""
    given = ran(is_named=False)
    given.span("user", "jit_step:XLA GPU module", 15, 19)
    for at in (12, 16, 25, 112):
        allocated(given, at, at + 20, size_bytes=700, device=0)
    assert [kind for _, kind, _, _ in kinds(given, tmp_path)] == ["output", "unknown", "unknown", "unknown"]


def test_memory_of_another_thread_or_with_an_operator_is_not_the_programs(tmp_path: Path) -> None:
    given = ran()
    allocated(given, 11, 40, size_bytes=700, device=0, tid=2)
    given.op("aten::mm", 12, 14)
    allocated(given, 13, 40, size_bytes=900, device=0)
    found = rows(given.open(tmp_path), "SELECT size_bytes, program FROM allocations ORDER BY id")
    assert found == [(700, None), (900, None)]
