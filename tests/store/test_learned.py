"""Results of tune for the bounds of rules are shown where advice names them again, for that framework and device."""

from __future__ import annotations

import concurrent.futures
from pathlib import Path

import pytest

from traceview.store import learned
from traceview.store.learned import Place, Trial

TORCH = Place("pytorch", "cpu", "PyTorch", "AMD EPYC", 2)
ONE_THREAD = Place("pytorch", "cpu", "PyTorch", "AMD EPYC", 1)
CUDA = Place("pytorch", "gpu", "PyTorch", "NVIDIA H200")
TENSORFLOW = Place("tensorflow", "cpu", "TensorFlow", "AMD EPYC", 2)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def remember(rule: str, bound: float, measured: float, place: Place = TORCH, is_proved: bool = True) -> None:
    learned.remember([Trial(rule, bound, measured, place, is_proved)])


def told(rule: str, place: Place) -> str:
    return str(learned.measured(rule, place))


def test_shares_of_the_saving_are_told_by_rule() -> None:
    assert learned.measured("denormals", TORCH) is None
    remember("denormals", 2.0, 1.6)
    assert told("denormals", TORCH) == (
        "Measured by tune: in 1 run of PyTorch on a CPU at hand (AMD EPYC with 2 threads), the best option gave 75 % "
        "of this saving; reached in 1 of 1 within a factor of 1.5."
    )
    remember("denormals", 2.0, 1.0)
    remember("denormals", 2.0, 0.9, ONE_THREAD, is_proved=False)
    remember("page_faults", 1.5, 1.5)
    assert told("denormals", TORCH) == (
        "Measured by tune: in 3 runs of PyTorch on a CPU at hand (2 runs on AMD EPYC with 2 threads, 1 run on AMD EPYC "
        "with 1 thread), the best option gave 0 % of this saving (median); reached in 1 of 3 within a factor of 1.5, "
        "1 of 3 by screening alone."
    )


def test_a_gain_that_is_not_told_from_chance_reaches_no_bound() -> None:
    learned.remember([Trial("page_faults", 1.2, 1.19, TORCH, is_faster=False)])
    assert told("page_faults", TORCH).endswith(
        "gave 96 % of this saving; reached in 0 of 1 within a factor of 1.5, 1 of 1 not told from chance."
    )
    learned.remember([Trial("page_faults", 1.2, 1.19, TORCH, is_proved=False, is_faster=False)])
    assert told("page_faults", TORCH).endswith(
        "reached in 0 of 2 within a factor of 1.5, 1 of 2 by screening alone, 1 of 2 not told from chance."
    )


def test_what_screening_alone_measured_reaches_no_bound(tmp_path: Path) -> None:
    """Also in a line that an earlier version wrote, which has no verdict."""
    remember("page_faults", 1.2, 1.19, is_proved=False)
    (file,) = (tmp_path / "traceview" / "tuned").iterdir()
    file.write_text(file.read_text().replace(', "is_faster": true', ""))
    assert "is_faster" not in file.read_text()
    assert told("page_faults", TORCH).endswith("reached in 0 of 1 within a factor of 1.5, 1 of 1 by screening alone.")


def test_other_frameworks_and_devices_are_counted_and_left_out() -> None:
    remember("data_loading", 2.0, 2.0, TENSORFLOW)
    remember("data_loading", 2.0, 2.0, TENSORFLOW)
    remember("data_loading", 2.0, 1.0, TORCH)
    others = "Left out: 2 runs of TensorFlow on a CPU, 1 run of PyTorch on a CPU."
    assert told("data_loading", CUDA) == f"No results of tune for PyTorch on a GPU yet. {others}"
    said = told("data_loading", TORCH)
    assert "gave 0 % of this saving; reached in 0 of 1" in said
    assert said.endswith(". Left out: 2 runs of TensorFlow on a CPU.")


def test_a_trace_without_a_framework_is_told_nothing_of_any() -> None:
    unknown = Place(None, "cpu")
    remember("data_loading", 2.0, 2.0, unknown)
    assert told("data_loading", unknown) == (
        "No results of tune for an unknown framework on a CPU yet. Left out: 1 run of an unknown framework on a CPU."
    )


def test_the_last_ones_count_and_damage_does_not(tmp_path: Path) -> None:
    for _ in range(learned.MOST):
        remember("denormals", 2.0, 2.0)
    (file,) = (tmp_path / "traceview" / "tuned").iterdir()
    text = file.read_text()
    file.write_text('["denormals", 2, 1]\n' + text + 'null\n{"rule": "denormals"}\n["denormals", 1, 1]\n{\n[[[')
    said = told("denormals", TORCH)
    assert said.endswith("gave 100 % of this saving (median); reached in 50 of 50 within a factor of 1.5.")
    remember("denormals", 2.0, 1.0)
    said = told("denormals", TORCH)
    assert said.endswith("reached in 49 of 50 within a factor of 1.5.")


def test_of_two_that_remember_at_once_nothing_is_lost() -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: remember(f"rule{number}", 2.0, 1.5), range(60)))
    assert [number for number in range(60) if learned.measured(f"rule{number}", TORCH) is None] == []
