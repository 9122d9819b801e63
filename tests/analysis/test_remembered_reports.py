"""Reports are worked out once; what is remembered is what running them gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import held
from cases import first

from traceview import store
from traceview.analysis import remembered_reports, reports
from traceview.analysis.model import Report
from traceview.store import answers

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store.convert([SAMPLE], tmp_path_factory.mktemp("remembered") / "capture")


def answered(
    capture: Path, names: list[str], params: dict[str, str] | None = None, options: tuple[str, ...] = ()
) -> tuple[bool, list[Report]]:
    """Whether anything had to be run, and the reports."""
    known = remembered_reports.Reports([reports.load(name, options) for name in names], params or {}, options)
    with store.open_capture(capture) as connection:
        done = known.run(connection)
        return held(connection) != set(), done


def test_the_second_time_nothing_is_run(capture: Path) -> None:
    names = ["ops", "conv", "study"]
    with store.open_capture(capture) as connection:
        right = [reports.run(connection, name) for name in names]
    assert answered(capture, names[:1]) == (True, right[:1])
    assert answered(capture, names) == (True, right)
    assert answered(capture, names) == (False, right)
    assert sum(len(section.rows) for section in right[0].sections) > 20


@pytest.mark.long
@pytest.mark.parametrize("name", reports.names())
def test_every_report_is_the_same_the_second_time(capture: Path, name: str) -> None:
    _, right = answered(capture, [name])
    assert answered(capture, [name]) == (False, right)


def test_other_parameters_and_options_are_other_answers(capture: Path) -> None:
    answered(capture, ["conv"])
    was_run, (admissible,) = answered(capture, ["conv"], options=("admissible",))
    assert was_run and "admissible" in [section.name for section in admissible.sections]
    answered(capture, ["critical"])
    assert answered(capture, ["critical"], {"step": "5"})[0]
    assert not answered(capture, ["critical"], {"step": "5"})[0]


def test_the_name_of_the_trace_is_not_remembered(capture: Path) -> None:
    first = remembered_reports.Reports([reports.load("overview")], {})
    with store.open_capture(capture) as connection:
        (mine,) = first.run(connection, "mine.json")
    second = remembered_reports.Reports([reports.load("overview")], {})
    with store.open_capture(capture) as connection:
        (yours,) = second.run(connection, "yours")
        assert not held(connection)
    assert "traceview report mine.json" in str(mine) and "mine.json" not in str(yours)
    assert str(mine).replace("mine.json", "yours") == str(yours)


@pytest.mark.parametrize("damage", first(1, [{"name": "overview", "sections": [{}]}, None, [], {"sections": 3}, "x"]))
def test_what_is_damaged_is_worked_out_again(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: object
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _, right = answered(capture, ["layout"])
    (file,) = (tmp_path / "cache/traceview/answers").glob("*/*.json")
    monkeypatch.setattr(answers, "_file", lambda name: file.name)
    answers.remember(capture, "layout", damage)
    assert answered(capture, ["layout"]) == (True, right)


def test_what_is_long_is_not_remembered(capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(remembered_reports, "MOST_VALUES", 10)
    _, right = answered(capture, ["ops"])
    assert answered(capture, ["ops"]) == (True, right)


def test_about_some_ranks_nothing_is_remembered(capture: Path) -> None:
    answered(capture, ["overview"])
    known = remembered_reports.Reports([reports.load("overview")], {}, is_remembered=False)
    with store.open_capture(capture) as connection:
        known.run(connection)
        assert held(connection)
