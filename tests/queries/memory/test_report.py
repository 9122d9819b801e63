"""Who holds the peak, what stays, what is allocated all the time, and what changes would save."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected
from given import Given, pick, section, write
from memories import BACKWARD, allocated, trained


def held() -> Given:
    """Memory of two steps; most is allocated at 260 us, in the backward pass of the second."""
    given = trained()
    given.device("V100", memory_bytes=100_000)
    facts = {"device": 0}
    allocated(given, None, None, how="before", size_bytes=1000, **facts)
    for at in (0, 100):
        allocated(given, at + 5, at + 95, size_bytes=100, **facts)
        allocated(given, at + 21.5, at + 66, size_bytes=2000, **facts)
        allocated(given, at + 21.5, at + 29, size_bytes=10_000 - at * 50, **facts)
        allocated(given, at + 60, at + 185 if at == 0 else None, size_bytes=400, **facts)
        allocated(given, at + 25, None, size_bytes=24, **facts)
    return given


def test_the_peak_and_what_it_holds(tmp_path: Path) -> None:
    capture = held().open(tmp_path)
    (moment,) = pick(section(capture, "memory/moment"), "device", "peak_bytes", "before_bytes", "pieces", "step", "op")
    # The workspace of the first step: 1000 before, 100 of input, 2000 kept, 10000 for the product itself, 24 left.
    assert moment == (0, 13_124, 1000, 4, 0, "aten::mm")
    kinds = section(capture, "memory/kinds")
    assert pick(kinds, "kind", "pieces", "size_bytes", "guessed_pct") == [
        ("workspace", 1, 10_000, 100.0),
        ("activation", 1, 2000, 100.0),
        ("unknown", 1, 1024, 100.0 * 24 / 1024),
        ("input", 1, 100, 100.0),
    ]
    assert sum(row["size_bytes"] for row in kinds) == 13_124
    owners = section(capture, "memory/owners")
    assert sum(row["size_bytes"] for row in owners) == 13_124
    assert pick(owners, "kind", "owner", "op")[0] == ("workspace", "net.fc", "aten::mm")
    assert ("unknown", "(before the recording)", None) in pick(owners, "kind", "owner", "op")


def test_areas_add_up_to_what_is_allocated(tmp_path: Path) -> None:
    capture = held().open(tmp_path)
    rows = section(capture, "blocks/areas")
    (peak,) = {row["at_ns"] for row in rows if row["is_peak"]}
    sums = dict(capture.execute("SELECT at_ns, max(sum_bytes) FROM memory_events GROUP BY at_ns").fetchall())
    assert sum(row["size_bytes"] for row in rows if row["at_ns"] == peak) == sums[peak] == 13_124
    assert {row["kind"]: row["size_bytes"] for row in rows if row["at_ns"] == 0} == {
        "unknown": 1000, "gradient": 0, "input": 0, "activation": 0, "workspace": 0,
    }, "what was there before the step"  # fmt: skip
    assert max(row["at_ns"] for row in rows) == 100_001, "the step of the peak, and no more"


def test_what_steps_leave_behind(tmp_path: Path) -> None:
    """Three steps leave 24 bytes each; the last may yet release them, and gradients are replaced."""
    given = Given()
    for step in range(4):
        at = 100 * step
        given.span("step", str(step), at, at + 100)
        given.op("aten::zeros", at + 10, at + 20)
        given.op(BACKWARD, at + 50, at + 70)
        allocated(given, at + 15, None, size_bytes=24)
        allocated(given, at + 60, at + 105 if step < 3 else None, size_bytes=400)
    found = section(given.open(tmp_path), "memory/growth")
    assert pick(found, "op", "pieces", "left_bytes", "steps", "of_steps", "step_bytes") == [
        ("aten::zeros", 3, 72, 3, 3, 24.0)
    ]


def test_one_step_that_allocates_for_good_is_no_leak(tmp_path: Path) -> None:
    given = trained()
    allocated(given, 85, None, size_bytes=400)
    assert section(given.open(tmp_path), "memory/growth") == []


def test_what_is_allocated_most_often(tmp_path: Path) -> None:
    found = section(held().open(tmp_path), "memory/churn")
    assert pick(found, "op", "phase", "pieces", "size_bytes", "allocator_ns")[0] == (
        "aten::mm", None, 2.0, (2 * 2000 + 10_000 + 5000) / 2, 1000.0,
    )  # fmt: skip


def test_reserved_and_not_allocated(tmp_path: Path) -> None:
    given = Given()
    given.device("V100", memory_bytes=1000)
    for at, allocated_bytes, reserved_bytes in ((10, 100, 300), (20, 200, 250), (20, 150, 500)):
        for name, value in (("allocated_bytes", allocated_bytes), ("reserved_bytes", reserved_bytes)):
            given.add("counters", start_ns=at * 1000, device=0, name=name, value=value)
    for value in (60, 1e300):
        given.add("counters", start_ns=20_000, device=0, name="largest_free_bytes", value=value)
    found = section(given.open(tmp_path), "memory/fragmentation")
    assert pick(found, "largest_free_bytes") == [(60,)]
    assert pick(
        found, "at_ns", "allocated_bytes", "reserved_bytes", "unused_pct", "most_unused_bytes", "memory_pct"
    ) == [(20_000, 200, 250, 20.0, 350, 50.0)]


def blocks() -> Given:
    """A step whose peak is in the last block's backward pass: three blocks keep 1000, 2000 and 4000 bytes."""
    given = Given()
    given.device("V100", memory_bytes=100_000)
    given.add("ranks", world_size=4)
    given.span("step", "0", 0, 100)
    given.span("module", "net (Net)", 9, 42)
    for place, size in enumerate((1000, 2000, 4000)):
        at = 10 * place + 10
        given.span("module", f"blocks.{place} (Block)", at, at + 9)
        given.op("aten::mm", at + 1, at + 5, [(4, 4), (4, 4)])
        given.kernel("gemm", at + 2, at + 4, launched=at + 2)
        allocated(given, at + 2, 90, size_bytes=size, device=0)
    given.rows["ops"][-1]["sequence"] = 7
    given.add("ops", name=BACKWARD, pid=1, tid=1, start_ns=50_000, dur_ns=30_000, sequence=7, forward_thread=1)
    allocated(given, 60, None, size_bytes=500, device=0)
    allocated(given, None, None, how="noted", kind="optimizer_state", size_bytes=800, device=0)
    allocated(given, None, None, how="noted", kind="parameter", size_bytes=400, device=0)
    return given


@pytest.mark.slow
def test_bounds_of_changes(tmp_path: Path) -> None:
    found = section(blocks().open(tmp_path), "memory/what_if")
    rows = {row["change"]: row for row in found}
    assert rows["a larger batch"]["batch_factor"] == (100_000 - 800 - 400 - 500) / 7000
    checkpointed = rows["checkpointing of each Block (3 of them)"]
    assert (checkpointed["saved_bytes"], checkpointed["cost_ns"]) == (3000, 6000), "all but the largest, again"
    assert rows["activations in half precision"]["saved_bytes"] == 3500
    assert rows["optimizer state in 8 bits"]["saved_bytes"] == 600
    assert "gradients released before the forward pass" not in rows, "the peak is in the backward pass"


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["aten::nll_loss_forward", BACKWARD])
def test_checkpointing_saves_the_activations_of_all_modules_where_none_is_computed_again_at_the_peak(
    operator: str, tmp_path: Path
) -> None:
    """The peak of a language model is at its loss, or in the backward pass of that."""
    given = blocks()
    given.op(operator, 45, 48)
    allocated(given, 46, 47, size_bytes=700, device=0)
    rows = {row["change"]: row for row in section(given.open(tmp_path), "memory/what_if")}
    checkpointed = rows["checkpointing of each Block (3 of them)"]
    assert (checkpointed["saved_bytes"], checkpointed["cost_ns"]) == (7000, 6000)
    assert "none is held" in checkpointed["assumes"]


@pytest.mark.slow
def test_modules_that_are_computed_again_already_are_offered_no_checkpoint(tmp_path: Path) -> None:
    given = blocks()
    given.span("module", "blocks.1 (Block)", 55, 58)
    changes = {row["change"]: row["saved_bytes"] for row in section(given.open(tmp_path), "memory/what_if")}
    assert changes["checkpointing of each Block (2 of them)"] == 1000
    given.span("module", "blocks.0 (Block)", 60, 63)
    changes = {row["change"]: row["saved_bytes"] for row in section(given.open(tmp_path / "all"), "memory/what_if")}
    assert not [change for change in changes if "checkpointing" in change], "one alone is there again in its own pass"


@pytest.mark.slow
@pytest.mark.parametrize("sequence", [7, None])
def test_without_a_backward_pass_nothing_is_kept_for_one(sequence: int | None, tmp_path: Path) -> None:
    """An evaluation, with gradients or without: there is no pass for which a checkpoint would be computed again."""
    given = blocks()
    given.rows["ops"] = [row | {"sequence": sequence} for row in given.rows["ops"] if row["name"] != BACKWARD]
    changes = {row["change"] for row in section(given.open(tmp_path), "memory/what_if")}
    assert "a larger batch" in changes
    assert not {change for change in changes if "checkpointing" in change or "half precision" in change}


@pytest.mark.slow
def test_the_batch_is_bounded_by_the_moment_that_grows(tmp_path: Path) -> None:
    """Today the optimizer needs most, which is the same for any batch; of a larger one the activations do."""
    given = trained()
    given.device("V100", memory_bytes=10_000)
    allocated(given, None, None, how="noted", kind="parameter", size_bytes=500, device=0)
    for at in (0, 100):
        allocated(given, at + 21, at + 65, size_bytes=1000, device=0)
        allocated(given, at + 83, at + 89, size_bytes=3000, device=0)
    capture = given.open(tmp_path)
    assert pick(section(capture, "memory/moment"), "peak_bytes", "phase") == [(3500, "optimizer")]
    (row,) = [row for row in section(capture, "memory/what_if") if row["change"] == "a larger batch"]
    assert row["batch_factor"] == (10_000 - 500) / 1000


@pytest.mark.slow
def test_gradients_that_are_copied_elsewhere_do_not_grow_with_the_batch(tmp_path: Path) -> None:
    """3000 bytes of the backward pass: with autocast and under DistributedDataParallel products make such ones."""
    given = blocks()
    given.op("aten::t", 62, 72)
    allocated(given, 63, 71, size_bytes=3000, device=0)
    (row,) = [row for row in section(given.open(tmp_path), "memory/what_if") if row["change"] == "a larger batch"]
    assert row["batch_factor"] == (100_000 - 800 - 400 - 500 - 3000) / 7000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "scatters", "is_named"),
    [("aten::_to_copy", False, False), ("aten::stack", False, True), ("aten::stack", True, False)],
)
def test_no_batch_is_named_where_copies_or_gathered_parameters_are_most(
    operator: str, scatters: bool, is_named: bool, tmp_path: Path
) -> None:
    """FSDP gathers parameters that it then lets go; autocast copies them to another type."""
    given = blocks()
    given.op(operator, 40, 45)
    allocated(given, 41, 46, size_bytes=8000, device=0)
    if scatters:
        given.op("c10d::_reduce_scatter_base_", 81, 82)
    changes = {row["change"] for row in section(given.open(tmp_path), "memory/what_if")}
    assert ("a larger batch" in changes) == is_named


def test_no_batch_is_named_where_most_of_what_may_grow_is_of_an_unknown_kind(tmp_path: Path) -> None:
    given = blocks()
    allocated(given, 95, None, size_bytes=7000, device=0)
    assert "a larger batch" in {row["change"] for row in section(given.open(tmp_path / "a"), "memory/what_if")}
    given = blocks()
    allocated(given, 85, None, size_bytes=7001, device=0)
    assert "a larger batch" not in {row["change"] for row in section(given.open(tmp_path / "b"), "memory/what_if")}


@pytest.mark.slow
def test_nothing_is_said_without_allocations(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::mm", 1, 5)
    capture = given.open(tmp_path)
    for name in ("moment", "kinds", "owners", "growth", "churn", "fragmentation", "what_if"):
        assert section(capture, f"memory/{name}") == [], name


@pytest.mark.slow
def test_channels_last_and_gradients_at_a_peak_in_the_backward_pass(tmp_path: Path) -> None:
    given = Given()
    given.device("Intel(R) Xeon(R) Processor", kind="cpu")
    given.about = {"memory_bytes": 100_000}
    for at in (0, 100):
        given.span("step", f"{at}", at, at + 100)
        given.span("module", "net.conv (Conv2d)", at + 10, at + 40)
        given.op("aten::mkldnn_convolution", at + 10, at + 40)
        allocated(given, at + 12, at + 38, size_bytes=700)
        allocated(given, at + 20, at + 70, size_bytes=100)
        given.op(BACKWARD, at + 50, at + 80)
        allocated(given, at + 60, None if at else at + 198, size_bytes=50)
    rows = {row["change"]: row for row in section(given.open(tmp_path), "memory/what_if")}
    assert rows["channels_last"]["saved_bytes"] == 700
    assert rows["gradients released before the forward pass"]["saved_bytes"] == 50
    assert rows["a larger batch"]["batch_factor"] == (100_000 - 50) / 800


@pytest.mark.slow
def test_what_is_counted_beside_what_is_resident(tmp_path: Path) -> None:
    given = trained()
    given.about = {
        "resident": {"start": {"bytes": 9000, "most_bytes": 9500}, "end": {"bytes": 9700, "most_bytes": 9900}}
    }
    allocated(given, None, None, how="noted", kind="parameter", size_bytes=400)
    allocated(given, 5, 95, size_bytes=100)
    assert section(given.open(tmp_path), "memory/counted") == [
        {"rank": 0, "start_bytes": 9000, "end_bytes": 9700, "grown_bytes": 700, "most_bytes": 9900, "noted_bytes": 400,
         "peak_bytes": 500, "other_bytes": 8600}
    ]  # fmt: skip


def test_without_a_note_of_what_is_resident_there_is_no_row(tmp_path: Path) -> None:
    assert section(trained().open(tmp_path), "memory/counted") == []


def test_workspaces_of_convolutions_beside_their_formula(tmp_path: Path) -> None:
    """An unrolled input of 4 x 3 x 3 x 3 x 8 x 8 floats, and one that stays."""
    given = Given()
    for step in (0, 1):
        at = 100 * step
        given.span("step", str(step), at, at + 100)
        given.span("module", "net.conv (Conv2d)", at + 9, at + 41)
        shapes = [[4, 3, 8, 8], [16, 3, 3, 3], [], [], [], [], [], [], []]
        given.op("aten::conv2d", at + 10, at + 40, shapes, ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "", ""])
        given.op("aten::_slow_conv2d_forward", at + 12, at + 38)
        allocated(given, at + 14, at + 36, size_bytes=4 * 27 * 64 * 4)
        allocated(given, at + 15, at + 20, size_bytes=8)
        allocated(given, at + 21, at + 30, size_bytes=24)
        allocated(given, at + 16, at + 90, size_bytes=4 * 16 * 64 * 4)
    found = section(given.open(tmp_path), "memory/workspace")
    columns = ("layer", "direction", "algorithm", "calls", "workspace_bytes", "model_workspace_bytes")
    assert pick(found, *columns) == [("net.conv", "fprop", "explicit_gemm", 2, 4 * 27 * 64 * 4 + 24, 4 * 27 * 64 * 4)]


@pytest.mark.slow
def test_optimizer_state_sharded_over_the_ranks_of_the_job(tmp_path: Path) -> None:
    """A quarter of 800 bytes of state is left on each of four ranks; about a job of one rank nothing is said."""
    ranks = []
    for rank, state in ((0, 800), (1, 1200)):
        given = Given(rank)
        given.op("aten::mm", 1, 5)
        allocated(given, None, None, how="noted", kind="optimizer_state", size_bytes=state, device=0)
        allocated(given, None, None, how="noted", kind="parameter", size_bytes=400, device=0)
        ranks.append(given)
    write(tmp_path / "job", *ranks, world_size=4)
    found = section(connected(tmp_path / "job"), "memory/what_if")
    assert pick(found, "rank", "device", "change", "saved_bytes", "saved_pct") == [
        (0, 0, "optimizer state in 8 bits", 600, 50.0),
        (0, 0, "optimizer state sharded over 4 ranks", 600, 50.0),
        (1, 0, "optimizer state in 8 bits", 900, 56.25),
        (1, 0, "optimizer state sharded over 4 ranks", 900, 56.25),
    ]
    write(tmp_path / "alone", ranks[0], world_size=1)
    alone = section(connected(tmp_path / "alone"), "memory/what_if")
    assert pick(alone, "change") == [("optimizer state in 8 bits",)]


@pytest.mark.parametrize(
    ("dtypes", "state_bytes", "saved_bytes"),
    [(["float32"], 400, 600), (["bfloat16"], 200, 200), (["bfloat16"], 400, 600), (["float32"], 100, None),
     (["bfloat16", "float32"], 400, 600)],
)  # fmt: skip
def test_eight_bits_save_what_the_state_is_wider(
    dtypes: list[str], state_bytes: int, saved_bytes: int | None, tmp_path: Path
) -> None:
    """A hundred elements and two pieces of state for each, one of which counts steps: it stays."""
    given = Given()
    given.about = {"model": {"parameter_dtypes": dtypes}}
    given.op("aten::mm", 1, 5)
    size = 400 if "float32" in dtypes else 200
    allocated(given, None, None, how="noted", kind="parameter", label="fc.weight", size_bytes=size)
    for name in ("exp_avg", "exp_avg_sq"):
        facts = {"kind": "optimizer_state", "label": f"fc.weight.{name}", "size_bytes": state_bytes}
        allocated(given, None, None, how="noted", **facts)
    allocated(given, None, None, how="noted", kind="optimizer_state", label="fc.weight.step", size_bytes=4)
    rows = {row["change"]: row for row in section(given.open(tmp_path), "memory/what_if")}
    row = rows.get("optimizer state in 8 bits", {"saved_bytes": None, "assumes": "scales of blocks are not counted"})
    assert (row["saved_bytes"], row["assumes"]) == (saved_bytes, "scales of blocks are not counted")


@pytest.mark.parametrize(
    ("operator", "phase", "is_sharded"),
    [("c10d::_reduce_scatter_base_", "backward", True), ("c10d::broadcast_", "optimizer", True),
     ("c10d::broadcast_", "forward", False), ("c10d::allgather_", "forward", False),
     ("c10d::allreduce_", "backward", False)],
)  # fmt: skip
def test_optimizer_state_that_is_sharded_is_not_offered_it(
    operator: str, phase: str, is_sharded: bool, tmp_path: Path
) -> None:
    """FSDP scatters gradients, ZeroRedundancyOptimizer sends parameters; SyncBatchNorm and DDP send statistics."""
    given = Given()
    given.span("phase", phase, 0, 10)
    given.op(operator, 1, 5)
    allocated(given, None, None, how="noted", kind="optimizer_state", size_bytes=800)
    write(tmp_path, given, world_size=4)
    changes = {row["change"] for row in section(connected(tmp_path), "memory/what_if")}
    assert ("optimizer state sharded over 4 ranks" not in changes) == is_sharded


def test_half_precision_halves_what_operators_on_float32_keep(tmp_path: Path) -> None:
    """An operator on float32 keeps 1000 bytes; those on half precision keep 600 and 90."""
    given = Given()
    given.device("V100", memory_bytes=100_000)
    given.span("step", "0", 0, 100)
    given.span("module", "net.fc (Linear)", 9, 42)
    for at, size, dtype in ((10, 1000, "float"), (20, 600, "c10::Half"), (30, 90, "c10::BFloat16")):
        given.op("aten::mm", at, at + 5, [(4, 4), (4, 4)], dtype=dtype)
        allocated(given, at + 2, 90, size_bytes=size, device=0)
    given.op(BACKWARD, 50, 80)
    rows = {row["change"]: row for row in section(given.open(tmp_path), "memory/what_if")}
    assert rows["activations in half precision"]["saved_bytes"] == 500
    assert rows["activations in half precision"]["saved_pct"] == 100.0 * 500 / 1690
    assert not any("checkpointing" in change for change in rows), "a module that occurs once has no bound"


@pytest.mark.slow
def test_channels_last_on_a_device_saves_what_changes_of_layout_made(tmp_path: Path) -> None:
    """Models with convolutions have such changes; a turned image is no change of layout."""
    given = Given()
    given.device("V100", memory_bytes=100_000)
    given.span("step", "0", 0, 100)
    given.span("module", "net.conv (Conv2d)", 9, 42)
    given.op("aten::contiguous", 10, 20, [(2, 3, 8, 8)])
    allocated(given, 12, 90, size_bytes=1536, device=0)
    given.op("aten::flip", 20, 21, [(2, 3, 8, 8)])
    allocated(given, 20.5, 90, size_bytes=100, device=0)
    given.op(BACKWARD, 50, 80)
    without = section(given.open(tmp_path / "without"), "memory/what_if")
    assert "channels_last" not in {row["change"] for row in without}
    given.op("aten::cudnn_convolution", 21, 30, [(2, 3, 8, 8), (4, 3, 3, 3)])
    # The workspace of the convolution is not a copy in another layout: a GPU's library may need it in any.
    allocated(given, 22, 29, size_bytes=4096, device=0)
    allocated(given, 24, 90, size_bytes=8192, device=0)
    rows = {row["change"]: row for row in section(given.open(tmp_path / "with"), "memory/what_if")}
    assert rows["channels_last"]["saved_bytes"] == 1536
