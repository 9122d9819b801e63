"""Memory of an allocator: who allocated it, and what it seems to hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given
from memories import allocated, trained

KINDS = [
    ("input", 5, 95),
    ("workspace", 21.5, 29),
    ("temporary", 21.5, 45),
    ("activation", 21.5, 60),
    ("activation", 21.5, 145),
    ("unknown", 21.5, None),
    ("activation", 121.5, None),
    ("workspace", 60, 64),
    ("temporary", 60, 68),
    ("temporary", 60, 79),
    ("gradient", 60, 185),
    ("gradient", 60, None),
    ("temporary", 85, 95),
    ("optimizer_state", 85, None),
    ("unknown", None, 60),
    ("temporary", 15, 16),
]


@pytest.mark.parametrize(("kind", "at", "freed"), KINDS)
def test_kinds_follow_from_birth_and_death(tmp_path: Path, kind: str, at: float | None, freed: float | None) -> None:
    given = trained()
    allocated(given, at, freed)
    found = given.open(tmp_path).execute("SELECT kind, is_guessed FROM allocations").fetchall()
    assert found == [(kind, at is not None)]


@pytest.mark.parametrize(
    ("step", "freed", "kind"), [(0, 95, "input"), (0, 115, "input"), (0, None, "unknown"), (1, None, "input")]
)
def test_a_batch_of_a_plain_loop_lives_until_the_next_one_overwrites_it(
    step: int, freed: float | None, kind: str, tmp_path: Path
) -> None:
    given = trained()
    given.op("aten::randn", 100 * step + 12, 100 * step + 18)
    allocated(given, 100 * step + 15, freed)
    assert given.open(tmp_path).execute("SELECT kind FROM allocations").fetchall() == [(kind,)]


def test_what_only_allocates_is_part_of_what_needs_it(tmp_path: Path) -> None:
    given = trained()
    allocated(given, 21.5, 60)
    allocated(given, 42.5, 60)
    found = given.open(tmp_path).execute(
        "SELECT op_name, layer, phase, step, freed_op_name, freed_phase, freed_step FROM allocations ORDER BY id"
    )
    assert found.fetchall() == [
        ("aten::mm", "net.fc", None, 0, "aten::mm", "backward", 0),
        ("aten::empty", None, None, 0, "aten::mm", "backward", 0),
    ]


@pytest.mark.parametrize(("sequence", "kind"), [(7, "activation"), (None, "temporary")])
def test_without_a_backward_pass_what_outlives_the_layers_is_kept_for_one(
    sequence: int | None, kind: str, tmp_path: Path
) -> None:
    """Operators that run with gradients have numbers of autograd; without them it is a cache, or a result."""
    given = Given()
    given.span("step", "0", 0, 100)
    given.span("module", "net.a (Linear)", 10, 20)
    given.span("module", "net.b (Linear)", 30, 40)
    given.op("aten::mm", 12, 15)
    given.op("aten::mm", 32, 35)
    given.rows["ops"][0]["sequence"] = sequence
    allocated(given, 13, 60)
    allocated(given, 13, 31)
    found = given.open(tmp_path).execute("SELECT kind FROM allocations ORDER BY id").fetchall()
    assert found == [(kind,), ("temporary",)]


def test_a_noted_kind_is_no_guess(tmp_path: Path) -> None:
    given = trained()
    allocated(given, None, None, how="noted", kind="parameter", label="fc.weight")
    found = given.open(tmp_path).execute("SELECT kind, is_guessed, label FROM allocations").fetchall()
    assert found == [("parameter", False, "fc.weight")]


def test_the_line_of_a_recorded_stack_is_the_users_own(tmp_path: Path) -> None:
    given = Given()
    stack = "/x/aten/Alloc.cpp:12 malloc\n/venv/site-packages/torch/nn/linear.py:5 forward\n/home/me/net.py:42 step"
    allocated(given, 1, 2, call_stack=stack)
    assert given.open(tmp_path).execute("SELECT file, line FROM allocations").fetchall() == [("/home/me/net.py", 42)]
