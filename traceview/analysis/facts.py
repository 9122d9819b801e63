"""What a comparison knows about a run: small tables, of one recording or of several of the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Fact:
    """One table of facts about one run."""

    columns: tuple[tuple[str, str], ...]
    """Name and DuckDB type."""
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Run:
    """All that a comparison knows about a run."""

    name: str
    facts: dict[str, Fact]
    footer: tuple[str, ...]
    others: tuple[Run, ...] = ()
    """More recordings of the same: they tell how much recordings differ, and this one is what is taken apart."""

    @property
    def recordings(self) -> tuple[Run, ...]:
        """This one and the others."""
        return (self, *self.others)

    @property
    def has_steps(self) -> bool:
        """Whether its numbers are per step."""
        return bool(self.value("has_steps"))

    def value(self, column: str) -> Any:
        """One column of the one row of the table `run`."""
        fact = self.facts["run"]
        return fact.rows[0][[name for name, _ in fact.columns].index(column)]


def side(runs: Sequence[Run]) -> Run:
    """Several recordings of the same as one run: the one with the middle step time, and the others."""
    recordings = [recording for run in runs for recording in run.recordings]
    ordered = sorted(recordings, key=lambda run: run.value("median_ns") or 0)
    middle = ordered[(len(ordered) - 1) // 2]
    return replace(middle, others=tuple(replace(run, others=()) for run in recordings if run is not middle))
