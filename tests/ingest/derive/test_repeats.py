"""Iterations that nothing marks: found where a loop is the only explanation, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import first
from given import Given, rows

FOUND = "SELECT step, start_ns, dur_ns, found_by FROM steps ORDER BY step"
STEP = ["embed", "gemm", "relu", "gemm_wgrad", "softmax", "sgd"]


def launched(
    kernels: list[str], step: int = len(STEP), pause: float = 0, copies: str | None = None, first: int = 0
) -> Given:
    """Kernels 10 us apart, each launched 2 us before it runs; every `step` of them a pause, and a copy into it."""
    given, at = Given(), 100.0
    for number, name in enumerate(kernels):
        if number >= first and (number - first) % step == 0:
            at += pause
            if copies:
                given.copy(copies, at - 6, at - 5, launched=at - 8)
        given.kernel(name, at, at + 5, launched=at - 2)
        at += 10
    return given


def test_kernels_that_repeat_after_a_copy_are_iterations(tmp_path: Path) -> None:
    """A step begins with the launch of its first kernel, and the last one ends with its last kernel."""
    found = rows(launched(STEP * 5, pause=15, copies="HtoD").open(tmp_path), FOUND)
    why = "guessed steps, from a repeated sequence of 6 kernels (100 % alike, 5 times)"
    assert found == [(n, 113_000 + n * 75_000, 75_000 if n < 4 else 57_000, why) for n in range(5)]


@pytest.mark.parametrize(
    ("layer", "copies"),
    [
        (["norm", "qkv", "attention", "gemm"], "DtoH"),
        (["norm", "gemm_dgrad", "gemm_wgrad", "norm_bwd"], "HtoD"),
    ],
)
def test_layers_that_wait_for_the_host_are_no_iterations(tmp_path: Path, layer: list[str], copies: str) -> None:
    """A mixture of experts reads back how it routes, offloaded weights are uploaded, each layer after a pause. Layers
    of a backward pass take most of the time of a training step, and still not four fifths."""
    given = launched(["embed", *layer * 10, *["head", "loss"] * 6], step=4, first=1, pause=30, copies=copies)
    assert rows(given.open(tmp_path), FOUND) == []


@pytest.mark.slow
def test_a_pause_alone_tells_nothing(tmp_path: Path) -> None:
    assert rows(launched(STEP * 5, pause=30).open(tmp_path), FOUND) == []


@pytest.mark.parametrize("place", [0, 4])
def test_one_iteration_that_is_longer_is_reason_to_doubt(tmp_path: Path, place: int) -> None:
    """Also the first and the last."""
    given = launched(STEP * 5, pause=15, copies="HtoD")
    at = 115 + 75 * place + 52
    given.kernel("sort", at, at + 2, launched=at - 1)
    for row in given.rows["kernels"] + given.rows["memcpys"] + given.rows["api_calls"]:
        row["start_ns"] += 200_000 * (row["start_ns"] > at * 1000)
    if place == 4:
        given.rows["kernels"][-2]["dur_ns"] += 200_000
    assert rows(given.open(tmp_path), FOUND) == []


def test_equal_layers_of_one_pass_are_no_iterations(tmp_path: Path) -> None:
    """Twelve layers between an embedding and a head: nothing is copied within, and no pause comes before a layer."""
    layer = ["norm", "qkv", "attention", "gemm", "gelu", "gemm2"]
    assert rows(launched(["embed", *layer * 12, "head"], pause=0, step=100).open(tmp_path), FOUND) == []


@pytest.mark.slow
def test_iterations_are_the_whole_and_not_the_layers_in_them(tmp_path: Path) -> None:
    layer = ["norm", "qkv", "attention", "gemm"]
    step = ["embed", *layer * 6, "head", "loss_backward", "sgd"]
    found = rows(launched(step * 4, step=len(step), pause=40, copies="DtoH").open(tmp_path), FOUND)
    assert len(found) == 4
    assert found[0][3].startswith("guessed steps, from a repeated sequence of 28 kernels")


def test_what_tunes_at_the_beginning_is_before_the_first_step(tmp_path: Path) -> None:
    tuning = [f"try{n}" for n in range(6)]
    given = launched([*tuning, *STEP * 5], pause=15, copies="HtoD", first=6)
    assert [step for step, *_ in rows(given.open(tmp_path), FOUND)] == [0, 1, 2, 3, 4]


@pytest.mark.long
def test_a_step_that_was_cut_off_is_none(tmp_path: Path) -> None:
    given = launched(STEP * 4 + STEP[:3], pause=15, copies="HtoD")
    assert len(rows(given.open(tmp_path), FOUND)) == 4


@pytest.mark.parametrize(
    "kernels", first(2, [STEP * 2, ["a", "b"] * 20, [f"k{n}" for n in range(60)], ["same"] * 50, [], ["one"]])
)
def test_what_does_not_repeat_or_not_often_has_no_steps(tmp_path: Path, kernels: list[str]) -> None:
    assert rows(launched(kernels, pause=15, copies="HtoD").open(tmp_path), FOUND) == []


@pytest.mark.long
def test_a_loop_beside_most_of_the_work_is_none_of_training(tmp_path: Path) -> None:
    """Reading a norm for each parameter copies to the host, too."""
    given = launched(["norm", "add", "clip", "read"] * 20, step=4, pause=3, copies="DtoH")
    given.kernel("sgemm", 5000, 9000, launched=4990)
    assert rows(given.open(tmp_path), FOUND) == []


def test_ranges_that_repeat_come_before_kernels(tmp_path: Path) -> None:
    """Names without numbers: forward, backward and the rest of the loop."""
    given = launched(STEP * 4, pause=15, copies="HtoD")
    for number in range(4):
        at = 100 + 75 * number
        given.span("nvtx", "forward", at, at + 30)
        given.span("nvtx", f"backward of {number}", at + 35, at + 70)
    found = rows(given.open(tmp_path), FOUND)
    assert {why for *_, why in found} == {"guessed steps, from a repeated sequence of 2 ranges (100 % alike, 4 times)"}
    assert [(start, dur) for _, start, dur, _ in found] == [
        (100_000, 75_000), (175_000, 75_000), (250_000, 75_000), (325_000, 70_000)
    ]  # fmt: skip


@pytest.mark.long
def test_the_footer_of_every_report_says_where_steps_are_from(tmp_path: Path) -> None:
    from traceview.analysis import reports

    marked = Given()
    for number in range(3):
        marked.span("step", f"ProfilerStep#{number}", 100 * number, 100 * number + 90)
        marked.kernel("k", 100 * number + 10, 100 * number + 20, launched=100 * number + 5)
    for name, given, source in (
        ("marked", marked, "ProfilerStep annotations"),
        ("guessed", launched(STEP * 5, pause=15, copies="HtoD"),
         "guessed steps, from a repeated sequence of 6 kernels (100 % alike, 5 times)"),
    ):  # fmt: skip
        with given.open(tmp_path / name) as connection:
            lines = reports.run(connection, "kernels").footer
            assert next(line for line in lines if line.startswith("Steps: ")).endswith(
                f" counted; step source: {source}."
            )


@pytest.mark.long
def test_what_takes_very_different_times_is_no_iteration(tmp_path: Path) -> None:
    """Kernels of a loop of something else: the same six, but every third time after ten times as long."""
    given, at = Given(), 100.0
    for turn in range(9):
        at += 2000 if turn % 3 == 1 else 15
        given.copy("HtoD", at - 6, at - 5, launched=at - 8)
        for name in STEP:
            given.kernel(name, at, at + 5, launched=at - 2)
            at += 10
    assert rows(given.open(tmp_path), FOUND) == []


def calls(names: list[str], took: int = 50, parts: str = "") -> Given:
    """Ranges one after the other with a kernel in each, as a Python stack shows modules."""
    given = Given()
    for number, name in enumerate(names):
        at = 100 * number
        given.span("module", name, at, at + took)
        if parts:
            given.span("module", parts, at + 5, at + took - 5)
        given.kernel("gemm", at + 20, at + 90, launched=at + 10)
    return given


def test_calls_of_one_instance_of_a_module_are_iterations(tmp_path: Path) -> None:
    """Without a backward pass they are called so. The last one ends with the last work that it launched."""
    found = rows(calls(["Net_0"] * 4, parts="Linear_0").open(tmp_path), FOUND)
    why = "guessed iterations, from a repeated sequence of 1 range (100 % alike, 4 times)"
    assert found == [(n, n * 100_000, 100_000 if n < 3 else 90_000, why) for n in range(4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        [f"Block_{number}" for number in range(10)],
        ["Net_0"] * 2,
        ["LSTMCell_0"] * 20,
        ["Embedding_0", *["Block_0", "Block_1", "Block_2"], "Linear_0"] * 2,
    ],
)
def test_instances_of_one_class_are_no_iterations(tmp_path: Path, names: list[str]) -> None:
    assert rows(calls(names).open(tmp_path), FOUND) == []


@pytest.mark.parametrize(("name", "n"), [("train_step", 4), ("[pl][profile]run_training_batch", 4), ("layer", 0)])
def test_only_names_of_loops_make_iterations(tmp_path: Path, name: str, n: int) -> None:
    given = calls([name] * 4)
    for row in given.rows["ranges"]:
        row["kind"] = "user"
    assert len(rows(given.open(tmp_path), FOUND)) == n
