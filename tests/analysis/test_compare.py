"""Comparison of runs: what is measured, when runs may be ranked, how layers are matched, how differences add up."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import duckdb
import pytest
from cases import first
from compared import GEMM, IMPLICIT, WINOGRAD, measured, network, stepping, table
from given import Given, conv, conv_backward, rows

from traceview import sql
from traceview.analysis import compare, reports
from traceview.analysis.compare import Run
from traceview.errors import InputError, UsageError
from traceview.store import views

FOLDER = Path(__file__).resolve().parents[2] / "queries/compare"
QUERIES = sorted(FOLDER.rglob("*.sql"))


def test_the_plan_is_the_folder() -> None:
    about = tomllib.loads((FOLDER / "compare.toml").read_text(encoding="utf-8"))
    for part, where in (("window", "window"), ("facts", "facts"), ("views", "views"), ("sections", ".")):
        assert set(about[part]) == {path.stem for path in (FOLDER / where).glob("*.sql")}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return measured(Given(), tmp_path_factory.mktemp("empty"))


def test_facts_have_the_columns_and_types_that_a_saved_comparison_holds(empty: Run) -> None:
    for query in compare.plan().facts:
        fact = empty.facts[query.name]
        assert [name for name, _ in fact.columns] == list(query.columns), query.name
        assert {type_ for _, type_ in fact.columns} <= compare.TYPES, query.name


@pytest.mark.slow
def test_sections_have_the_columns_their_headers_explain_and_a_stated_order(empty: Run) -> None:
    report = compare.compare([empty, empty])
    for query, section in zip(compare.plan().sections, report.sections, strict=True):
        assert [column.name for column in section.columns] == list(query.columns), query.name
        assert all(query.columns.values()) and query.cannot and query.doc
        assert section.bar is None or section.bar in query.columns
        assert section.rows or section.note
        assert re.search(r"(?im)^order by ", query.body), query.name


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_a_query_has_the_parameters_of_its_header(path: Path) -> None:
    query = sql.load(path)
    statement = duckdb.extract_statements(query.body)[0]
    assert set(statement.named_parameters) == set(query.params)


def test_nothing_can_be_said_of_empty_captures(empty: Run) -> None:
    report = compare.compare([empty, empty])
    assert {row["verdict"] for row in table(report, "conditions")} == {"not recorded"}
    assert table(report, "ranking")[1]["verdict"] == "no steps: whole recordings are compared, not ranked"


@pytest.mark.slow
def test_a_step_is_taken_apart_so_that_the_parts_add_up(tmp_path: Path) -> None:
    fast = measured(stepping((1000, 1010, 990), busy=100), tmp_path / "fast")
    slow = measured(stepping((1500, 1510, 1490), busy=300), tmp_path / "slow")
    rows = table(compare.compare([fast, slow]), "difference")
    found = [(row["part"], round(row["base_ns"]), round(row["busy_ns"]), row["share_pct"]) for row in rows]
    assert found == [
        ("(whole step)", 1_000_000, 1_500_000, 100),
        ("idle: between steps", 900_000, 1_200_000, pytest.approx(60)),
        ("gemm", 100_000, 300_000, pytest.approx(40)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lengths", "verdict"),
    first(
        2,
        [
            ((1100, 1101, 1099, 1100, 1100), "larger than the noise; "),
            ((1003, 999, 1001, 997, 1004), "within the noise; "),
            ((1100, 1101, 1099), "larger than the noise (few steps); "),
            ((1100,), "cannot tell from noise: fewer than two steps"),
        ],
    ),
)
def test_a_difference_is_held_against_the_noise(tmp_path: Path, lengths: tuple[float, ...], verdict: str) -> None:
    a = measured(stepping((1000, 1004, 996, 1002, 998)), tmp_path / "a")
    b = measured(stepping(lengths), tmp_path / "b")
    first, second = table(compare.compare([a, b]), "ranking")
    assert second["verdict"].startswith(verdict)
    assert (first["place"], second["place"]) == (1, 2)


@pytest.mark.long
def test_equal_steps_without_any_spread_differ_by_any_difference(tmp_path: Path) -> None:
    a, b = (measured(stepping((length,) * 3), tmp_path / str(length)) for length in (1000, 1001))
    assert table(compare.compare([a, b]), "ranking")[1]["verdict"].startswith("larger than the noise")
    assert table(compare.compare([a, a]), "ranking")[1]["verdict"].startswith("within the noise")


def verdicts(a: Run, b: compare.Run, *accepted: str) -> dict[str, str]:
    return {row["condition"]: row["verdict"] for row in table(compare.compare([a, b], accepted), "conditions")}


@pytest.mark.long
def test_another_batch_is_shown_and_not_ranked(tmp_path: Path) -> None:
    a = measured(network((IMPLICIT, IMPLICIT)), tmp_path / "a")
    b = measured(network((IMPLICIT, IMPLICIT), batch=8), tmp_path / "b")
    assert verdicts(a, b) == {"model": "same", "batch": "differs", "precision": "same", "passes": "same"}
    first, second = table(compare.compare([a, b]), "ranking")
    assert (second["place"], second["verdict"]) == (None, "not ranked: batch differs")
    assert second["diff_ns"] == 0 and first["place"] == 1
    assert verdicts(a, b, "batch")["batch"] == "differs (accepted)"
    assert [row["place"] for row in table(compare.compare([a, b], ["batch"]), "ranking")] == [1, 1]


@pytest.mark.slow
def test_larger_images_are_other_work_and_not_ranked(tmp_path: Path) -> None:
    """Products of one shape, and a convolution over 16 or 18 pixels with as many out: 18 * 18 / 16 / 16 of the work."""

    def run(size: int, batches: tuple[int, ...] = (4, 4, 4)) -> Run:
        given = stepping((1000,) * len(batches), busy=10)
        for step, batch in enumerate(batches):
            conv(given, 1000 * step + 100, (batch, 8, size, size), (8, 8, 3, 3), padding=1)
            given.kernel(IMPLICIT, 1000 * step + 120, 1000 * step + 130 + size, launched=1000 * step + 102)
        return measured(given, tmp_path / f"{size}-{len(batches)}")

    small, large = run(16), run(18)
    (row,) = [row for row in table(compare.compare([small, large]), "conditions") if row["verdict"] != "same"]
    assert (row["condition"], row["verdict"]) == ("work", "differs")
    # 2 * 8 * 8 * 9 FLOP for a pixel.
    assert (row["base_value"], row["value"]) == ("0.295 MFLOP per sample", "0.373 MFLOP per sample")
    assert row["detail"].startswith("the same convolutions compute 1.27 times as much for each sample as in A: ")
    ranking = table(compare.compare([small, large]), "ranking")[1]
    assert (ranking["place"], ranking["verdict"]) == (None, "not ranked: work differs")
    assert verdicts(small, large, "work")["work"] == "differs (accepted)"
    # A last batch that is smaller is no other image.
    assert "work" not in verdicts(small, run(16, (4, 4, 4, 1)))


def test_iterations_of_an_inference_engine_with_other_tokens_are_not_ranked(tmp_path: Path) -> None:
    """64 tokens in 1,000 us are more per second than 8 in 800 us, and were called 25 % slower."""
    runs = []
    for tokens, last, length in ((8, 8, 800), (64, 64, 1000), (200, 200, 1000), (200, 206, 1000)):
        given = Given()
        given.command = ["vllm", "serve"]
        given.device("NVIDIA A100-SXM4-40GB")
        for start in range(0, 6 * length, length):
            now = last if start == 5 * length else tokens
            given.span("user", f"execute_context_0(0)_generation_{now}({now})", start, start + 100)
            given.kernel(GEMM, start + 10, start + length, launched=start + 5)
        runs.append(measured(given, tmp_path / f"{tokens} {last}"))
    assert [run.value("batch") for run in runs] == [8, 64, 200, 201]
    assert verdicts(*runs[:2])["batch"] == "differs"
    assert verdicts(*runs[2:])["batch"] == "same"  # The same server twice.
    assert verdicts(runs[0], runs[0])["batch"] == "same"
    assert [round(row["samples_per_s"]) for row in table(compare.compare(runs[:2]), "runs")] == [10_000, 64_000]


def sequences(batch: int, length: int, is_noted: bool) -> Given:
    """Three steps of a layer of 64 x 64 over sequences, whose rows are flattened, and products of four heads."""
    given = stepping((1000, 1001, 999), busy=10)
    for step in range(3):
        given.op("aten::mm", 1000 * step + 100, 1000 * step + 110, [[batch * length, 64], [64, 64]], ["", ""])
        shapes = [[batch * 4, length, 16], [batch * 4, 16, length]]
        given.op("aten::bmm", 1000 * step + 200, 1000 * step + 210, shapes, ["", ""])
    if is_noted:
        given.about = {"model": {"batch": batch, "input": {"shape": [batch, length]}}}
    return given


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "other", "is_noted", "differing"),
    [
        ((8, 64), (8, 128), True, {"work"}),
        ((8, 128), (16, 64), True, {"batch", "work"}),
        ((8, 64), (16, 64), True, {"batch"}),
        ((8, 64), (16, 64), False, {"work"}),
        ((8, 64), (8, 64), False, set()),
    ],
)
def test_rows_of_products_are_no_samples_where_there_are_sequences(
    tmp_path: Path, base: tuple[int, int], other: tuple[int, int], is_noted: bool, differing: set[str]
) -> None:
    a, b = (measured(sequences(*it, is_noted), tmp_path / f"{it[0]}x{it[1]}-{is_noted}") for it in (base, other))
    assert (a.value("batch"), b.value("batch")) == ((base[0], other[0]) if is_noted else (None, None))
    found = verdicts(a, b)
    assert {name for name, verdict in found.items() if verdict == "differs"} == differing
    rate = table(compare.compare([a, b]), "runs")[1]["samples_per_s"]
    assert rate == (pytest.approx(other[0] / 1e-3, rel=2e-3) if is_noted else None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noted", "frames", "found", "differing"),
    [(None, 4, 32, {"batch", "work"}), (8, 4, 8, set()), (8, 8, 8, {"work"}), (3, 4, 32, {"batch", "work"})],
)
def test_frames_that_are_folded_into_the_batch_are_no_samples(
    tmp_path: Path, noted: int | None, frames: int, found: int, differing: set[str]
) -> None:
    """Clips of 4 or 8 frames, eight of them in a batch; a list of images has their channels in front."""

    def run(folder: str, noted: int | None, frames: int) -> Run:
        given = stepping((1000, 1000, 1000), busy=10)
        for start in (100, 1100, 2100):
            conv(given, start, (8 * frames, 3, 16, 16), (8, 3, 3, 3), padding=1)
            given.kernel(IMPLICIT, start + 20, start + 60, launched=start + 2)
        given.about = {"model": {"batch": noted}} if noted else {}
        return measured(given, tmp_path / folder)

    a, b = run("a", 8, 4), run("b", noted, frames)
    # 2 * 3 * 8 * 9 FLOP for a pixel.
    assert (b.value("batch"), b.value("sample_flop")) == (found, 432 * 16 * 16 * 8 * frames / found)
    (row,) = [row for row in table(compare.compare([a, b]), "runs") if row["run"] == "B"]
    assert row["samples_per_s"] == pytest.approx(1000 * found)
    assert {name for name, verdict in verdicts(a, b).items() if verdict == "differs"} == differing


@pytest.mark.slow
def test_convolutions_that_a_checkpoint_computes_again_make_no_other_model(tmp_path: Path) -> None:
    def run(is_checkpointed: bool) -> Run:
        given = stepping((1000, 1001, 999), busy=10)
        for start in (0, 1000, 2000):
            for at in (100, 520)[: 1 + is_checkpointed]:
                conv(given, start + at, (4, 8, 16, 16), (8, 8, 3, 3), padding=1)
                given.rows["ops"][-1]["sequence"] = 7
                given.kernel(IMPLICIT, start + at + 20, start + at + 60, launched=start + at + 2)
            given.op("autograd::engine::evaluate_function: ConvolutionBackward0", start + 500, start + 700)
            conv_backward(given, start + 600, (4, 8, 16, 16), (8, 8, 3, 3), (4, 8, 16, 16), padding=1)
            given.kernel("wgrad_alg0_engine", start + 620, start + 660, launched=start + 602)
        return measured(given, tmp_path / str(is_checkpointed))

    plain, checkpointed = run(False), run(True)
    assert verdicts(plain, checkpointed)["model"] == "same"
    # 8 * 8 * 3 * 3 weights and 8 biases.
    assert (checkpointed.value("filters"), checkpointed.value("parameters")) == ("8x8x3x3 (1)", 584)


def recurrent(length: int = 5, parameters: int | None = None) -> Given:
    """Three steps of an LSTM from 8 to 4 values over two sequences, and a layer of 4 x 10 behind it."""
    given = stepping((1000, 1001, 999), busy=10)
    for start in (0, 1000, 2000):
        given.op("aten::mkldnn_rnn_layer", start + 100, start + 140, [(length, 2, 8), (16, 8), (16, 4), (16,), (16,)])
        given.kernel("persistent_rnn_fprop", start + 110, start + 130, launched=start + 105)
        given.op("aten::addmm", start + 200, start + 210, [(10,), (2, 4), (4, 10)])
        given.kernel(GEMM, start + 220, start + 230, launched=start + 205)
    given.about = {"model": {"batch": 2, "parameters": parameters}} if parameters else {}
    return given


@pytest.mark.slow
@pytest.mark.parametrize(("parameters", "verdict"), [(2050, "differs"), (1030, "same")])
def test_layers_without_recorded_shapes_count_by_the_parameters_that_collect_noted(
    tmp_path: Path, parameters: int, verdict: str
) -> None:
    """Embeddings and recurrent layers are no products; biases alone, below 1 %, make no other model."""
    a, b = (measured(recurrent(parameters=n), tmp_path / str(n)) for n in (1025, parameters))
    report = compare.compare([a, b])
    model = table(report, "conditions")[0]
    assert (model["base_value"], model["value"], model["verdict"]) == (
        "products: 1, 1,025 parameters", f"products: 1, {parameters:,} parameters", verdict,
    )  # fmt: skip
    (setting,) = [row for row in table(report, "settings") if row["setting"] == "number of parameters"]
    assert setting["can_explain"] is True


@pytest.mark.slow
def test_a_layer_that_is_called_several_times_makes_no_other_model_of_the_same_parameters(tmp_path: Path) -> None:
    """As in a recording with shapes and one without (`--light`): the trace of the first counts each call."""
    shaped, light = recurrent(parameters=30), stepping((1000, 1001, 999), busy=10)
    light.about = shaped.about
    assert verdicts(measured(shaped, tmp_path / "shaped"), measured(light, tmp_path / "light"))["model"] == "same"


@pytest.mark.slow
def test_longer_sequences_of_a_recurrent_layer_are_other_work(tmp_path: Path) -> None:
    a, b = (measured(recurrent(length), tmp_path / str(length)) for length in (5, 10))
    assert verdicts(a, b)["model"] == "same"
    (work,) = [row for row in table(compare.compare([a, b]), "conditions") if row["condition"] == "work"]
    # 2 * 5 * 2 * 16 * (8 + 4) and 2 * 2 * 4 * 10 FLOP.
    assert (work["base_value"], work["value"]) == ("0.004 MFLOP per step", "0.00784 MFLOP per step")
    assert [row["work_flop"] for row in table(compare.compare([a, b]), "runs")] == [4000, 7840]


def accumulated(batch: int, passes: int, losses: int = 1, last: int | None = None) -> Given:
    """Three steps of which each runs a network in several passes; of all of them `losses` gradients are taken.

    The last pass has a batch of its own, where one is given.
    """
    given = stepping((1000, 1001, 999), busy=10)
    for step in range(3):
        for number in range(passes):
            at = 1000 * step + 100 + 100 * number
            size = last if last and number == passes - 1 else batch
            conv(given, at, (size, 8, 16, 16), (8, 8, 3, 3), padding=1)
            given.kernel(IMPLICIT, at + 5, at + 9, launched=at + 2)
            given.op("aten::addmm", at + 12, at + 20, [[10], [size, 8], [8, 10]], ["", "", ""])
            for loss in range(losses):
                given.span("phase", "backward", at + 30 + 10 * loss, at + 38 + 10 * loss)
    given.about = {"model": {"batch": batch}}
    return given


@pytest.mark.slow
def test_the_batch_of_a_step_is_that_of_all_passes_whose_gradients_it_adds_up(tmp_path: Path) -> None:
    one, four, large = (measured(accumulated(*it), tmp_path / f"{it[0]}x{it[1]}") for it in ((16, 1), (16, 4), (64, 1)))
    assert [run.value("batch") for run in (one, four, large)] == [16, 64, 64]
    # 8 * 8 * 3 * 3 weights and 8 biases of the convolution, 8 * 10 and 10 of the product.
    assert {run.value("parameters") for run in (one, four, large)} == {584 + 90}
    assert verdicts(one, four) == {"model": "same", "batch": "differs", "precision": "same", "passes": "same"}
    assert set(verdicts(large, four).values()) == {"same"}
    rates = [row["samples_per_s"] for row in table(compare.compare([one, four]), "runs")]
    assert rates == [pytest.approx(16e3), pytest.approx(64e3)]


@pytest.mark.parametrize(("last", "samples", "said"), [(8, 72, "72 in 2 passes"), (64, 128, "64 in each of 2 passes")])
def test_samples_of_passes_with_unequal_batches_are_added_up(
    last: int, samples: int, said: str, tmp_path: Path
) -> None:
    given = accumulated(64, 2, last=last)
    assert measured(given, tmp_path / "run").value("batch") == samples
    with given.open(tmp_path / "capture") as connection:
        assert rows(connection, "SELECT value FROM environment WHERE condition = 'batch'") == [(said,)]


@pytest.mark.slow
def test_several_losses_of_one_pass_make_no_larger_batch(tmp_path: Path) -> None:
    assert measured(accumulated(16, 1, losses=2), tmp_path).value("batch") == 16


def pipeline(passes: int, batch: int) -> list[Given]:
    """Two stages, of one layer and of two, with 8 x 8 and 8 x 4 weights, over micro-batches."""
    stages = []
    for rank, widths in enumerate(((8,), (8, 4))):
        given = stepping((1000, 1001, 999), busy=10, rank=rank)
        for step in range(3):
            for number in range(passes):
                at = 1000 * step + 100 + 50 * number
                for place, width in enumerate(widths):
                    given.op("aten::mm", at + 5 * place, at + 5 * place + 4, [[batch, 8], [8, width]], ["", ""])
                given.span("phase", "backward", at + 20, at + 30)
                given.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgs)", at + 32, at + 34, launched=at + 31)
        given.about = {"model": {"batch": batch}}
        stages.append(given)
    return stages


@pytest.mark.slow
def test_micro_batches_of_a_pipeline_make_one_batch_that_no_rank_has_alone(tmp_path: Path) -> None:
    four, eight = measured(pipeline(4, 16), tmp_path / "four"), measured(pipeline(8, 8), tmp_path / "eight")
    assert set(verdicts(four, eight).values()) == {"same"}
    runs = table(compare.compare([four, eight]), "runs")
    assert [(row["batch"], row["samples_per_s"]) for row in runs] == [(64, None)] * 2
    assert four.value("products") == "8x4 (1); 8x8 (1)" and four.value("parameters") == 64 + 32


@pytest.mark.long
def test_another_model_is_named_by_what_only_one_has(tmp_path: Path) -> None:
    a = measured(network((IMPLICIT, IMPLICIT)), tmp_path / "a")
    b = measured(network((IMPLICIT,), names=("conv1",)), tmp_path / "b")
    row = table(compare.compare([a, b]), "conditions")[0]
    assert (row["verdict"], row["detail"]) == ("differs", "only in A: 16x8x3x3 (1)")
    assert row["base_value"] == "filters: 2, 1,752 parameters"


@pytest.mark.long
def test_a_model_without_convolutions_is_another_although_its_products_agree(tmp_path: Path) -> None:
    both = [stepping((1000, 1001, 999), busy=10) for _ in range(2)]
    for given in both:
        for start in (0, 1000, 2000):
            given.op("aten::addmm", start + 300, start + 310, [(16,), (4, 8), (8, 16)])
            given.kernel(GEMM, start + 320, start + 330, launched=start + 301)
    for start in (0, 1000, 2000):
        conv(both[1], start + 100, (4, 8, 16, 16), (8, 8, 3, 3), padding=1)
        both[1].kernel(IMPLICIT, start + 120, start + 160, launched=start + 102)
    a, b = (measured(given, tmp_path / name) for given, name in zip(both, "ab", strict=True))
    for pair, side in (((a, b), "this run"), ((b, a), "A")):
        model = table(compare.compare(pair), "conditions")[0]
        assert (model["verdict"], model["detail"]) == ("differs", f"only in {side}: 8x8x3x3 (1)")


@pytest.mark.long
def test_training_is_not_ranked_against_inference(tmp_path: Path) -> None:
    a = measured(network((IMPLICIT, IMPLICIT)), tmp_path / "a")
    b = measured(network((IMPLICIT, IMPLICIT), backward=True), tmp_path / "b")
    assert verdicts(a, b)["passes"] == "differs"
    assert verdicts(b, b)["passes"] == "same"


@pytest.mark.slow
def test_training_of_some_layers_is_not_ranked_against_that_of_all(tmp_path: Path) -> None:
    frozen = network((IMPLICIT, IMPLICIT))
    for start in (0, 1000, 2000):
        conv_backward(frozen, start + 330, (4, 8, 16, 16), (16, 8, 3, 3), (4, 16, 16, 16), padding=1)
        frozen.kernel("wgrad_alg0_engine", start + 420, start + 450, launched=start + 332)
    a = measured(network((IMPLICIT, IMPLICIT), backward=True), tmp_path / "a")
    b = measured(frozen, tmp_path / "b")
    passes = next(row for row in table(compare.compare([a, b]), "conditions") if row["condition"] == "passes")
    assert (passes["base_value"], passes["value"], passes["verdict"]) == (
        "forward, backward", "forward, backward of 1 of 2 filters", "differs",
    )  # fmt: skip


@pytest.mark.long
def test_layers_are_matched_by_filter_and_place_whatever_they_are_called(tmp_path: Path) -> None:
    a = measured(network((IMPLICIT, IMPLICIT)), tmp_path / "a")
    b = measured(network((WINOGRAD, IMPLICIT), names=("features.0", "features.3")), tmp_path / "b")
    rows = table(compare.compare([a, b]), "convolutions")
    found = {
        (row["base_layer"], row["layer"], row["base_algorithm"], row["algorithm"], row["matched_by"]) for row in rows
    }
    assert found == {
        ("conv1", "features.0", "implicit_gemm", "winograd", "filter and place"),
        ("conv2", "features.3", "implicit_gemm", "implicit_gemm", "filter and place"),
    }
    layers = table(compare.compare([a, b]), "layers")
    assert {(row["base_layer"], row["layer"], row["kind"]) for row in layers} == {
        ("conv1", "features.0", "convolution 8x8x3x3"),
        ("conv2", "features.3", "convolution 16x8x3x3"),
    }


@pytest.mark.long
def test_where_one_run_records_no_shapes_layers_are_matched_by_name_else_by_algorithm(tmp_path: Path) -> None:
    shaped = network((IMPLICIT, IMPLICIT))
    shapeless = network((IMPLICIT, IMPLICIT))
    for at in (500, 1500, 2500):
        shapeless.span("module", "conv3", at - 5, at + 50)
        shapeless.op("aten::convolution", at, at + 10)
        shapeless.kernel(WINOGRAD, at + 20, at + 140, launched=at + 2)
    shapeless.rows["ops"] = [{**row, "shapes": None, "inputs": None} for row in shapeless.rows["ops"]]
    a, b = measured(shaped, tmp_path / "a"), measured(shapeless, tmp_path / "b")
    rows = table(compare.compare([a, b]), "convolutions")
    assert {(row["base_layer"], row["layer"], row["diff_ns"], row["matched_by"]) for row in rows} == {
        ("conv1", "conv1", 0, "layer"),
        ("conv2", "conv2", 0, "layer"),
        (None, "conv3", 120_000, None),
    }
    for given in (shaped, shapeless):
        given.rows["ranges"] = [row for row in given.rows["ranges"] if row["kind"] == "step"]
    a, b = measured(shaped, tmp_path / "c"), measured(shapeless, tmp_path / "d")
    rows = table(compare.compare([a, b]), "convolutions")
    assert {(row["base_algorithm"], row["algorithm"], row["diff_ns"], row["matched_by"]) for row in rows} == {
        ("implicit_gemm", "implicit_gemm", 0, "algorithm"),
        (None, "winograd", 120_000, None),
    }


@pytest.mark.long
def test_without_operators_a_gradient_is_no_forward_time(tmp_path: Path) -> None:
    given = stepping((1000, 1000, 1000))
    for start in (0, 1000, 2000):
        given.span("module", "conv1", start + 200, start + 300)
        for number, name in enumerate((IMPLICIT, "wgrad_alg0_engine", "vectorized_elementwise_kernel<4>")):
            at = start + 220 + 100 * number
            given.kernel(name, at, at + 40 + number, launched=start + 210 + number)
    run = measured(given, tmp_path)
    (row,) = table(compare.compare([run, run]), "layers")
    assert (row["layer"], row["forward_ns"], row["backward_ns"]) == ("conv1", 40_000, 41_000)


@pytest.mark.long
def test_the_batch_is_that_of_most_steps(tmp_path: Path) -> None:
    given = stepping((1000, 1000, 1000), busy=10)
    for step, batch in enumerate((3, 4, 4)):
        conv(given, 1000 * step + 100, (batch, 8, 16, 16), (8, 8, 3, 3), padding=1)
        given.kernel(IMPLICIT, 1000 * step + 120, 1000 * step + 160, launched=1000 * step + 102)
    assert measured(given, tmp_path).value("batch") == 4


@pytest.mark.long
def test_what_has_no_counterpart_stands_alone(tmp_path: Path) -> None:
    a = measured(network((IMPLICIT, IMPLICIT)), tmp_path / "a")
    b = measured(network((IMPLICIT,), names=("conv1",)), tmp_path / "b")
    rows = table(compare.compare([a, b]), "convolutions")
    assert [(row["base_layer"], row["layer"], row["total_ns"], row["matched_by"]) for row in rows] == [
        ("conv2", None, 0, None),
        ("conv1", "conv1", 40_000, "filter and place"),
    ]


@pytest.mark.slow
def test_ranks_count_alike_however_many_steps_each_has(tmp_path: Path) -> None:
    """Rank 1 has a third of the steps, and longer ones: the step is the mean of 1000 and 1600 us, as its parts are."""

    def ranks(n: int, length: float, busy: float) -> list[Given]:
        return [stepping((1000,) * 12), stepping((length,) * n, busy, rank=1)]

    a = measured(ranks(12, 1000, 100), tmp_path / "a")
    b, same = measured(ranks(4, 1600, 500), tmp_path / "b"), measured(ranks(4, 1000, 100), tmp_path / "c")
    report = compare.compare([a, b, same])
    _, row, equal = table(report, "ranking")
    assert (row["step_ns"], row["sd_ns"], row["ratio"]) == (1_300_000, 0, pytest.approx(1.3))
    assert (equal["ratio"], equal["low"], equal["high"], equal["verdict"][:16]) == (1, 1, 1, "within the noise")
    rows = {(part["run"], part["part"]): part for part in table(report, "difference")}
    whole, idle, gemm = (rows["B", part] for part in ("(whole step)", "idle: between steps", "gemm"))
    assert whole["busy_ns"] == pytest.approx(idle["busy_ns"] + gemm["busy_ns"])
    for part in (whole, gemm):
        assert part["low_ns"] < part["diff_ns"] < part["high_ns"]
    assert [rows["C", part]["beyond_ns"] for part in ("(whole step)", "gemm")] == [None, None]


@pytest.mark.long
def test_ranks_are_averaged(tmp_path: Path) -> None:
    one = measured(stepping((1000, 1000)), tmp_path / "one")
    two = measured([stepping((1000, 1000), 100), stepping((1200, 1200), 300, rank=1)], tmp_path / "two")
    report = compare.compare([one, two])
    assert [row["ranks"] for row in table(report, "runs")] == [1, 2]
    assert [(row["base_ns"], row["busy_ns"]) for row in table(report, "difference") if row["part"] == "gemm"] == [
        (100_000, 200_000)
    ]
    assert table(report, "ranking")[1]["diff_ns"] == 100_000


@pytest.mark.long
def test_chosen_steps_only(tmp_path: Path) -> None:
    run = measured(stepping((1000, 2000, 3000)), tmp_path, first=2, last=3)
    assert (run.value("steps"), run.value("step_ns")) == (2, 2_500_000)
    with pytest.raises(UsageError, match="none of the steps asked for"):
        measured(stepping((1000,)), tmp_path / "other", first=7, last=9)


@pytest.mark.long
def test_whole_recordings_are_totals(tmp_path: Path) -> None:
    given = stepping((1000, 1000, 1000))
    run = measured(given, tmp_path, whole=True)
    assert (run.has_steps, run.value("step_ns"), run.value("busy_ns")) == (False, 2_100_000, 300_000)


@pytest.mark.long
def test_a_cpu_beside_a_gpu(tmp_path: Path) -> None:
    given = Given()
    given.device("Intel(R) Xeon(R)", kind="cpu")
    for step in range(3):
        given.span("step", f"step#{step + 1}", 1000 * step, 1000 * step + 1000)
        given.op("aten::mm", 1000 * step + 100, 1000 * step + 500)
    host = measured(given, tmp_path / "host")
    device = measured(stepping((1000, 1000, 1000)), tmp_path / "device")
    report = compare.compare([host, device])
    assert [row["device"] for row in table(report, "runs")] == ["Intel(R) Xeon(R)", "NVIDIA A100-SXM4-40GB"]
    names = {row["name"]: round(row["diff_ns"]) for row in table(report, "names")}
    assert names == {"aten::mm": -400_000, GEMM: 100_000}


@pytest.mark.long
def test_memory_is_compared_counter_by_counter(tmp_path: Path) -> None:
    runs = []
    for peak in (100, 150):
        given = stepping((1000, 1000))
        for at, value in ((0, 10), (500, peak)):
            given.add("counters", name="allocated_bytes", value=value, start_ns=at)
        runs.append(measured(given, tmp_path / str(peak)))
    (row,) = table(compare.compare(runs), "memory")
    assert (row["counter"], row["base_bytes"], row["peak_bytes"], row["ratio"]) == ("allocated_bytes", 100, 150, 1.5)


@pytest.mark.slow
def test_a_saved_run_compares_like_the_capture(tmp_path: Path) -> None:
    a = measured(network((IMPLICIT, IMPLICIT)), tmp_path / "a")
    b = measured(network((WINOGRAD, IMPLICIT)), tmp_path / "b")
    again = compare.restored(json.loads(json.dumps(compare.saved([a, b]))), "saved.json")
    assert compare.compare([again, b]) == compare.compare([a, b])


@pytest.mark.slow
def test_a_copy_in_a_saved_run_does_not_count(tmp_path: Path) -> None:
    """A file may hold copies, which were not refused before; averages of logs, without steps, are equal by chance."""
    old, new = (measured(stepping((length, length + 1)), tmp_path / str(length)) for length in (1000, 1003))
    data = compare.saved([compare.side([old, new])])
    data += [{**entry, "name": "copy"} for entry in data]
    (found,), _ = compare.measures([["main.json"]], lambda path, _: compare.restored(data, path))
    assert [run.name for run in found.recordings] == [old.name, new.name]
    for entry in data:
        entry["facts"]["block"]["rows"] = []
    assert len(compare.restored(data, "main.json").recordings) == 4


@pytest.mark.parametrize(
    "damage", ["[]", "null", '[{"name": "x"}]', '[{"name": 1, "footer": [], "facts": {"run": 3}}]']
)
def test_a_damaged_comparison_is_said_in_a_sentence(damage: str) -> None:
    with pytest.raises(InputError, match="is not a comparison"):
        compare.restored(json.loads(damage), "saved.json")


def test_hostile_facts_are_refused(tmp_path: Path) -> None:
    run = measured(stepping((1000, 1000)), tmp_path)
    of_run, of_name = ([list(column) for column in run.facts[name].columns] for name in ("run", "name"))
    changed = "was written by another version of traceview, or changed"
    for table_, change, told in (
        ("cell", {"columns": [["category", "VARCHAR); DROP TABLE x"]], "rows": []}, changed),
        ("run", {"columns": of_run, "rows": []}, "does not describe each run once"),
        ("name", {"columns": of_name, "rows": [["too", "short"]]}, changed),
    ):
        data = compare.saved([run])
        data[0]["facts"][table_] = change
        with pytest.raises(InputError, match=f"^saved.json {told}"):
            compare.restored(data, "saved.json")
    data = compare.saved([run])
    data[0]["facts"]["name"]["rows"][0][2] = "many"
    with pytest.raises(InputError, match="holds an invalid value"):
        compare.compare([compare.restored(data, "saved.json")])


@pytest.mark.slow
@pytest.mark.parametrize("value", [float("nan"), float("inf"), "a \ud800"])
def test_what_no_comparison_writes_is_refused(tmp_path: Path, value: float | str) -> None:
    """No number, and half a character: both stand in JSON that Python reads."""
    data = compare.saved([measured(stepping((1000, 1000)), tmp_path)])
    columns = [name for name, _ in data[0]["facts"]["run"]["columns"]]
    if isinstance(value, str):
        data[0]["name"] = value
    else:
        data[0]["facts"]["run"]["rows"][0][columns.index("step_ns")] = value
    with pytest.raises(InputError, match=r"^saved.json is not a comparison"):
        compare.restored(json.loads(json.dumps(data)), "saved.json")


def test_too_many_runs(empty: Run) -> None:
    with pytest.raises(UsageError, match="at most 26"):
        compare.compare([empty] * 27)


@pytest.mark.slow
def test_a_limit_holds_per_run(empty: Run, tmp_path: Path) -> None:
    a, b = (measured(stepping((1000, 1000), busy), tmp_path / str(busy)) for busy in (100, 200))
    cut = reports.cut(compare.compare([a, b, b]), 1, compare.cut_section)
    section = next(section for section in cut.sections if section.name == "difference")
    assert [row[:2] for row in section.rows] == [("B", "(whole step)"), ("C", "(whole step)")]
    assert section.note == "4 of 6 rows left out: 1 per run are shown (--limit 0 shows all)."


@pytest.mark.slow
def test_only_what_the_queries_rest_on_is_made(tmp_path: Path) -> None:
    given = stepping((1000, 1000))
    given.open(tmp_path).close()
    with views.connect(tmp_path) as connection:
        assert compare.measure(connection, "x", None, whole=False).has_steps


@pytest.mark.long
def test_precisions_stand_in_one_order(tmp_path: Path) -> None:
    """Else two runs alike would differ by chance."""
    given = network((IMPLICIT, IMPLICIT))
    for at, dtype in ((2500, "f64"), (2600, "c10::Half"), (2700, "bf16")):
        conv(given, at, (4, 8, 16, 16), (8, 8, 3, 3), dtype=dtype)
        given.kernel(IMPLICIT, at + 20, at + 30, launched=at + 2)
    assert measured(given, tmp_path).value("precision") == "bf16, fp16, fp32, fp64"


@pytest.mark.slow
def test_a_model_that_one_run_does_not_record_is_not_ranked(tmp_path: Path) -> None:
    """Numbers stand side by side; the same command, or the user's word, ranks them."""
    known, unknown = network((IMPLICIT, IMPLICIT)), stepping((1100, 1101, 1099, 1100, 1100))
    unknown.command = ["python", "other.py"]
    a, b = measured(known, tmp_path / "a"), measured(unknown, tmp_path / "b")
    first, second = table(compare.compare([a, b]), "ranking")
    assert (second["place"], second["verdict"]) == (None, "not ranked: nothing tells that both ran the same model")
    assert (first["step_ns"], second["step_ns"]) == (1_000_000, 1_100_000) and second["ratio"] == pytest.approx(1.1)
    sentence = table(compare.compare([a, b]), "answer")[0]["sentence"]
    assert "not ranked, because nothing tells that they ran the same model (A alone records it): 1.10 ms" in sentence
    accepted = compare.compare([a, b], ["model"])
    assert table(accepted, "conditions")[0]["verdict"] == "not recorded (accepted)"
    assert table(accepted, "ranking")[1]["place"] == 2
    unknown.command = known.command
    same = compare.compare([a, measured(unknown, tmp_path / "c")])
    assert table(same, "conditions")[0]["verdict"] == "not recorded (same command)"
    assert table(same, "ranking")[1]["place"] == 2


@pytest.mark.slow
@pytest.mark.parametrize(("has_gemm", "verdict"), [(True, "not recorded"), (False, "differs")])
def test_convolutions_that_agree_are_not_the_same_model(tmp_path: Path, has_gemm: bool, verdict: str) -> None:
    """Products that only one of two runs records may differ; one without any product is another model."""
    runs = []
    for name in "ab":
        given = Given()
        given.command = ["python", f"{name}.py"]
        for start in (0, 1000, 2000):
            given.span("step", f"step#{start // 1000 + 1}", start, start + 1000)
            conv(given, start + 100, (4, 8, 16, 16), (8, 8, 3, 3), padding=1)
            given.kernel(IMPLICIT, start + 120, start + 160, launched=start + 102)
            if name == "a":
                given.op("aten::addmm", start + 300, start + 310, [(16,), (4, 8), (8, 16)])
            if name == "a" or has_gemm:
                given.kernel(GEMM, start + 320, start + 330, launched=start + 301)
        runs.append(measured(given, tmp_path / name))
    for pair in (runs, runs[::-1]):
        model = table(compare.compare(pair), "conditions")[0]
        assert model["verdict"] == verdict
        assert table(compare.compare(pair), "ranking")[1]["place"] is None
