"""State that a tune session keeps to go on with, its output before the first run, and the length of its runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from traceview.errors import InputError, UsageError
from traceview.experiments.command import Limits, copy, size
from traceview.experiments.results import Journal
from traceview.experiments.tune import tuning
from traceview.experiments.tune.options import Facts, named
from traceview.experiments.tune.outcome import Bound, bounds
from traceview.experiments.tune.search import Found, Tried
from traceview.experiments.tune.tuning import Job, apply, best_of, resumed


def silent(text: str) -> None:
    pass


def job(folder: Path, **more: object) -> Job:
    return Job(["python", "train.py"], folder, silent, **more)  # type: ignore[arg-type]


def answered(folder: Path, options: list[dict[str, object]], **about: object) -> Path:
    """Results of this user."""
    Journal(folder, {"kind": "tune", **about}).answer({"tune_options": options})
    return folder


def test_a_session_goes_on_with_what_it_was_told(tmp_path: Path) -> None:
    first = job(tmp_path, tried=("malloc",), budget_s=90.0, environment=(("OUT", "{run}"),), copies=True, steps=4)
    Journal(tmp_path, {"kind": "tune", "command": first.command, "settings": first.settings()})
    assert resumed(tmp_path, [], silent) == first
    assert resumed(tmp_path, ["python", "train.py"], silent) == first
    with pytest.raises(UsageError, match=r"these runs are of `python train.py`; begin another folder\."):
        resumed(tmp_path, ["python", "other.py"], silent)
    assert resumed(tmp_path, [], silent, [("OUT", "{run}")]) == first
    for name, value in (("OUT", "/there"), ("BATCH", "16")):
        with pytest.raises(UsageError, match=rf"--env {name} cannot change within .*; begin another folder\."):
            resumed(tmp_path, [], silent, [(name, value)])


def test_what_was_blanked_has_to_be_given_again(tmp_path: Path) -> None:
    secret = Job(["python", "train.py", "--token", "abc"], tmp_path, silent, environment=(("API_TOKEN", "abc"),))
    Journal(tmp_path, {"kind": "tune", "command": secret.command, "settings": secret.settings()})
    assert "abc" not in (tmp_path / "capture.json").read_text()
    with pytest.raises(UsageError, match="the command line was not kept whole"):
        resumed(tmp_path, [], silent)
    with pytest.raises(UsageError, match="the value of API_TOKEN was not kept; give it again"):
        resumed(tmp_path, secret.command, silent)
    assert resumed(tmp_path, secret.command, silent, [("API_TOKEN", "abc")]) == secret
    with pytest.raises(UsageError, match=r"these runs are of `python train.py --token '\*\*\*'`"):
        resumed(tmp_path, ["python", "train.py"], silent)


def test_sessions_are_resumed_where_they_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = job(tmp_path / "runs")
    Journal(tmp_path / "runs", {"kind": "tune", "command": first.command, "settings": first.settings()})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="go there to resume"):
        resumed(tmp_path / "runs", [], silent)
    with pytest.raises(InputError, match="holds no results"):
        resumed(tmp_path, [], silent)


@pytest.mark.parametrize(
    ("step_s", "steps", "expected"),
    [
        (0.015, None, Limits(2, 30, most_s=600)),
        (0.4, None, Limits(2, 5, most_s=600)),
        (2.3, None, Limits(1, 3, most_s=600)),
        (2.3, 8, Limits(1, 8, most_s=600)),
        (0.4, 0, Limits(2, 30, ends=False)),
    ],
)
def test_runs_take_about_two_seconds_of_steps(step_s: float, steps: int | None, expected: Limits) -> None:
    capture = {"cost": {"bare_step_ns": int(step_s * 1e9)}}
    assert tuning._limits(job(Path(), steps=steps), capture) == expected


@pytest.mark.parametrize(
    ("workers", "step_s", "expected"),
    [
        (0, 0.4, (2, 5)),
        (4, 0.4, (9, 8)),  # Bursts of four: two of them, and none of the eight batches that were waiting.
        (7, 0.015, (15, 35)),
        (40, 0.4, (81, 40)),
    ],
)
def test_whole_bursts_of_the_workers_that_load_data_are_timed(
    workers: int, step_s: float, expected: tuple[int, int]
) -> None:
    capture = {"cost": {"bare_step_ns": int(step_s * 1e9)}, "ranks": [{"workers": workers}]}
    limits = tuning._limits(job(Path()), capture)
    assert (limits.discard, limits.steps) == expected
    assert tuning._limits(job(Path(), steps=3, discard=1), capture) == Limits(1, 3, most_s=600)


def test_bursts_of_the_script_and_of_an_option_are_both_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning.quiet, "n_cores", lambda: 4)
    capture = {"cost": {"bare_step_ns": int(0.4e9)}, "ranks": [{"workers": 3}]}
    limits = tuning._limits(job(Path()), capture, named(["loader_workers"]))
    assert (limits.discard, limits.steps) == (9, 12)


SHORT = """
import torch
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range({steps}):
    model(torch.randn(16, 8)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.long
@pytest.mark.parametrize("steps", [pytest.param(7, marks=pytest.mark.long), 10])
def test_a_script_too_short_for_that_is_timed_all_the_same(tmp_path: Path, steps: int) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(SHORT.format(steps=steps))
    said: list[str] = []
    of_job = Job([sys.executable, str(tmp_path / "train.py")], tmp_path, said.append)
    (tmp_path / "output").mkdir()
    runs = tuning._Runs(of_job, Limits(discard=9, steps=4, most_s=60))
    timed = runs.measure(dict(os.environ))
    assert timed.steps == 4 and timed.step_ns, timed.reason
    assert len(said) == 1 and said[0].startswith(f"the script ends after {steps} steps"), said
    assert runs.limits.discard == 2


@pytest.mark.parametrize(
    ("more", "said", "not_said"),
    [
        ({}, "in this folder, ended after 8 steps; what it writes it writes again in each run", "copy of"),
        ({"copies": True}, "in a fresh copy of this folder each", "writes again"),
        ({"environment": (("OUT", "{run}"),)}, "in this folder, ended after 8 steps. Its output", "writes again"),
    ],
)
def test_what_will_be_run_is_said_before_it_is(more: dict[str, object], said: str, not_said: str) -> None:
    text = tuning._plan(job(Path("runs"), **more), named(["malloc_keeps"]), Limits())
    assert said in text and not_said not in text
    assert text.startswith("trying malloc_keeps: the command is run again and again for up to 10 minutes")


def test_every_run_has_a_folder_of_its_own_and_a_fresh_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / "runs").mkdir()
    (work / "train.py").write_text("x")
    (work / "runs" / "large").write_text("y" * 1000)
    monkeypatch.chdir(work)
    places = []
    for _ in range(2):
        with tuning._placed(
            job(work / "runs", copies=True, environment=(("OUT", "{run}/model"),)), {"A": "b"}
        ) as found:
            there, own = found
            assert sorted(path.name for path in there.iterdir()) == ["train.py"]
            assert own["A"] == "b" and Path(own["OUT"]).parent.is_dir()
            places.append((there, Path(own["OUT"])))
    assert places[0] != places[1] and not any(path.exists() for place in places for path in place)
    assert size(work, work / "runs") == 1
    copy(work, tmp_path / "copy", work / "runs")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["train.py"]


def test_the_best_that_was_shown_is_applied_and_no_other(tmp_path: Path) -> None:
    part = {"kind": "option", "in_best": True, "verdict": "cannot decide"}
    whole = {"kind": "combination", "name": "a+b", "in_best": True, "verdict": "faster"}
    parts = [{**part, "place": 1, "name": "a"}, {**part, "place": 2, "name": "b"}]
    proved = answered(tmp_path / "proved", [*parts, whole])
    assert best_of(proved) == ["a", "b"]
    unproved = answered(tmp_path / "not", [*parts, {**whole, "verdict": "too noisy"}])
    with pytest.raises(UsageError, match="nothing to apply"):
        apply(unproved, ["true"])


def test_every_rule_has_a_first_option_before_any_has_a_second() -> None:
    options = named(["malloc_keeps", "malloc_thresholds", "huge_pages", "channels_last", "flush_denormals"])
    allowed = dict.fromkeys(("malloc_keeps", "malloc_thresholds", "huge_pages"), Bound("page_faults", 1.3))
    allowed |= {"channels_last": Bound("plain_layout_on_cpu", 1.05), "flush_denormals": Bound("denormals", None)}
    assert [option.name for option in tuning._ranked(options, allowed)] == [
        "malloc_keeps", "flush_denormals", "channels_last", "malloc_thresholds", "huge_pages",
    ]  # fmt: skip


def test_of_a_rule_the_options_come_first_that_it_is_the_first_reason_for() -> None:
    options = named(["wait_passive", "loader_workers"])
    allowed = dict.fromkeys(("wait_passive", "loader_workers"), Bound("data_loading", 1.3))
    assert [option.name for option in tuning._ranked(options, allowed)] == ["loader_workers", "wait_passive"]


def test_options_that_do_not_apply_have_their_reason(tmp_path: Path) -> None:
    facts = Facts("torch", "2.13.0", "cpu", 2, {})
    chosen, others = tuning._options(job(tmp_path, tried=("tf32", "channels_last", "nothing")), facts, {})
    assert [option.name for option in chosen] == ["channels_last", "nothing"]
    assert [(option.name, reason) for option, reason in others] == [("tf32", "it is for runs on a GPU")]
    assert tuning._options(job(tmp_path), facts, {}) == ([], [])


def test_what_compilers_keep_is_never_taken_from_a_folder_of_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    row = {"place": 1, "kind": "option", "name": "jax_cache", "in_best": True, "verdict": "faster"}
    theirs = answered(tmp_path / "theirs", [row], framework="jax")
    code = "import os; print(os.environ['JAX_COMPILATION_CACHE_DIR'])"
    assert apply(theirs, [sys.executable, "-c", code]) == 0
    assert capfd.readouterr().out.startswith(str(tmp_path / "mine"))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("no_such_option", "no option 'no_such_option'"),
        ("../../evil", r"no option '\.\./\.\./evil'"),
        ("\x1b[31mred", r"no option '\\x1b\[31mred'"),
        ("malloc", "cannot be (tried together|applied here)"),
    ],
)
def test_names_that_are_no_options_are_not_applied(tmp_path: Path, name: str, told: str) -> None:
    row = {"place": 1, "kind": "option", "name": name, "in_best": True, "verdict": "faster"}
    theirs = answered(tmp_path / "theirs", [row], framework="torch")
    with pytest.raises(UsageError, match=told):
        apply(theirs, [sys.executable, "-c", "raise SystemExit(9)"])


def test_a_session_that_came_to_its_end_is_known(tmp_path: Path) -> None:
    assert not tuning._earlier(tmp_path).get("finished")
    journal = Journal(tmp_path, {"kind": "tune"})
    assert not tuning._earlier(tmp_path).get("finished")
    journal.describe(finished=True)
    assert tuning._earlier(tmp_path)["finished"] is True


def test_the_recording_beside_the_base_is_of_the_best_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(job: Job, folder: Path, environment: dict[str, str], name: str) -> None:
        folder.mkdir()
        (folder / "capture.json").write_text(environment["options"])

    monkeypatch.setattr(tuning, "_record", record)
    monkeypatch.setattr(tuning, "_bounds", lambda folder: {})
    facts = Facts("torch", "2.13.0", "cpu", 2, {})
    recorded = []
    # The second session finds another best, the third the same one, the last none.
    for names in (["malloc_keeps"], ["wait_passive", "huge_pages"], ["huge_pages", "wait_passive"], []):
        journal = Journal(tmp_path, {"kind": "tune", "recorded": tuning._earlier(tmp_path).get("recorded")})
        best = Tried("best", tuple(option for name in names for option in named([name])))
        found = Found([], Tried("nothing", ()), best, {}, False)
        tuning._explain(job(tmp_path), journal, found, facts, lambda names: {"options": " ".join(names)})
        del journal
        recorded.append({path.name: (path / "capture.json").read_text() for path in tmp_path.glob("best*")})
    first, second = "malloc_keeps", "wait_passive huge_pages"
    assert recorded == [
        {"best": first},
        {"best": second, "best.earlier-1": first},
        {"best": second, "best.earlier-1": first},
        {"best.earlier-1": first, "best.earlier-2": second},
    ]


def test_an_option_is_tried_that_two_rules_name_together(tmp_path: Path) -> None:
    facts = Facts("torch", "2.13.0", "cpu", 2, {})
    allowed = bounds({"plain_layout_on_cpu": 10.0, "layout_between_operators": 20.0})
    chosen, _ = tuning._options(job(tmp_path), facts, allowed)
    assert [option.name for option in chosen] == ["channels_last"]


def test_what_was_hidden_behind_another_fault_is_named_in_the_end() -> None:
    facts = Facts("torch", "2.13.0", "cpu", 2, {})
    now = bounds({"plain_layout_on_cpu": 10.0, "unfused_optimizer": 5.0, "denormals": None})
    said = tuning._still_named(facts, now, {"onednn_on", "fused_optimizer"})
    assert said and "channels_last (plain_layout_on_cpu); --try" in said and "fused_optimizer" not in said
    assert tuning._still_named(facts, now, {"channels_last", "fused_optimizer"}) is None
