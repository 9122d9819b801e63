"""Files that others made, or somebody changed or moved, are read and reported; their commands run only with --trust."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from cases import first

from traceview import cli, store
from traceview.errors import UsageError
from traceview.experiments import trust
from traceview.experiments.results import JOURNAL, Journal
from traceview.experiments.tune.tuning import apply

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
BEST = {"place": 1, "kind": "option", "name": "malloc_thresholds", "in_best": True, "verdict": "faster"}
SCALING = {"ranks": [1], "batches": [], "mode": "weak", "threads": 1, "steps": 20, "discard": 3, "device": None}


def theirs(folder: Path, kind: str = "tune", /, **told: Any) -> Path:
    """A folder of results that came by mail."""
    (folder / "raw").mkdir(parents=True)
    told = {"kind": kind, "folder": Path.cwd().name, "command": ["touch", "evil"], **told}
    (folder / "capture.json").write_text(json.dumps(told))
    (folder / "raw" / JOURNAL).write_text(json.dumps({"traceview": "experiment", "kind": kind}) + "\n")
    return folder


def mine(folder: Path, /, **about: Any) -> Path:
    Journal(folder, {"kind": "tune", "command": ["true"], **about}).answer({"tune_options": [BEST]})
    return folder


def refused(folder: Path) -> bool:
    try:
        trust.allow(folder, False, lambda text: None)
    except UsageError:
        return True
    return False


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def test_what_this_user_made_is_known_here_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = mine(tmp_path / "runs")
    assert not refused(folder) and trust.is_mine(folder)
    shutil.copytree(folder, tmp_path / "copy", symlinks=True)
    assert refused(tmp_path / "copy")
    Journal(folder, {"kind": "tune", "command": ["true"]}).describe(finished=True)
    assert not refused(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another user"))
    assert refused(folder)


@pytest.mark.parametrize("name", [*trust.DECIDING])
def test_one_that_was_changed_is_not_known_any_more(tmp_path: Path, name: str) -> None:
    folder = mine(tmp_path / "runs")
    (folder / name).write_text("{}")
    assert refused(folder)


def test_a_journal_makes_no_folder_of_others_the_users_own(tmp_path: Path) -> None:
    folder = theirs(tmp_path / "runs")
    Journal(folder, {"kind": "tune", "command": ["touch", "evil"]}).answer({"tune_options": [BEST]})
    assert refused(folder)


def test_without_a_state_folder_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert refused(mine(tmp_path / "runs"))


RESUMED = {
    "tune": ["tune", "-o", "F", "--resume"],
    "study scaling": ["study", "scaling", "-o", "F", "--resume"],
    "study algorithms": ["study", "algorithms", "--layer", "3x8x8 k4 3x3", "-o", "F", "--resume", "--threads", "1"],
    "study frameworks": ["study", "frameworks", "-o", "F", "--resume"],
    "schedule": ["schedule", "m.py:make", "-o", "F", "--resume"],
}


@pytest.mark.parametrize("kind", RESUMED)
def test_results_of_others_are_not_continued(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").touch()
    settings = {"environment": {"PYTHONPATH": "F/evil"}} if kind == "tune" else SCALING
    folder = theirs(tmp_path / "F", kind, settings=settings)
    before = sorted(tmp_path.rglob("*"))
    assert cli.main([str(folder) if word == "F" else word for word in RESUMED[kind]]) == 2
    said = capsys.readouterr().err
    assert "was not made by you on this machine, or was changed or moved since. With --trust this " in said
    if kind == "tune":
        assert "this runs: PYTHONPATH=F/evil touch evil" in said
    assert sorted(tmp_path.rglob("*")) == before


def test_the_best_of_others_is_applied_when_the_user_says_so_after_it_is_said(tmp_path: Path) -> None:
    folder = theirs(tmp_path / "F")
    head = json.dumps({"traceview": "experiment", "kind": "tune"})
    answers = folder / trust.ANSWERS
    answers.write_text(head + "\n" + json.dumps({"table": "tune_options", "row": BEST}) + "\n")
    said: list[str] = []
    with pytest.raises(UsageError, match=r"With --trust this runs: MALLOC_.*touch mine"):
        apply(folder, ["touch", "mine"])
    assert not Path("mine").exists()
    assert apply(folder, ["touch", "mine"], trusts=True, say=said.append) == 0
    assert Path("mine").exists() and "this runs: MALLOC_" in said[0] and not trust.is_mine(folder)


def test_an_option_that_cannot_be_here_is_not_applied(tmp_path: Path) -> None:
    folder = theirs(tmp_path / "F")
    rows = [BEST, {**BEST, "name": "bf16_autocast"}]
    lines = [json.dumps({"table": "tune_options", "row": row}) for row in rows]
    (folder / trust.ANSWERS).write_text("\n".join([json.dumps({"traceview": "experiment", "kind": "tune"}), *lines]))
    with pytest.raises(
        UsageError, match=r"bf16_autocast, one of the best options .* cannot be applied here: it is for"
    ):
        apply(folder, ["touch", "mine"], trusts=True)
    assert not Path("mine").exists()


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    *(
        ("tune", {"settings": settings})
        for settings in (
            {"folder": "/x"}, {"budget_s": "abc"}, {"environment": [1, 2]}, {"tried": 5}, {"environment": {"": "x"}},
            {"environment": {"A=B": "x"}}, {"environment": {"A": "\0"}}, {"environment": {"A": "\ud800"}}, [1], "x", 7,
            {"budget_s": -1}, {"budget_s": 1e300}, {"steps": True}, {"steps": -1}, {"seed": "1"}, {"plan": 5},
            {"plan": "/etc/passwd"}, {"say": "x"}, {"command": ["x"]}, {"skipped": {"a": 1}}, {"copies": None},
        )
    ),
    *(
        ("tune", told)
        for told in (
            {"command": [5]}, {"command": {"a": 1}}, {"command": ["a\0b"]}, {"ranks": 5}, {"ranks": [5]},
            {"folder": 5}, {"framework": [1]},
        )
    ),
    *(
        ("study scaling", {"settings": {**SCALING, **changed}})
        for changed in (
            {"ranks": 5}, {"ranks": ["1"]}, {"batches": None}, {"mode": "evil"}, {"mode": []}, {"threads": "1"},
            {"steps": -1}, {"discard": None}, {"device": "evil"}, {"device": 0}, {"more": 1},
        )
    ),
    *(("study scaling", {"settings": settings}) for settings in ({}, [], "x", {"ranks": [1]})),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "told"), first(30, HOSTILE))
def test_hostile_settings_are_sentences_that_name_the_field(
    tmp_path: Path, kind: str, told: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = theirs(tmp_path / "F", kind, **told)
    assert cli.main([*(str(folder) if word == "F" else word for word in RESUMED[kind]), "--trust"]) == 3
    said = capsys.readouterr().err.splitlines()
    assert "capture.json" in said[-1] or "plan.json" in said[-1]
    assert "bug" not in said[-1] and not Path("evil").exists()


@pytest.mark.parametrize("name", ["capture.json", f"raw/{JOURNAL}", "raw", "output", "output/base.txt", "base"])
@pytest.mark.parametrize("what", ["link", "pipe", "zero"])
def test_links_and_pipes_in_a_folder_of_others_lead_nowhere(
    tmp_path: Path, name: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = theirs(tmp_path / "F", command=["false"])
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("precious")
    place = folder / name
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)
    if what == "pipe":
        os.mkfifo(place)
    else:
        target = "/dev/zero" if what == "zero" else tmp_path / "outside" / ("" if name in ("raw", "output") else "file")
        place.symlink_to(target)
    kept = [path.name for path in folder.iterdir()]
    assert cli.main(["tune", "-o", str(folder), "--resume", "--trust"]) in (1, 2, 3)
    assert "bug" not in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["file"]
    assert (tmp_path / "outside" / "file").read_text() == "precious"
    assert all(os.path.lexists(folder / each) or each == "base" for each in kept)


def test_a_capture_that_a_link_stands_for_is_neither_read_nor_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = store.convert([SAMPLE], tmp_path / "outside")
    shutil.rmtree(outside / "rank-0000")
    before = sorted(outside.rglob("*"))
    folder = theirs(tmp_path / "F", command=["false"])
    for name in ("base", "best"):
        (folder / name).symlink_to(outside)
    for words in (["-o", str(folder), "--resume", "--trust"], ["--report", str(folder)]):
        assert cli.main(["tune", *words]) == 3
        assert "base is not a file of traceview's own, but a link" in capsys.readouterr().err
    assert sorted(outside.rglob("*")) == before


def test_a_command_that_fails_removes_nothing_of_a_folder_that_is_continued(tmp_path: Path) -> None:
    folder = mine(tmp_path / "runs", folder="work", settings={})
    Journal(folder, {"kind": "tune", "command": ["false"], "settings": {}})
    (folder / "my notes").write_text("precious")
    (folder / "base").mkdir()
    (folder / "base" / "notes").write_text("precious")
    before = {path for path in folder.rglob("*") if path.parent.name != "base"}
    assert cli.main(["tune", "-o", str(folder), "--resume"]) == 1
    assert before - {folder / "base"} <= set(folder.rglob("*"))
    assert (folder / "base.earlier-1" / "notes").read_text() == "precious"
