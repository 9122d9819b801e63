"""The report frameworks, on rows written out here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, cast

import duckdb
import pytest
from asked import connected

from traceview import sql
from traceview.analysis import reports
from traceview.experiments import results
from traceview.paths import content

Row = dict[str, Any]
CELL = {
    "model": "lenet",
    "batch": 64,
    "threads": 1,
    "layout": "nchw",
    "device": "cpu",
    "status": "timed",
    "source": "here",
}
PART = {"model": "lenet", "batch": 64, "threads": 1, "layout": "nchw", "mode": "train"}


def runs(framework: str, forward: list[int], both: list[int], training: list[int], **more: Any) -> list[Row]:
    times = {"forward": forward, "gradient": both, "train": training}
    return [
        {**CELL, "framework": framework, "mode": mode, "step_ns": 1_000_000 * ms, "round": place, **more}
        for mode, each in times.items()
        for place, ms in enumerate(each)
    ]


TIMES = [
    *runs("torch", [9, 11], [30, 30], [34, 36], version="2.13.0"),
    *runs("jax", [20, 20], [40, 40], [42, 42]),
    *runs("theano", [5], [10], [15], status="differs", differs="threads", reason="threads 2, not 1"),
    *runs("tensorflow", [1], [2], [3], layout="nhwc"),
    *runs("jax", [10, 10], [20], [28, 28], threads=2),
    {**CELL, "framework": "onnxruntime", "mode": "forward", "step_ns": 6_000_000, "others_pct": 30.0},
    {**CELL, "framework": "mxnet", "mode": "train", "status": "failed", "reason": "it broke"},
    *runs("mxnet", [50], [60], [70]),
    {**CELL, "framework": "cntk", "mode": "train", "status": "missing", "reason": "no environment"},
    {"framework": "torch7", "status": "gone", "reason": "no Lua"},
    {"framework": "torch7", "model": "lenet", "batch": 64, "mode": "forward", "step_ns": 500_000, "status": "published",
     "device": "M40", "source": "README"},
    {"framework": "theano", "model": "lenet", "batch": 64, "mode": "forward", "step_ns": 600_000, "status": "published",
     "device": "M40", "source": "README"},
    {"framework": "neon", "model": "alexnet", "batch": 64, "mode": "forward", "step_ns": 600_000, "status": "published",
     "device": "M40", "source": "README", "differs": "network", "reason": "groups"},
]  # fmt: skip
PARTS = [
    {**PART, "framework": "torch", "layer": "conv1", "category": "conv", "busy_ns": 300.0},
    {**PART, "framework": "torch", "layer": "conv1", "category": "bias", "busy_ns": 100.0},
    {**PART, "framework": "torch", "layer": "conv1", "category": "bias", "form": "operator", "calls": 1.0,
     "library": "framework", "busy_ns": 100.0},
    {**PART, "framework": "torch", "layer": "conv2", "category": "bias", "form": "operator", "calls": 1.0,
     "library": "framework", "busy_ns": 20.0},
    {**PART, "framework": "jax", "category": "conv", "busy_ns": 600.0},
    {**PART, "framework": "jax", "layer": "conv1", "category": "bias", "form": "operator", "calls": 2.0,
     "library": "XLA", "busy_ns": 360.0},
    {**PART, "framework": "jax", "layer": "conv2", "category": "activation", "form": "fused", "calls": 1.0,
     "library": "XLA"},
    {**PART, "framework": "jax", "layer": "fc1", "category": "activation", "form": "operator", "calls": 1.0,
     "library": "XLA", "busy_ns": 7.0},
    {**PART, "framework": "torch", "layer": "fc1", "category": "activation", "form": "operator", "calls": 3.0,
     "library": "framework", "busy_ns": 21.0},
    {"framework": "cntk", "model": "lenet", "category": "bias", "library": "CNTK", "busy_ns": 4.74e6, "source": "Kim"},
]  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    folder = tmp_path_factory.mktemp("study") / "study"
    rows = {"framework_times": TIMES, "framework_parts": PARTS}
    return connected(results.write(folder, rows, {"kind": "study frameworks"}))


def section(study: duckdb.DuckDBPyConnection, name: str, **params: str) -> list[Row]:
    query = sql.load(content("queries") / f"frameworks/{name}.sql")
    return [
        dict(zip(query.columns, row, strict=True)) for row in query.run(cast(duckdb.DuckDBPyConnection, study), params)
    ]


def test_gradient_and_update_are_differences_of_runs(study: duckdb.DuckDBPyConnection) -> None:
    rows = {row["framework"]: row for row in section(study, "times")}
    torch = rows["torch 2.13.0"]
    assert (torch["forward_ns"], torch["gradient_ns"], torch["update_ns"]) == (10e6, 20e6, 5e6)
    assert torch["forward_sd_ns"] == pytest.approx(math.sqrt(2) * 1e6)
    assert torch["gradient_sd_ns"] == pytest.approx(math.sqrt(2) * 1e6), "the gradient run has none"
    assert torch["update_sd_ns"] == pytest.approx(math.sqrt(2) * 1e6)
    assert (torch["processes"], torch["busy"]) == (2, 0)
    assert rows["mxnet"]["forward_sd_ns"] is None, "of one process"
    assert rows["onnxruntime"]["training_ns"] is None and rows["onnxruntime"]["busy"] == 1
    assert "theano" not in rows, "its threads differ"
    assert "theano" in {row["framework"] for row in section(study, "times", accept="threads")}


def test_a_gradient_run_that_does_more_than_a_step_says_nothing_of_the_gradient(tmp_path: Path) -> None:
    """Longer than a step by more than chance: neither a negative update nor too large a gradient is told."""
    times = [
        *runs("cntk", [10], [40], [25]),
        *runs("torch", [10, 10], [31, 29], [29, 29]),
        *runs("jax", [10, 10], [40, 42], [30, 30]),
        *runs("mxnet", [10], [31], [30]),
    ]
    study = connected(results.write(tmp_path / "study", {"framework_times": times}, {"kind": "study frameworks"}))
    rows = {
        row["framework"]: (row["gradient_ns"], row["update_ns"], row["together_ns"]) for row in section(study, "times")
    }
    assert rows == {
        "cntk": (None, None, 15e6),
        "torch": (20e6, None, 19e6),
        "jax": (None, None, 20e6),
        "mxnet": (21e6, None, 20e6),
    }
    ranked = [row["framework"] for row in section(study, "ranking") if "and gradients" in row["what"]]
    assert ranked == ["torch", "mxnet"]


def test_only_equal_conditions_are_ranked(study: duckdb.DuckDBPyConnection) -> None:
    rows = [(row["place"], row["framework"], row["ratio"]) for row in section(study, "ranking")]
    assert rows[:4] == [(1, "torch", 1.0), (2, "jax", 2.0), (None, "onnxruntime", 0.6), (None, "mxnet", 5.0)]
    assert rows[4:] == [
        (1, "torch", 1.0), (2, "jax", 40 / 30), (None, "mxnet", 2.0),
        (1, "torch", 1.0), (2, "jax", 1.2), (None, "mxnet", 2.0),
    ]  # fmt: skip
    whats = {row["what"] for row in section(study, "ranking")}
    assert "lenet training step, batch 64, 1 thread, nchw" in whats
    both = section(study, "ranking", accept="layout,threads")
    assert [row["framework"] for row in both if "training step" in row["what"]] == [
        "torch nchw", "jax nchw", "tensorflow nhwc", "theano nchw", "mxnet nchw"
    ]  # fmt: skip


def test_threads_are_held_against_the_fewest(study: duckdb.DuckDBPyConnection) -> None:
    rows = [(row["what"], row["threads"], row["speedup"], row["efficiency_pct"]) for row in section(study, "threads")]
    assert rows == [
        ("lenet forward pass", 1, 1.0, 100.0),
        ("lenet forward pass", 2, 2.0, 100.0),
        ("lenet training step", 1, 1.0, 100.0),
        ("lenet training step", 2, 1.5, 75.0),
    ]


def test_what_is_refused_has_its_reason_and_what_was_run_again_does_not(study: duckdb.DuckDBPyConnection) -> None:
    rows = [(row["framework"], row["status"], row["reason"]) for row in section(study, "refused")]
    assert rows == [
        ("theano", "differs", "threads 2, not 1"), ("cntk", "missing", "no environment"), ("torch7", "gone", "no Lua")
    ]  # fmt: skip
    assert section(study, "refused")[0]["mode"] == "forward, gradient, train"


def test_bias_is_ranked_by_library_beside_what_was_published(study: duckdb.DuckDBPyConnection) -> None:
    rows = [
        (row["work"], row["framework"], row["library"], row["form"], row["calls"], row["busy_ns"], row["ratio"])
        for row in section(study, "bias_relu")
    ]
    assert rows == [
        ("activation", "jax", "XLA", "fused", 1.0, None, None),
        ("activation", "jax", "XLA", "operator", 1.0, 7.0, None),
        ("activation", "torch", "framework", "operator", 3.0, 21.0, None),
        ("bias", "torch", "framework", "operator", 2.0, 120.0, None),
        ("bias", "jax", "XLA", "operator", 2.0, 360.0, None),
        ("bias", "cntk", "CNTK", None, None, 4.74e6, None),
    ]


def test_categories_and_layers_count_each_time_once(study: duckdb.DuckDBPyConnection) -> None:
    rows = [(row["category"], row["framework"], row["place"], row["busy_ns"]) for row in section(study, "categories")]
    assert rows == [("conv", "torch", 1, 300.0), ("conv", "jax", 2, 600.0), ("bias", "torch", 1, 100.0)]
    assert [row["busy_pct"] for row in section(study, "categories")] == [75.0, 100.0, 25.0]
    layers = [(row["layer"], row["framework"], row["busy_ns"], row["top"]) for row in section(study, "layers")]
    assert layers == [("conv1", "torch", 400.0, "conv"), ("(no layer)", "jax", 600.0, "conv")]


def test_one_bar_of_layers_and_passes_for_each_framework(tmp_path: Path) -> None:
    """A recording tells the pass of each part, an imported time is of its pass; alike names are one group."""
    passes = ("forward", "backward", "other")
    recorded = [
        {**PART, "framework": name, "layer": layer, "category": "conv", "pass": each, "busy_ns": place * 100.0}
        for name, layers in (("torch", ("conv1", "conv2", "fc1", "fc2")), ("keras", ("net/conv1/a", "net/conv1/b")))
        for place, layer in enumerate(layers, 1)
        for each in passes[:2]
    ]
    recorded += [
        {**PART, "framework": "torch", "category": "optimizer", "pass": "other", "busy_ns": 5.0},
        {**PART, "framework": "torch", "layer": "conv1", "category": "bias", "form": "operator", "busy_ns": 1e6},
    ]
    imported = [
        {"framework": "caffe", "model": "lenet", "mode": mode, "layer": "conv1", "busy_ns": ms * 1e6, "source": "mine"}
        for mode, ms in (("forward", 2), ("backward", 3), ("train", 7))
    ]
    study = connected(results.write(tmp_path / "study", {"framework_parts": recorded + imported}, {"kind": "study"}))
    rows = section(study, "stacked")
    bars: dict[str, list[tuple[str, str, float]]] = {}
    for row in rows:
        bars.setdefault(row["framework"], []).append((row["pass"], row["layer"], row["busy_ns"]))
    assert bars["torch"] == [
        *((each, layer, (place + 1) * 100.0) for each in passes[:2]
          for place, layer in enumerate(("conv1", "conv2", "fc1", "fc2"))),
        ("other", "(no layer)", 5.0),
    ]  # fmt: skip
    assert bars["keras"] == [
        (each, f"net/conv1/{name}", value) for each in passes[:2] for name, value in (("a", 100.0), ("b", 200.0))
    ]
    assert [(row["what"], row["pass"], row["busy_ns"]) for row in rows if row["framework"] == "caffe"] == [
        ("lenet, mine", "forward", 2e6), ("lenet, mine", "backward", 3e6),
        ("lenet, mine, whole training steps", "both", 7e6),
    ]  # fmt: skip
    few = section(study, "stacked", most="1")
    assert {row["layer"] for row in few if row["framework"] == "torch"} == {"fc2", "(other layers)", "(no layer)"}
    assert sum(row["busy_ns"] for row in few) == sum(row["busy_ns"] for row in rows)


def test_places_are_among_those_whose_conditions_are_equal(tmp_path: Path) -> None:
    row = {"model": "alexnet", "batch": 128, "mode": "train", "status": "published", "device": "gpu", "source": "there"}
    rows = [
        {**row, "framework": "neon", "step_ns": 50_000_000, "differs": "network", "reason": "groups"},
        {**row, "framework": "caffe", "step_ns": 80_000_000},
        {**row, "framework": "torch7", "step_ns": 90_000_000},
    ]
    alone = connected(results.write(tmp_path / "published", {"framework_times": rows}, {"kind": "study frameworks"}))
    found = {row["framework"]: row["training_place"] for row in section(alone, "published")}
    assert found == {"neon": None, "caffe": 1, "torch7": 2}


def test_published_places_are_among_the_same_threads_and_layout(tmp_path: Path) -> None:
    row = {"model": "alexnet", "batch": 128, "mode": "train", "status": "published", "device": "gpu", "source": "there"}
    rows = [
        {**row, "framework": name, "threads": threads, "layout": layout, "step_ns": ms * 1_000_000}
        for name, threads, layout, ms in (
            ("torch", 1, "nchw", 10), ("torch", 4, "nchw", 5), ("caffe", 1, "nchw", 6), ("tensorflow", 1, "nhwc", 4),
        )
    ]  # fmt: skip
    alone = connected(results.write(tmp_path / "published", {"framework_times": rows}, {"kind": "study frameworks"}))
    names = ("framework", "threads", "layout", "training_place")
    assert [tuple(row[name] for name in names) for row in section(alone, "published")] == [
        ("caffe", 1, "nchw", 1), ("torch", 1, "nchw", 2), ("tensorflow", 1, "nhwc", None), ("torch", 4, "nchw", None),
    ]  # fmt: skip


def test_published_times_have_places_of_their_own(study: duckdb.DuckDBPyConnection) -> None:
    names = ("model", "framework", "forward_place", "cannot", "differs")
    assert [tuple(row[name] for name in names) for row in section(study, "published")] == [
        ("alexnet", "neon", None, None, "groups"),
        ("lenet", "theano", 2, None, None),
        ("lenet", "torch7", 1, "no Lua", None),
    ]


@pytest.mark.slow
def test_the_environment_is_that_of_what_was_measured(study: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Published times beside it are of other machines; alone they are what there is."""
    query = "SELECT condition, value FROM environment WHERE value IS NOT NULL"
    found = dict(study.execute(query).fetchall())
    assert "GPU" not in found and "neon" not in found["framework"] and "torch 2.13.0" in found["framework"]
    assert (found["model"], found["batch"], found["threads"]) == ("lenet", "64", "1, 2")
    assert found["publication"] == "README"
    rows = {"framework_times": [row for row in TIMES if row.get("status") == "published"]}
    alone = connected(results.write(tmp_path / "published", rows, {"kind": "study frameworks"}))
    found = dict(alone.execute(query).fetchall())
    assert (found["GPU"], found["framework"]) == ("M40", "neon, theano, torch7")


def test_conditions_are_those_of_what_was_measured(study: duckdb.DuckDBPyConnection) -> None:
    assert {row["framework"] for row in section(study, "conditions")} == {
        "torch", "jax", "theano", "tensorflow", "onnxruntime", "mxnet"
    }  # fmt: skip


def test_the_ranking_holds_differences_against_the_noise(tmp_path: Path) -> None:
    """A framework that is 2 % slower is not told apart from the fastest by processes that differ by 10 %."""
    rows = [
        *runs("torch", [9, 10, 11], [30] * 3, [100, 110, 90]),
        *runs("jax", [20, 21, 19], [40] * 3, [102, 112, 92]),
        *runs("mxnet", [15], [60], [300]),
    ]
    connection = connected(results.write(tmp_path / "study", {"framework_times": rows}, {"kind": "study frameworks"}))
    found = {(row["what"].split(",")[0], row["framework"]): row["verdict"] for row in section(connection, "ranking")}
    assert found["lenet forward pass", "torch"] == "least time", "mxnet ran once"
    assert found["lenet training step", "torch"] == "least time", "no difference from jax"
    assert found["lenet forward pass", "jax"] == "slower"
    assert found["lenet forward pass", "mxnet"] == "cannot tell: one process"
    assert found["lenet training step", "jax"] == "no difference seen"
    assert found["lenet training step", "mxnet"] == "cannot tell: one process"


@pytest.mark.slow
def test_a_ranking_on_a_busy_machine_says_so(tmp_path: Path) -> None:
    """One busy process of three is no reason for doubt, with two there is no place."""
    rows = [*runs("torch", [10] * 3, [30] * 3, [50, 51, 49]), *runs("jax", [20] * 3, [40] * 3, [100, 105, 95])]
    connection = connected(results.write(tmp_path / "quiet", {"framework_times": rows}, {"kind": "study frameworks"}))
    assert [row["verdict"] for row in section(connection, "ranking")] == ["fastest", "slower"] * 3
    for n, said in ((1, ["fastest", "slower"]), (2, ["least time", "cannot tell: machine busy"])):
        for row in [row for row in rows if (row["framework"], row["mode"]) == ("jax", "train")][:n]:
            row["others_pct"] = 80.0
        folder = results.write(tmp_path / f"busy{n}", {"framework_times": rows}, {"kind": "study frameworks"})
        with connected(folder) as connection:
            assert [row["verdict"] for row in section(connection, "ranking")] == said * 3
            assert [row["place"] for row in section(connection, "ranking")] == [1, 2 if n == 1 else None] * 3
            assert [(row["processes"], row["busy"]) for row in section(connection, "times")] == [(3, 0), (3, n)]


@pytest.mark.slow
def test_the_answer_names_the_least_time_or_says_why_it_cannot(tmp_path: Path) -> None:
    rows = [*runs("torch", [10] * 3, [30] * 3, [50, 51, 49]), *runs("jax", [20] * 3, [40] * 3, [100, 105, 95])]
    connection = connected(results.write(tmp_path / "quiet", {"framework_times": rows}, {"kind": "study frameworks"}))
    assert [row["text"] for row in section(connection, "verdict")] == [
        "lenet training step, batch 64, 1 thread, nchw: torch takes least, 50.0 ms; then jax, 2.00 times as long "
        "(whether that is more than chance says the ranking)."
    ]
    more = [*rows, *runs("mxnet", [5], [15], [25]), *runs("keras", [5] * 3, [15] * 3, [26] * 3, others_pct=80.0)]
    connection = connected(results.write(tmp_path / "more", {"framework_times": more}, {"kind": "study frameworks"}))
    assert section(connection, "verdict")[0]["text"] == (
        "lenet training step, batch 64, 1 thread, nchw: of those that can be ranked torch takes least, 50.0 ms; then "
        "jax, 2.00 times as long (whether that is more than chance says the ranking); cannot tell of keras, mxnet "
        "(one process, or a busy machine)."
    )
    for row in rows:
        row["others_pct"] = 80.0
    connection = connected(results.write(tmp_path / "busy", {"framework_times": rows}, {"kind": "study frameworks"}))
    assert [row["text"] for row in section(connection, "verdict")] == [
        "lenet training step, batch 64, 1 thread, nchw: cannot tell which framework is the fastest, most processes "
        "shared the machine with other programs.",
        "The machine was busy with something else in most processes of 2 of 2 rows.",
    ]


def test_a_forward_pass_is_a_race_of_all_where_some_do_nothing_else(tmp_path: Path) -> None:
    rows = [
        *runs("torch", [10] * 3, [30] * 3, [50, 51, 49]),
        *runs("onnxruntime", [20] * 3, [], [], others_pct=80.0),
        *runs("opencv", [30] * 3, [], []),
    ]
    connection = connected(results.write(tmp_path / "study", {"framework_times": rows}, {"kind": "study frameworks"}))
    assert [row["text"] for row in section(connection, "verdict")] == [
        "lenet forward pass, batch 64, 1 thread, nchw: of those that can be ranked torch takes least, 10.0 ms; then "
        "opencv, 3.00 times as long (whether that is more than chance says the ranking); cannot tell of onnxruntime "
        "(one process, or a busy machine).",
        "lenet training step, batch 64, 1 thread, nchw: torch takes 50.0 ms; nothing ran beside it that can be ranked.",
        "The machine was busy with something else in most processes of 1 of 3 rows.",
    ]


def test_versions_of_one_framework_are_rows_of_their_own(tmp_path: Path) -> None:
    """As where a study was gone on with after an update."""
    rows = [
        *runs("torch", [10, 11], [30, 31], [50, 51], version="2.12"),
        *runs("torch", [30], [90], [150], version="2.13"),
        *runs("jax", [20] * 3, [40] * 3, [100, 105, 95], version="0.10"),
    ]
    connection = connected(results.write(tmp_path / "study", {"framework_times": rows}, {"kind": "study frameworks"}))
    times = {row["framework"]: (row["forward_ns"], row["processes"]) for row in section(connection, "times")}
    assert times == {"torch 2.12": (10_500_000, 2), "torch 2.13": (30_000_000, 1), "jax 0.10": (20_000_000, 3)}
    found = [(row["place"], row["framework"]) for row in section(connection, "ranking") if "step" in row["what"]]
    assert found == [(1, "torch 2.12"), (2, "jax"), (None, "torch 2.13")]
    assert "cannot tell of torch 2.13 (one process" in section(connection, "verdict")[0]["text"]


def test_a_speed_up_by_threads_is_doubted_as_its_times_are(tmp_path: Path) -> None:
    rows = [
        *runs("torch", [20] * 3, [], [60] * 3, others_pct=70.0),
        *runs("torch", [5] * 3, [], [15] * 3, threads=2),
        *runs("jax", [20] * 3, [], [60] * 3),
        *runs("jax", [10] * 3, [], [30] * 3, threads=2),
        *runs("jax", [5], [], [15], threads=4),
    ]
    connection = connected(results.write(tmp_path / "study", {"framework_times": rows}, {"kind": "study frameworks"}))
    found = [(row["framework"], row["threads"], row["doubt"]) for row in section(connection, "threads")]
    busy, alone = "cannot tell: machine busy", "cannot tell: one process"
    assert found[: len(found) // 2] == [
        ("jax", 1, None), ("jax", 2, None), ("jax", 4, alone), ("torch", 1, busy), ("torch", 2, busy)
    ]  # fmt: skip


def test_a_speed_up_by_threads_is_of_one_version(tmp_path: Path) -> None:
    rows = [
        *runs("torch", [10] * 3, [30] * 3, [50] * 3, version="2.12"),
        *runs("torch", [6] * 3, [20] * 3, [30] * 3, version="2.13", threads=2),
    ]
    connection = connected(results.write(tmp_path / "study", {"framework_times": rows}, {"kind": "study frameworks"}))
    found = reports.section(connection, sql.load(content("queries") / "frameworks/threads.sql"))
    assert found.note == "No framework was run in one version with two numbers of threads: --threads 1,2."


def test_every_two_frameworks_are_held_against_the_noise_not_only_the_fastest(tmp_path: Path) -> None:
    """The second and third differ by 1 % and their processes by 5 %; one process of a fourth tells nothing."""
    rows = [
        *runs("torch", [10] * 3, [30] * 3, [50, 51, 49]),
        *runs("jax", [10] * 3, [30] * 3, [100, 105, 95]),
        *runs("mxnet", [10] * 3, [30] * 3, [101, 106, 96]),
        *runs("theano", [10], [30], [300]),
    ]
    connection = connected(results.write(tmp_path / "study", {"framework_times": rows}, {"kind": "study frameworks"}))
    found = {row["framework"]: row for row in section(connection, "ranking") if "training step" in row["what"]}
    assert {name: row["alike"] for name, row in found.items()} == {
        "torch": "cannot tell from theano",
        "jax": "no difference from mxnet; cannot tell from theano",
        "mxnet": "no difference from jax; cannot tell from theano",
        "theano": "cannot tell from jax, mxnet, torch",
    }
    assert (found["jax"]["verdict"], found["mxnet"]["verdict"]) == ("slower", "slower")
    assert found["mxnet"]["ratio"] == pytest.approx(101 / 50)


@pytest.mark.slow
def test_a_share_of_what_is_shown_as_no_time_has_no_ratio(tmp_path: Path) -> None:
    part = {**PART, "category": "bias", "form": "operator", "calls": 1.0}
    rows = [{**part, "framework": "torch", "busy_ns": 0.4}, {**part, "framework": "jax", "busy_ns": 3_000.0}]
    for name, least, ratio in (("none", 400.0, None), ("some", 1_500.0, 2.0)):
        rows[0]["busy_ns"] = least
        folder = results.write(tmp_path / name, {"framework_parts": rows}, {"kind": "study frameworks"})
        found = {row["framework"]: row["ratio"] for row in section(connected(folder), "bias_relu")}
        assert found["jax"] == ratio
