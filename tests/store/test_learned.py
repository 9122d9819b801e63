"""What tune measured of the bounds of rules is said where advice names them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview.store import learned


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_shares_of_the_saving_are_told_by_rule() -> None:
    assert learned.told("denormals") is None
    learned.remember("denormals", 2.0, 1.6)
    assert learned.told("denormals") == (
        "Measured here: 1 trial of tune gave 75 % of this saving; 1 of 1 at least two thirds of it."
    )
    learned.remember("denormals", 2.0, 1.0)
    learned.remember("denormals", 2.0, 0.9)
    learned.remember("page_faults", 1.5, 1.5)
    assert learned.told("denormals") == (
        "Measured here: 3 trials of tune gave 0 % of this saving (median); 1 of 3 at least two thirds of it."
    )


def test_the_last_ones_count_and_damage_does_not(tmp_path: Path) -> None:
    for _ in range(learned.MOST):
        learned.remember("denormals", 2.0, 2.0)
    (file,) = (tmp_path / "traceview" / "tuned").iterdir()
    file.write_text('["denormals", 2, 1]\n' + file.read_text() + 'null\n["denormals", "x", 1]\n["denormals", 1, 1]\n{')
    assert learned.told("denormals") == (
        "Measured here: 50 trials of tune gave 100 % of this saving (median); 50 of 50 at least two thirds of it."
    )
    learned.remember("denormals", 2.0, 1.0)
    told = learned.told("denormals")
    assert told and told.endswith("49 of 50 at least two thirds of it.")
