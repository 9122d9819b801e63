"""The first lines of a comparison: how sure it is, what the difference consists of, and which settings explain it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compared import GEMM, measured, stepping, table
from given import Given

from traceview.analysis import compare, gates
from traceview.analysis.compare import Run
from traceview.errors import UsageError

SLOW = (1260, 1262, 1258, 1261, 1259)
FAST = (1000, 1002, 998, 1001, 999)


def noted(lengths: Sequence[float], busy: float = 100, **about: Any) -> Given:
    """Steps on a CPU with what `traceview collect` notes of the process."""
    given = Given()
    given.command = ["python", "train.py"]
    given.device("AMD EPYC", kind="cpu")
    start = 0.0
    for number, length in enumerate(lengths):
        given.span("step", f"step#{number + 1}", start, start + length)
        given.op("aten::mm", start + 10, start + 10 + busy)
        start += length
    used = {"wall_ns": round(start * 1000), "user_ns": round(start * 1000), "system_ns": 0, "involuntary_switches": 0}
    given.about = {"threads": 1, "cores": 2, "usage": used, "flags": {"x64": False}, "options": {}, **about}
    return given


def said(runs: Sequence[Run]) -> str:
    return str(table(compare.compare(runs), "answer")[0]["sentence"])


@pytest.mark.slow
def test_the_first_sentence_says_how_much_how_surely_and_what_of(tmp_path: Path) -> None:
    a, b = measured(stepping(FAST), tmp_path / "a"), measured(stepping(SLOW, busy=300), tmp_path / "b")
    sentence = said([a, b])
    assert sentence.startswith("B is 26.0 % slower than A (95 % interval +25.")
    assert "; one recording each), mostly gemm (+0.20 ms, 77 %) and idle: between steps (+60 us, 23 %)" in sentence
    assumed = "model (taken for the same, since both ran the same command)"
    unchecked = f" Not recorded, so not checked: {assumed}, batch, precision, passes."
    assert sentence.endswith(f"{unchecked} The settings of at least one are not recorded.")
    assert said([b, a]).startswith("B is 20.6 % faster than A (95 % interval -20.")


@pytest.mark.slow
def test_jobs_of_other_numbers_of_ranks_are_compared_by_rank(tmp_path: Path) -> None:
    """A step of 1.26 against 1.0 ms is longer, but of twice as many samples."""

    def ranks(number: int, lengths: Sequence[float], **about: Any) -> list[Given]:
        found = [stepping(lengths, rank=rank) for rank in range(number)]
        for each in found:
            each.about = about
        return found

    model = {"model": {"batch": 32}}
    a, b = measured(ranks(1, FAST, **model), tmp_path / "a"), measured(ranks(2, SLOW, **model), tmp_path / "b")
    told = "which together process 50,794 samples per second against 32,000 if each rank has samples of its own. "
    assert said([a, b]).startswith("B is 26.0 % slower than A (")
    assert f" Times are per rank, of 2 recorded ranks against 1, {told}" in said([a, b])
    unknown = [measured(ranks(2, SLOW), tmp_path / "c"), measured(ranks(1, FAST), tmp_path / "d")]
    assert " Times are per rank, of 1 recorded rank against 2. " in said(unknown)
    assert "per rank" not in said([b, b])


@pytest.mark.slow
def test_small_differences_are_told_in_the_unit_that_fits(tmp_path: Path) -> None:
    a, b = (measured(stepping((90 + more,) * 9, 10 + more), tmp_path / str(more)) for more in (0, 4))
    assert "B is 4.4 % slower than A" in said([a, b]) and ", mostly gemm (+4 us, 100 %)." in said([a, b])
    whole = [measured(stepping((90,), busy), tmp_path / f"whole{busy}", whole=True) for busy in (20, 24)]
    assert "compared as whole recordings, 24.00 us against 20.00 us: " in said(whole)
    long, longer = (measured(stepping((1600 + more,) * 9), tmp_path / f"l{more}") for more in (0, 0.001))
    assert said([long, longer]).startswith("A step of B takes as long as one of A (95 % interval +0.0 % to +0.0 %; ")


@pytest.mark.slow
def test_the_interval_of_a_large_speed_up_is_one_of_speeds(tmp_path: Path) -> None:
    a, b = (
        measured(stepping([10 * length for length in FAST]), tmp_path / "a"),
        measured(stepping(FAST), tmp_path / "b"),
    )
    assert said([a, b]).startswith("B is 10 times faster than A (95 % interval 9.9")
    low, high = re.findall(r"interval ([\d.]+) to ([\d.]+) times; one", said([b, a]))[0]
    faster = re.findall(r"interval ([\d.]+) to ([\d.]+) times; one", said([a, b]))[0]
    assert said([b, a]).startswith("B is 10 times slower than A") and float(low) <= 10 <= float(high)
    assert [float(text) for text in faster] == pytest.approx([float(low), float(high)], rel=0.01)


@pytest.mark.slow
def test_an_estimate_is_told_as_its_interval_is(tmp_path: Path) -> None:
    """Recordings take 0.25 to 0.55 of A's time: 61.3 % less, of which nobody sees that it lies between 1.82 and 4."""
    a, b = recordings(tmp_path / "a", (1000,) * 4), recordings(tmp_path / "b", (250, 300, 500, 550))
    interval = "than A (97 % interval 1.82 to 4 times; 4 and 4 recordings)"
    assert said([a, b]).startswith(f"B is 2.58 times faster {interval}")
    assert said([b, a]).startswith(f"B is 2.58 times slower {interval}")
    few = recordings(tmp_path / "few", (250, 550))
    sentence = "a step of B takes 0.371 times as long as one of A (67 % interval 0.25 to 0.55 times; "
    assert sentence in said([recordings(tmp_path / "two", (1000, 1000)), few])


@pytest.mark.slow
def test_within_the_noise_no_share_and_no_bar_is_given(tmp_path: Path) -> None:
    a = measured(stepping((1000, 1004, 996, 1002, 998), busy=100), tmp_path / "a")
    b = measured(stepping((1003, 999, 1001, 997, 1004), busy=150), tmp_path / "b")
    report = compare.compare([a, b])
    assert said([a, b]).startswith("B is neither slower nor faster than A beyond the noise")
    rows = {row["part"]: row for row in table(report, "difference")}
    assert {row["share_pct"] for row in rows.values()} == {None}
    assert (rows["(whole step)"]["beyond_ns"], rows["gemm"]["beyond_ns"]) == (None, 50_000)


@pytest.mark.slow
def test_settings_that_differ_are_named_and_those_that_explain_come_first(tmp_path: Path) -> None:
    a = measured(noted(FAST, threads=1, environment={"OMP_NUM_THREADS": "1"}), tmp_path / "a")
    b = measured(noted(SLOW, threads=2, flags={"x64": True}), tmp_path / "b")
    rows = table(compare.compare([a, b]), "settings")
    assert [(row["kind"], row["setting"], row["base_value"], row["value"]) for row in rows] == [
        ("threads", "threads", "1", "2"),
        ("flag", "x64", "false", "true"),
        ("environment", "OMP_NUM_THREADS", "1", None),
    ]


@pytest.mark.slow
def test_how_data_are_loaded_can_explain_a_difference(tmp_path: Path) -> None:
    def loader(workers: int, prefetch_factor: int | None) -> dict[str, Any]:
        own = {"workers": workers, "prefetch_factor": prefetch_factor, "pin_memory": False, "batch": 16}
        return {**own, "trains": True, "batches": 4}

    a = measured(noted(FAST, loaders=[loader(0, None)]), tmp_path / "a")
    b = measured(noted(SLOW, loaders=[loader(1, 2)]), tmp_path / "b")
    (row,) = table(compare.compare([a, b]), "settings")
    assert (row["kind"], row["setting"], row["can_explain"]) == ("data", "data loading", True)
    assert (row["base_value"], row["value"]) == ("no workers, batch 16", "1 worker, prefetch_factor=2, batch 16")
    assert "can explain a difference: data loading no workers, batch 16 -> 1 worker, prefetch" in said([a, b])


@pytest.mark.slow
def test_graphs_that_were_compiled_can_explain_a_difference(tmp_path: Path) -> None:
    """A function and its gradient are one graph; what could not be compiled is none."""
    graphs = [{"id": "0/0"}, {"id": "0/0", "is_backward": True}, {"id": "1/0", "failed": "InternalTorchDynamoError"}]
    a = measured(noted(SLOW), tmp_path / "a")
    b = measured(noted(FAST, compiled={"graphs": graphs, "is_complete": True, "breaks": []}), tmp_path / "b")
    (row,) = table(compare.compare([a, b]), "settings")
    assert (row["kind"], row["setting"], row["value"], row["can_explain"]) == (
        "option",
        "torch.compile",
        "1 graph",
        True,
    )
    assert said([a, b]).endswith("can explain a difference: torch.compile not set -> 1 graph.")


@pytest.mark.long
def test_options_that_were_tried_are_named_and_may_change_what_they_are_about(tmp_path: Path) -> None:
    model = {"parameters": 5, "name": "Net"}
    applied = {
        "bf16_autocast": "yes: the model was called in autocast",
        "fused_optimizer": "no: it is so already, by the script or by default",
    }
    base = noted(SLOW, model={**model, "parameter_dtypes": ["float32"]})
    best = noted(FAST, model={**model, "parameter_dtypes": ["float32"], "autocast_dtype": "bfloat16"}, applied=applied)
    base.command = best.command = ["python", "train.py"]
    a, b = measured(base, tmp_path / "base"), measured(best, tmp_path / "best")
    report = compare.compare([a, b])
    assert said([a, b]).startswith("B is 20.6 % faster than A")
    assert "bf16_autocast not set -> yes: the model was called" in said([a, b])
    assert [(row["kind"], row["setting"]) for row in table(report, "settings")][:2] == [
        ("option", "bf16_autocast"),
        ("option", "fused_optimizer"),
    ]
    row = next(row for row in table(report, "conditions") if row["condition"] == "precision")
    assert (row["verdict"], row["detail"]) == ("differs (options tried)", "bf16_autocast")


@pytest.mark.long
def test_options_that_were_tried_change_nothing_else(tmp_path: Path) -> None:
    applied = {"bf16_autocast": "yes: the model was called in autocast"}
    base = noted(SLOW, model={"name": "Net", "batch": 8, "parameter_dtypes": ["float32"]})
    best = noted(FAST, model={"name": "Net", "batch": 8, "autocast_dtype": "bfloat16"}, applied=applied)
    # Of another command nothing says that it is one and the same.
    best.command = ["python", "other.py"]
    runs = [measured(base, tmp_path / "a"), measured(best, tmp_path / "b")]
    assert said(runs).startswith("B and A are not ranked, because they differ in precision")
    other = noted(FAST, model={"name": "Net", "batch": 7}, applied=applied)
    runs = [measured(base, tmp_path / "eight"), measured(other, tmp_path / "seven")]
    assert said(runs).startswith("B and A are not ranked, because they differ in batch")


@pytest.mark.long
def test_a_busy_machine_is_named_and_nothing_is_claimed(tmp_path: Path) -> None:
    usage = {"wall_ns": 6_300_000, "user_ns": 5_000_000, "system_ns": 0, "involuntary_switches": 2}
    a, b = measured(noted(FAST), tmp_path / "a"), measured(noted(SLOW, usage=usage), tmp_path / "b")
    sentence = said([a, b])
    assert sentence.startswith("The machine was busy, so nothing is claimed: a step of B took 26.0 % longer than one")
    assert "B had 79 % of the processor time that its 1 thread can use" in sentence and "A had" not in sentence
    report = compare.compare([a, b])
    assert table(report, "ranking")[1]["verdict"].startswith(
        "cannot tell from noise: the machine was busy while B was recorded"
    )
    assert {row["beyond_ns"] for row in table(report, "difference")} == {None}
    waited = usage | {"involuntary_switches": 0}
    assert said([a, measured(noted(SLOW, usage=waited), tmp_path / "c")]).startswith("B is 26.0 % slower")


@pytest.mark.slow
def test_who_waits_for_a_processor_and_is_interrupted_seldom_was_on_a_busy_machine(tmp_path: Path) -> None:
    """Slices of time may be as long as a recording: three interruptions, 8 % of the processor time."""
    usage = {"wall_ns": 204_000_000, "user_ns": 14_000_000, "system_ns": 0, "involuntary_switches": 3}
    a = measured(noted((40_000,) * 5, busy=39_000), tmp_path / "a")
    b = measured(noted((40_800,) * 5, busy=40_000, usage=usage), tmp_path / "b")
    sentence = said([a, b])
    assert sentence.startswith("The machine was busy, so nothing is claimed: ")
    assert "B had 7 % of the processor time that its 1 thread can use" in sentence
    assert "and was interrupted 15 times a second" in sentence


@pytest.mark.slow
@pytest.mark.parametrize(("n_busy", "outcome"), [(2, "failed"), (3, "cannot tell")])
def test_a_machine_that_was_busy_in_most_recordings_of_a_side_is_said_and_fails_no_check(
    tmp_path: Path, n_busy: int, outcome: str
) -> None:
    """A load that lasts through all recordings of one side is no noise between recordings."""

    def taken(name: str, mean: int, used_pct: int) -> Run:
        used = {"wall_ns": 5_000 * mean, "user_ns": 50 * used_pct * mean, "system_ns": 0}
        usage = used | {"involuntary_switches": 2 if used_pct < 100 else 0}
        return measured(noted((mean,) * 5, busy=mean - 100, usage=usage), tmp_path / name)

    a = compare.side([taken(f"a{n}", 1000 + n, 100) for n in range(4)])
    b = compare.side([taken(f"b{n}", 1260 + n, 40 + n if n < n_busy else 100) for n in range(4)])
    report = compare.compare([a, b])
    step, part = gates.checks(report, [a, b], {"step": 5, "category": 5})
    assert (step.outcome, part.outcome) == (outcome, outcome)
    told = outcome == "cannot tell"
    assert step.reason.startswith("larger than the noise")
    assert ("; the machine was busy while B was recorded" in step.reason) == told
    assert part.reason == ("above the limit, but the machine was busy" if told else "larger than the noise")
    assert said([a, b]).startswith("B is 26.0 % slower than A (97 % interval")
    busy = "in 3 of 4 recordings B had 40 to 42 % of the processor time that its threads can use"
    assert said([a, b]).endswith(f" The machine was busy: {busy}.") == told


def recordings(folder: Path, means: Sequence[float], busy: float = 100) -> Run:
    return compare.side([measured(stepping((mean, mean, mean), busy), folder / str(mean)) for mean in means])


@pytest.mark.long
def test_noise_is_between_recordings_where_there_are_several(tmp_path: Path) -> None:
    """Steps of one recording are alike; recordings differ by a fifth."""
    a, b = recordings(tmp_path / "a", (1000, 1100, 1200, 1050)), recordings(tmp_path / "b", (1150, 1020, 1210, 1080))
    (single,) = table(compare.compare([a.others[0], b]), "ranking")[1:]
    both = compare.compare([a, b])
    assert [row["recordings"] for row in table(both, "runs")] == [4, 4]
    row = table(both, "ranking")[1]
    assert row["verdict"].startswith("within the noise; ") and row["ratio"] == pytest.approx(1.0245, abs=0.002)
    (answer,) = table(both, "answer")
    assert answer["confidence_pct"] == pytest.approx(100 * (1 - 2 / 70))
    assert answer["noise_from"] == "4 and 4 recordings" and "4 and 4 recordings" in answer["sentence"]
    assert single["verdict"].startswith("cannot tell from noise: too few recordings")
    c = recordings(tmp_path / "c", (1400, 1410, 1420, 1430), busy=300)
    assert said([a, c]).startswith("B is 31")
    assert {row["part"] for row in table(compare.compare([a, c]), "difference") if row["beyond_ns"]} >= {"gemm"}


@pytest.mark.slow
def test_a_step_in_ten_that_is_longer_makes_all_of_them_longer(tmp_path: Path) -> None:
    """A checkpoint in every tenth step: the median step is that of A, but training takes longer."""

    def side(name: str, more: float) -> Run:
        lengths = [[1000 + n + (more if step == 5 else 0) for step in range(10)] for n in range(4)]
        return compare.side([measured(stepping(some), tmp_path / f"{name}{n}") for n, some in enumerate(lengths)])

    a, b, faster = side("a", 0), side("b", 3000), side("faster", -1000 + 150)
    assert said([a, b]).startswith("B is 30.0 % slower than A (97 % interval +29.6 % to +30.3 %; 4 and 4 recordings), ")
    report = compare.compare([a, b])
    ratio, whole = table(report, "ranking")[1]["ratio"], table(report, "difference")[0]
    assert ratio == pytest.approx(1.3, abs=0.001) and whole["ratio"] == pytest.approx(ratio, abs=0.001)
    assert said([a, faster]).startswith("B is 8.5 % faster than A")
    (check,) = gates.checks(report, [a, b], {"step": 5})
    assert check.outcome == "failed"


@pytest.mark.long
def test_the_recording_with_the_middle_step_stands_for_its_side(tmp_path: Path) -> None:
    run = recordings(tmp_path, (1200, 1000, 1100))
    assert run.value("step_ns") == 1_100_000 and len(run.recordings) == 3
    again = compare.restored(compare.saved([run, run]), "saved.json")
    assert again == run


@pytest.mark.slow
def test_recordings_of_one_run_all_have_steps_or_none(tmp_path: Path) -> None:
    given = Given()
    given.kernel(GEMM, 0, 500, launched=0)
    bare, stepped = measured(given, tmp_path / "bare"), measured(stepping(FAST), tmp_path / "stepped")
    told = "no steps in bare, bare, but in other recordings of the same run; leave one kind out."
    with pytest.raises(UsageError, match=told):
        compare.side([bare, stepped, bare])


@pytest.mark.long
def test_one_run_without_steps_leaves_the_others_theirs(tmp_path: Path) -> None:
    given = Given()
    given.kernel(GEMM, 0, 500, launched=0)
    a, b = measured(stepping(FAST), tmp_path / "a"), measured(stepping(SLOW), tmp_path / "b")
    bare, whole = measured(given, tmp_path / "c"), measured(stepping(FAST), tmp_path / "d", whole=True)
    report = compare.compare([a, bare, b], (), whole)
    ranking = table(report, "ranking")
    assert [(row["run"], row["place"], row["step_ns"]) for row in ranking] == [
        ("A", 1, 1_000_000),
        ("B", None, 500_000),
        ("C", 2, 1_260_000),
    ]
    assert ranking[1]["verdict"].startswith("no steps") and ranking[2]["verdict"].startswith("larger than the noise")
    whole_b = table(report, "difference")[0]
    assert (whole_b["run"], whole_b["base_ns"]) == ("B", whole.value("step_ns"))


@pytest.mark.long
def test_the_same_work_stands_side_by_side(tmp_path: Path) -> None:
    runs = [measured(stepping(FAST, busy), tmp_path / str(busy)) for busy in (100, 200, 300)]
    rows = table(compare.compare(runs), "work")
    assert [(row["run"], row["work"], row["busy_ns"], row["ratio_to_best"]) for row in rows] == [
        (label, "matrix product", 100_000 * n, n) for n, label in enumerate("ABC", 1)
    ]


@pytest.mark.long
def test_what_collect_noted_fills_what_the_trace_does_not_tell(tmp_path: Path) -> None:
    model = {"batch": 64, "parameters": 431080, "parameter_dtypes": ["bfloat16"]}
    a, b = (measured(noted(FAST, model=model), tmp_path / name) for name in "ab")
    conditions = {row["condition"]: row for row in table(compare.compare([a, b]), "conditions")}
    assert [(name, conditions[name]["value"], conditions[name]["verdict"]) for name in ("batch", "precision")] == [
        ("batch", "64", "same"),
        ("precision", "bf16", "same"),
    ]
    assert (conditions["model"]["value"], conditions["model"]["verdict"]) == ("431,080 parameters", "same")


@pytest.mark.long
def test_an_aligned_step_is_chosen_by_place(tmp_path: Path) -> None:
    with stepping((1000, 1100, 1200)).open(tmp_path) as connection:
        assert compare.measure(connection, "x", None, False, 2).value("step_ns") == 1_100_000


@pytest.mark.slow
def test_where_a_step_takes_no_time_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """A log may say "0 ms"."""
    run = measured(stepping(FAST), tmp_path)
    row = dict(zip([name for name, _ in run.facts["run"].columns], run.facts["run"].rows[0], strict=True))
    facts = {name: replace(run.facts[name], rows=rows) for name, rows in (("cell", ()), ("idle", ()), ("block", ()))}
    timeless, long = (
        replace(run, facts={**run.facts, **facts, "run": replace(run.facts["run"], rows=(tuple(values.values()),))})
        for values in ({**row, "step_ns": 0.0}, {**row, "step_ns": 1e6})
    )
    several = compare.side([long, timeless])
    for runs in ([timeless, long], [long, timeless], [timeless, timeless], [long, several]):
        report = compare.compare(runs)
        assert compare.in_words(report).sections[0].note.startswith("B and A have no time to compare. ")  # type: ignore[union-attr]
        assert table(report, "ranking")[1]["verdict"].startswith("cannot tell from noise: no time to compare; ")
        (check,) = gates.checks(report, runs, {"step": 5})
        assert (check.outcome, check.ratio) == ("cannot tell", None)


@pytest.mark.slow
def test_the_whole_step_has_the_interval_of_the_ratio(tmp_path: Path) -> None:
    """Few steps that differ much: limits on the logarithm and on the time itself would contradict each other."""
    a = measured(stepping((1600,) * 6), tmp_path / "a")
    b = measured(stepping((2100, 9600, 2600, 9600)), tmp_path / "b")
    report = compare.compare([a, b])
    ratio, whole = table(report, "ranking")[1], table(report, "difference")[0]
    assert 1 < ratio["low"] < 2 and ratio["high"] > 12 and whole["part"] == "(whole step)"
    assert (whole["low_ns"], whole["high_ns"]) == pytest.approx([1.6e6 * (ratio[end] - 1) for end in ("low", "high")])


@pytest.mark.slow
def test_idle_time_is_a_part_with_noise_of_its_own(tmp_path: Path) -> None:
    a, b = measured(stepping(FAST), tmp_path / "a"), measured(stepping(SLOW), tmp_path / "b")
    found = compare.tables([(0, a), (1, b)])["part_noise"].rows
    assert {part for _, part, low, _ in found if low > 0} == {"(whole step)", "idle: between steps"}
