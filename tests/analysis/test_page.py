"""A page shows the reports' own numbers, a timeline of one median step, and says what was left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from timelines import EVENTS, event, made

from traceview import sql, store
from traceview.analysis import findings, page, reports, timeline
from traceview.errors import UsageError
from traceview.experiments import results
from traceview.experiments.algorithms.layers import parse
from traceview.paths import content, read_toml
from traceview.render.charts import KINDS
from traceview.render.page import render

SECTIONS = read_toml(content("queries") / "page" / "page.toml")


def test_charts_name_columns_that_are_there() -> None:
    for name in (*SECTIONS["experiments"], *SECTIONS["charts"]):
        query = sql.load(content("queries") / f"{name}.sql")
        how = dict(query.extra["chart"])
        assert how.pop("kind") in {*KINDS, "tree"}
        named = {column for value in how.values() for column in ([value] if isinstance(value, str) else value)}
        assert named <= set(query.columns), name


def test_every_query_of_the_folder_is_shown() -> None:
    own = {f"page/{path.stem}" for path in (content("queries") / "page").glob("*.sql")}
    assert own == {name for name in (*SECTIONS["experiments"], *SECTIONS["charts"]) if name.startswith("page/")}


@pytest.mark.slow
def test_the_timeline_is_of_a_median_step_and_numbers_are_the_reports(tmp_path: Path) -> None:
    later = [event("user_annotation", f"ProfilerStep#{n}", 1000 * n, length) for n, length in ((4, 440), (5, 600))]
    later += [event("kernel", "relu", at, 70, 1, device=0, stream=1, correlation=at) for at in (4100, 5100)]
    with made(tmp_path, EVENTS + later) as connection:
        shown = page.gather(connection, "title", 1000)
        overview = reports.run(connection, "overview", best=findings.best)
        assert shown.reports[0] == page._without_hints(reports.shown(overview, page.MOST_ROWS))
        assert not [line for section in shown.reports[0].sections for line in section.look.lines if "{command}" in line]
        assert shown.timeline and shown.timeline.note.startswith("Step 4, ")
        texts = np.array(shown.timeline.texts)
        assert set(texts[shown.timeline.columns["name"]]) >= {"step 4", "ProfilerStep#4"}
        assert sum(track.n_slices for track in shown.timeline.tracks) == len(shown.timeline.columns["dur_ns"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "note", "shown", "first"),
    [
        ({}, "Step 5, the one closest to the median in length and busy time; steps 3 to 7 can be chosen", "34567", 5),
        pytest.param(
            *({"steps": 1}, "Step 5, the one closest to the median in length and busy time", "5", None),
            marks=pytest.mark.long,
        ),
        ({"step": 4, "steps": 2}, "Steps 3 to 4; the critical path shown is that of step 4", "34", None),
        pytest.param(
            *({"step": 6, "steps": 9}, "Steps 3 to 7; the critical path shown is that of step 6", "34567", None),
            marks=pytest.mark.long,
        ),
        ({"step": 7, "steps": "all"}, "The whole recording; the critical path shown is that of step 7", "34567", None),
    ],
)
def test_steps_beside_the_one_that_is_shown(
    tmp_path: Path, asked: dict[str, Any], note: str, shown: str, first: int | None
) -> None:
    later = [event("user_annotation", f"ProfilerStep#{n}", 1000 * n, 400) for n in (4, 5, 6, 7)]
    later += [event("kernel", "relu", at, 70, 1, device=0, stream=1, correlation=at) for at in (4100, 5100, 6100, 7100)]
    with made(tmp_path, EVENTS + later) as connection:
        found = page.gather(connection, "title", 1000, **asked).timeline
    assert found and found.note == note and found.step == first
    names = {found.texts[at] for at in found.columns["name"]}
    assert {f"step {n}" for n in shown} == {name for name in names if name.startswith("step ")}


@pytest.mark.slow
def test_what_is_not_small_is_not_there_to_choose(tmp_path: Path) -> None:
    """A step stands with as many others as have the given number of slices together, and never without itself."""
    busy = [event("user_annotation", f"ProfilerStep#{n}", 1000 * n, 400) for n in (4, 5)]
    busy += [event("kernel", "relu", at, 70, 1, device=0, stream=1, correlation=at) for at in (4100, 5100)]
    busy += [event("cpu_op", "aten::relu", 4000 + at, 1) for at in range(30)]
    with made(tmp_path, EVENTS + busy) as connection:
        around = timeline.query("around")
        assert around.run(connection, {"step": 4, "most": 10}) == [(4, 4)]
        assert around.run(connection, {"step": 5, "most": 10}) == [(5, 5)]
        assert around.run(connection, {"step": 5, "most": 200}) == [(3, 5)]


@pytest.mark.long
def test_all_of_it_and_the_longest_of_it(tmp_path: Path) -> None:
    with made(tmp_path, EVENTS) as connection:
        whole = page.gather(connection, "title", 1000, steps="all").timeline
    assert whole and whole.note == "The whole recording" and whole.columns["start_ns"].min() == 0
    count = len(whole.columns["dur_ns"])
    with made(tmp_path / "again", EVENTS) as connection:
        longest = page.gather(connection, "title", 3, steps="all").timeline
    assert longest and len(longest.columns["dur_ns"]) == 3
    assert longest.note == f"The whole recording; the 3 longest of {count} slices, none shorter than 170,000 ns"


@pytest.mark.slow
def test_a_step_that_is_not_there(tmp_path: Path) -> None:
    with made(tmp_path, EVENTS) as connection, pytest.raises(UsageError, match="no step 77"):
        page.gather(connection, "title", 10, 77)


@pytest.mark.long
def test_a_log_of_averages_has_no_timeline(root: Path, tmp_path: Path) -> None:
    capture = store.convert([root / "samples/cntk_timing/cntk-2.7-lenet-cpu.txt.gz"], tmp_path / "capture")
    with store.open_capture(capture) as connection:
        assert page.gather(connection, "title", 10).timeline is None


@pytest.mark.long
def test_experiments_stand_on_the_page_of_captures_that_hold_one(tmp_path: Path) -> None:
    with made(tmp_path / "trace", EVENTS) as connection:
        names = [section.name for section in page.gather(connection, "title", 10).charts]
    without = {"flame_modules", "flame_lines", "operators", "areas", "blocks", "ranks"}
    assert names == [name for name in (path.rpartition("/")[2] for path in SECTIONS["charts"]) if name not in without]
    layer, _ = parse("64x27x27 k96 5x5 p2")
    facts = {**layer.facts(), "direction": "fprop", "status": "published", "device": "cpu", "n": 3}
    rows = [
        {**facts, "batch": batch, "algorithm": name, "wall_ns": factor * batch * 1000}
        for batch in (1, 8)
        for name, factor in (("fft", 9 - batch), ("direct", 4))
    ]
    tuned = {"name": "channels_last", "speedup": 1.2, "low": 1.1, "high": 1.3, "verdict": "faster", "kind": "option"}
    folder = results.write(tmp_path / "study", {"algorithm_times": rows, "tune_options": [tuned]}, {"kind": "study"})
    with store.open_capture(folder) as connection:
        shown = page.gather(connection, "title", 10)
    drawn = [section.name for report in shown.reports for section in report.sections if section.chart]
    assert shown.charts[0].name == "tuned" and {"winners", "layers", "flops", "batches"} <= {
        *drawn,
        *(section.name for section in shown.charts),
    }
    assert render(shown, "1").count("<h3>The fastest algorithm for each shape</h3>") == 1
    text = render(shown, "1")
    assert "channels_last: 1.20 (1.10 to 1.30) faster" in text
    assert (shown.findings, shown.timeline) == ((), None)
    assert 'id="advice"' not in text and "Nothing was found" not in text and "No rows" not in text
    assert "direct 2.00" in text and "fft 4.00" in text


@pytest.mark.long
def test_the_page_of_an_experiment_begins_with_its_answer(tmp_path: Path) -> None:
    option = {"name": "channels_last", "kind": "option", "verdict": "no difference seen", "speedup": 1.01, "pairs": 6}
    runs = [{"status": status, "others_pct": 40.0} for status in ("timed", "noisy", "noisy")]
    folder = results.write(tmp_path / "tuned", {"tune_options": [option], "tune_runs": runs}, {"kind": "tune"})
    with store.open_capture(folder) as connection:
        (report,) = page.gather(connection, "title", 10).reports
    assert [row[1] for row in report.sections[0].rows] == [
        "Nothing was shown to make the step faster: 1 of 1 option tried.",
        "The machine was busy in 2 of 3 runs (other programs took 40 % of the cores, median of all).",
    ]
    unsure = {"name": "x", "kind": "option", "verdict": "cannot decide", "reason": "not all of its runs were made"}
    folder = results.write(tmp_path / "open", {"tune_options": [unsure]}, {"kind": "tune"})
    with store.open_capture(folder) as connection:
        (report,) = page.gather(connection, "title", 10).reports
    told = "Nothing can be said of 1 option: not all of its runs were made."
    assert [row[1] for row in report.sections[0].rows] == [told]
    best = {**option, "verdict": "faster", "speedup": 1.3, "low": 1.2, "high": 1.4, "pairs": 24, "in_best": True}
    folder = results.write(tmp_path / "best", {"tune_options": [best], "tune_runs": runs[:1]}, {"kind": "tune"})
    with store.open_capture(folder) as connection:
        shown = page.gather(connection, "title", 10)
    (report,) = shown.reports
    assert "page/tuned" in {f"page/{section.name}" for section in shown.charts}
    told = "channels_last: 1.30 times as fast (1.20 to 1.40), by 24 pairs of fresh runs."
    assert [row[1] for row in report.sections[0].rows] == [told]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "layout", "plan", "told", "shown"),
    [
        (
            "not proved",
            "nchw",
            {"modelled_speedup": 2.4, "verdict": "no difference seen", "noisy_pairs": 2, "pairs": 6},
            [
                "The plan is empty: PyTorch's own algorithms stay; whole steps with what was chosen first: "
                "no difference seen.",
                "The machine was busy in 2 of 6 rounds: other programs took a tenth of the cores.",
            ],
            [],
        ),
        (
            "chosen",
            "nchw",
            {"modelled_speedup": 2.4, "speedup": 1.2, "low": 1.1, "high": 1.3, "pairs": 12, "verdict": "faster"},
            [
                "With the plan a training step is 1.20 times as fast (1.10 to 1.30), by 12 rounds of fresh processes; "
                "convolutions alone 2.40 times, as measured by themselves."
            ],
            ["the plan, whole step", "the plan, convolutions"],
        ),
        (
            "chosen",
            "nchw",
            {"modelled_speedup": 2.4, "verdict": "not proved end to end"},
            ["The plan makes the measured convolutions 2.40 times as fast; whole steps: not proved end to end."],
            ["the plan, convolutions"],
        ),
        (
            "own",
            "nhwc",
            {"modelled_speedup": 2.4, "verdict": "not proved end to end"},
            ["The plan makes the measured convolutions 2.40 times as fast; whole steps: not proved end to end."],
            ["the plan, convolutions"],
        ),
    ],
)
def test_an_empty_plan_praises_nothing(
    status: str, layout: str, plan: dict[str, Any], told: list[str], shown: list[str], tmp_path: Path
) -> None:
    """A plan that only brings layers into channels last is not empty."""
    layer = {"place": 1, "layer": "conv1", "direction": "fprop", "own_ns": 4_000_000, "time_ns": 2_000_000}
    ran = {"status": status, "layout": layout}
    tables = {"schedule_layers": [{**layer, **ran}], "schedule_plans": [{"name": "the plan", **plan}]}
    folder = results.write(tmp_path / "plan", tables, {"kind": "schedule"})
    with store.open_capture(folder) as connection:
        made = page.gather(connection, "title", 10)
    assert [row[1] for row in made.reports[0].sections[0].rows] == told
    assert [row[0] for section in made.charts if section.name == "plans" for row in section.rows] == shown
    planned = [row[1] for section in made.charts if section.name == "planned" for row in section.rows]
    assert planned == (["own", "plan"] if status != "not proved" else ["own"])


@pytest.mark.long
def test_a_plan_stands_on_the_page(tmp_path: Path) -> None:
    layer = {"place": 1, "layer": "features.3", "direction": "fprop", "own_ns": 4_000_000}
    layers = [
        {**layer, "time_ns": 2_000_000, "algorithm": "winograd", "status": "chosen"},
        {**layer, "direction": "wgrad", "time_ns": 4_000_000, "status": "own"},
    ]
    plans = [
        {"name": "the plan", "modelled_speedup": 1.33, "speedup": 1.2, "low": 1.1, "high": 1.3, "verdict": "faster"},
        {"name": "PyTorch's own", "modelled_speedup": 1.0},
    ]
    tables = {"schedule_layers": layers, "schedule_plans": plans}
    folder = results.write(tmp_path / "plan", tables, {"kind": "schedule"})
    with store.open_capture(folder) as connection:
        shown = page.gather(connection, "title", 10)
    first, second = shown.charts[:2]
    assert [(row[0], row[1]) for row in first.rows] == [
        ("the plan, whole step", 1.2), ("the plan, convolutions", 1.33), ("PyTorch's own, convolutions", 1.0),
    ]  # fmt: skip
    assert [row[:4] for row in second.rows] == [
        ("features.3 fprop", "own", "PyTorch's own", 4_000_000),
        ("features.3 fprop", "plan", "winograd", 2_000_000),
        ("features.3 wgrad", "own", "PyTorch's own", 4_000_000),
    ]
    assert "the plan, whole step: 1.20 (1.10 to 1.30) faster" in render(shown, "1")


@pytest.mark.slow
def test_a_page_of_published_times_begins_with_its_answer_and_has_no_hints_of_the_terminal(tmp_path: Path) -> None:
    layer, _ = parse("8x64x9x9 k8 3x3 s1 p1")
    rows = [
        {**layer.facts(), "status": "published", "device": "TITAN", "algorithm": "direct", "direction": way,
         "batch": batch, "model": "net", "layer": "one", "backend": "cuDNN", "wall_ns": 1_000 * batch, "n": 1}
        for batch in range(1, 30) for way in ("fprop", "dgrad", "wgrad")
    ]  # fmt: skip
    folder = results.write(tmp_path / "published", {"algorithm_times": rows}, {"kind": "study"})
    with store.open_capture(folder) as connection:
        shown = page.gather(connection, "title", 10)
    sections = shown.reports[0].sections
    assert sections[0].rows[0][1].startswith("No algorithm can be called the fastest: the 87 published times")
    assert all(section.rows for section in sections)
    (layers,) = (section for section in sections if section.name == "layers")
    assert len(layers.rows) == 29 and layers.chart, "a chart has all of its rows"
    text = render(shown, "1")
    assert "--limit 0" not in text and "Nothing was measured" not in text and "`" not in text


@pytest.mark.slow
def test_the_page_of_a_study_of_scaling_begins_with_its_own_report(tmp_path: Path) -> None:
    point = {"status": "measured", "mode": "weak", "batch": 8, "base_ranks": 1, "step_ns": 10**7, "verdict": "faster"}
    points = [{**point, "ranks": n, "speedup": n * 0.9, "low": n * 0.8, "high": float(n)} for n in (1, 2)]
    folder = results.write(tmp_path / "scaling", {"scaling_points": points}, {"kind": "study scaling"})
    with store.open_capture(folder) as connection:
        (report,) = page.gather(connection, "title", 10).reports
    assert report.name == "scaling" and all(section.rows for section in report.sections)
    assert report.sections[0].rows[0][1].startswith("Weak scaling, batch 8 per rank: 2 ranks 1.80 times as fast as 1")


@pytest.mark.slow
def test_results_that_answer_nothing_are_one_sentence(tmp_path: Path) -> None:
    folder = results.write(tmp_path / "empty", {"algorithm_times": []}, {"kind": "study"})
    with store.open_capture(folder) as connection:
        (report,) = page.gather(connection, "title", 10).reports
    assert [section.name for section in report.sections] == ["verdict"] and report.sections[0].note
