"""Advice is worked out once; what is remembered is what the rules say."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import held

from traceview import store
from traceview.analysis import advice, finding, findings, remembered, reports
from traceview.store import answers

ANSWERS = "answers of all rules, at least 0.5 %"
SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store.convert([SAMPLE], tmp_path_factory.mktemp("remembered") / "capture")


def answered(capture: Path, at_least: float = 0.5) -> tuple[bool, object]:
    """Whether the rules had to be run, and what they say."""
    rules = advice.load()
    kept = remembered.Advice(rules, {}, at_least)
    with store.open_capture(capture) as connection:
        said = kept.run(connection)
        return held(connection) != set(), said


def test_the_second_time_no_rule_is_run(capture: Path) -> None:
    store.forget(capture)
    with store.open_capture(capture) as connection:
        right = findings.run(connection, advice.load(), {}, 0.5)
    assert answered(capture) == (True, right)
    assert answered(capture) == (False, right)
    assert {finding.status for finding in right[0]} >= {"not found", "cannot tell"}


@pytest.mark.long
def test_another_limit_is_another_answer(capture: Path) -> None:
    answered(capture)
    was_run, (found, _) = answered(capture, 99.0)  # type: ignore[misc]
    assert was_run
    assert all(finding.status != "found" or (finding.saving_pct or 99) >= 99 for finding in found)


def test_what_is_damaged_is_worked_out_again(capture: Path) -> None:
    _, right = answered(capture)
    answers.remember(capture, ANSWERS, [{"rule": "x"}])
    assert answered(capture) == (True, right)


def test_after_a_report_no_rule_is_run_for_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    capture = store.convert([SAMPLE], tmp_path / "capture")
    best = finding.Remembered(True)
    with store.open_capture(capture) as connection:
        reports.run(connection, "overview", best=best)
        right = findings.run(connection, advice.load(), {}, 0.5)
    kept = remembered.Advice(advice.load(), {}, 0.5)
    with store.open_capture(capture) as connection:
        assert kept.run(connection) == right
        assert "removable" not in held(connection), "of the rules nothing is run; only the footer of advice is"
    assert kept.place and (kept.place.framework, kept.place.device) == ("pytorch", "cpu")
    assert answered(capture) == (False, right)


def test_single_rules_and_thresholds_are_not_remembered(capture: Path) -> None:
    kept = remembered.Advice(advice.load(["page_faults"]), {}, 0.5)
    with store.open_capture(capture) as connection:
        found, _ = kept.run(connection)
    assert [finding.rule for finding in found] == ["page_faults"]
    assert answers.recall(capture, ANSWERS) is None or len(answered(capture)[1][0]) > 1  # type: ignore[index]
