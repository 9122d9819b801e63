"""Results of tune for the bounds of advice: of its framework and device, by the best option of each rule."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import traceview
from traceview import store
from traceview.analysis import findings, served
from traceview.cli import main
from traceview.experiments.tune import outcome
from traceview.ingest.options import Options
from traceview.store import learned
from traceview.store.learned import Place, Trial

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
SAMPLE = SAMPLES / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
HERE = Place("pytorch", "cpu", "PyTorch")


def row(name: str, rule: str | None, speedup: float | None, **more: Any) -> dict[str, Any]:
    base = {"bound": 1.5, "pairs": 6, "verdict": "faster", "phase": "final", "applied": "yes: seen"}
    return {"name": name, "kind": "option", "rule": rule, "speedup": speedup, **base, **more}


def told(*rows: dict[str, Any]) -> list[tuple[str, float, bool]]:
    return [(trial.rule, trial.measured, trial.is_proved) for trial in outcome.trials_of(rows, HERE)]


def test_a_rule_is_judged_once_by_the_best_of_its_options() -> None:
    slow = row("jemalloc", "page_faults", 1.1, verdict="no difference seen")
    assert told(slow, row("malloc_keeps", "page_faults", 1.4)) == [("page_faults", 1.4, True)]


def test_a_verdict_goes_with_what_is_learned() -> None:
    """A gain of 19 % whose interval is 0.8 to 1.6 is no gain that was shown."""
    chance = row("b", "page_faults", 1.19, bound=1.2, verdict="no difference seen", low=0.8, high=1.6)
    assert [trial.is_faster for trial in outcome.trials_of([chance], HERE)] == [False]
    proved = row("a", "page_faults", 1.15, bound=1.2)
    for rows in ([chance, proved], [proved, chance]):
        assert outcome.trials_of(rows, HERE) == [Trial("page_faults", 1.2, 1.15, HERE)]


def test_what_final_pairs_say_goes_before_screening() -> None:
    lucky = row("tcmalloc", "page_faults", 1.6, verdict="cannot decide", phase="screening", pairs=2)
    proved = row("malloc_keeps", "page_faults", 1.2)
    assert told(lucky, proved) == told(proved, lucky) == [("page_faults", 1.2, True)]
    assert told(lucky) == [("page_faults", 1.6, False)]


def test_what_was_dropped_as_slower_speaks_against_the_bound() -> None:
    clearly = "clearly slower: 0.90 times as fast in 2 pairs"
    rows = [
        row("channels_last", "plain_layout_on_cpu", 0.9, verdict="dropped", reason=clearly, phase="screening"),
        row("compiled", "host_bound", 1.0, verdict="cannot decide", phase="screening", pairs=3),
    ]
    assert told(*rows) == [("plain_layout_on_cpu", 0.9, False), ("host_bound", 1.0, False)]


@pytest.mark.parametrize(
    "silent",
    [
        row("a", "denormals", 1.2, verdict="dropped", reason="it had no effect: the script sets it"),
        row("a", "denormals", 1.2, applied="no: it is so already, by the script or by default"),
        row("a", "denormals", 1.2, verdict="dropped", reason="it changed the numbers (by 2 %)"),
        row("a", "denormals", 1.2, verdict="failed"),
        row("a", "denormals", None),
        row("a", "denormals", 1.2, verdict="cannot decide", pairs=1, phase="screening"),
        row("a", "denormals", 1.2, bound=None),
        row("a", "data_loading + page_faults", 1.2),
        row("a", None, 1.2),
    ],
)
def test_what_had_no_effect_or_was_not_measured_says_nothing(silent: dict[str, Any]) -> None:
    assert told(silent) == []


def test_a_noisy_machine_says_nothing() -> None:
    noisy = {"name": "nothing", "kind": "null", "verdict": "too noisy"}
    assert told(row("malloc_keeps", "page_faults", 1.4), noisy) == []


@pytest.mark.slow
def test_advice_tells_what_was_measured_on_such_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    base = store.convert([SAMPLE], tmp_path / "base")
    with store.open_capture(base) as connection:
        place = findings.ran_on(connection)
    assert place.kind == ("pytorch", "cpu") and str(place) == "PyTorch on a CPU"
    outcome.learn([row("fused_optimizer", "unfused_optimizer", 1.4)], base)
    cuda = Place("pytorch", "gpu", "PyTorch", "NVIDIA H200")
    learned.remember(outcome.trials_of([row("fused_optimizer", "unfused_optimizer", 1.1)], cuda))
    for _ in range(2):  # The second time from what is remembered of the capture.
        assert main(["advise", str(base), "--at-least", "0%"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "in 1 run of PyTorch on a CPU at hand" in said
        assert "gave 86 % of this saving; reached in 1 of 1 within a factor of 1.5." in said
        assert "Left out: 1 run of PyTorch on a GPU." in said
        assert said.count("Measured by tune") == 1


@pytest.mark.long
def test_programs_get_what_was_measured_wherever_they_get_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    base = store.convert([SAMPLE], tmp_path / "base")
    tensorflow, here = Place("tensorflow", "cpu", "TensorFlow"), Place("pytorch", "cpu", "PyTorch")
    names = ["runs", "reached", "factor", "saving_pct", "screened", "elsewhere"]

    def measured(rows: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
        return {row["rule"]: [row[f"measured_{name}"] for name in names] for row in rows}

    def asked(form: str) -> str:
        assert main(["advise", str(base), "--at-least", "0%", "--format", form]) == 0
        return capsys.readouterr().out

    def as_json() -> dict[str, list[Any]]:
        return measured(json.loads(asked("json"))["sections"][0]["rows"])

    nothing = [None] * len(names)
    learned.remember([Trial("data_loading", 2.0, 2.0, here)])  # It finds nothing in this capture.
    assert len(as_json()) > 30 and all(values == nothing for values in as_json().values())
    learned.remember([Trial("unfused_optimizer", 2.0, 2.0, tensorflow)])
    assert as_json()["unfused_optimizer"] == [0, None, None, None, None, 1]
    # The bound is half of the step: 3/7 of the step are 6/7 of that, reached; a fifth of it is 2/5, not reached.
    learned.remember([Trial("unfused_optimizer", 2.0, 1.75, here)])
    learned.remember([Trial("unfused_optimizer", 2.0, 1.25, here, is_proved=False)])
    expected = [2, 1, 1.5, pytest.approx(100 * (6 / 7 + 2 / 5) / 2), 1, 1]
    assert as_json()["unfused_optimizer"] == expected and as_json()["data_loading"] == nothing
    texts = measured(csv.DictReader(io.StringIO(asked("csv"))))
    assert [float(text) for text in texts["unfused_optimizer"]] == expected
    assert texts["data_loading"] == [""] * len(names)
    agent = served.Answers([str(base)], Options()).advise("unfused_optimizer")["data"]
    assert measured([agent])["unfused_optimizer"] == expected
    frame = traceview.advise(base, at_least_pct=0.0).to_arrow().to_pylist()
    assert measured(frame)["unfused_optimizer"] == expected
