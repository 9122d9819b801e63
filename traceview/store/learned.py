"""How often the bounds of advice were reached where `tune` measured what they promise, in runs of this user.

Invariant: a trial speaks for its own framework and kind of device alone, and others are counted; it is this user's own
cache, and small: the last `MOST` of each rule count.
"""

from __future__ import annotations

import contextlib
import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from traceview.paths import own_folder, user_cache
from traceview.store import cache

MOST = 50
LONGEST_BYTES = 1_000_000
WITHIN = 1.5
"""Factor by which a saving may be smaller than its bound and still count as reaching it."""
NAMED = 3
"""How many machines, or others, are named one by one."""
KINDS = {"cpu": "a CPU", "gpu": "a GPU", "tpu": "a TPU"}


@dataclass(frozen=True)
class Place:
    """Framework and device of a run."""

    framework: str | None
    """As rules of advice call it: pytorch ...; None where it is not known."""
    device: str
    """cpu, gpu or tpu."""
    title: str = ""
    """The framework as the trace writes it."""
    model: str | None = None
    """Product name of the processor or the GPU."""
    threads: int | None = None
    """Threads of a CPU."""

    @property
    def kind(self) -> tuple[str | None, str]:
        """Return the facts that must be equal for a trial to apply."""
        return self.framework, self.device

    def __str__(self) -> str:
        return f"{self.title or self.framework or 'an unknown framework'} on {KINDS.get(self.device, 'a device')}"

    @property
    def machine(self) -> str | None:
        """The model, with the threads of a CPU; None where neither is known."""
        threads = f"{self.threads} thread{'' if self.threads == 1 else 's'}" if self.threads else None
        return " with ".join(filter(None, (self.model, threads))) or None


@dataclass(frozen=True)
class Trial:
    """Bound of a rule in one run of tune, and the gain of the best of its options, both as speed-ups."""

    rule: str
    bound: float
    measured: float
    place: Place
    is_proved: bool = True
    """Whether final pairs say so, and not the screening alone."""
    is_faster: bool = True
    """Whether it was shown to be faster: else a gain may be chance, and reaches no bound."""

    @property
    def share(self) -> float:
        """Return the share saved of the time that could be saved at most."""
        return (1 - 1 / self.measured) / (1 - 1 / self.bound)


def remember(trials: Iterable[Trial]) -> None:
    """Store the trials of the rules of one run."""
    added = [json.dumps(asdict(trial)) for trial in trials]
    if added:
        with contextlib.suppress(OSError):
            file = _file()
            with cache.lock(file):
                draft = file.with_suffix(".new")
                draft.write_text("\n".join([*_lines(file)[-20 * MOST :], *added]) + "\n", encoding="utf-8")
                draft.replace(file)


@dataclass(frozen=True)
class Measured:
    """Results of runs of `tune` for the bound of one rule, for those who ask on a certain place."""

    place: Place
    trials: tuple[Trial, ...]
    """Trials on the framework and kind of device of that place."""
    others: tuple[Trial, ...]
    """Left out."""

    @property
    def reached(self) -> int:
        """In how many final pairs show that the bound was reached."""
        return sum(trial.is_proved and trial.is_faster and trial.share >= 1 / WITHIN for trial in self.trials)

    @property
    def screened(self) -> int:
        """How many rest on the screening alone."""
        return sum(not trial.is_proved for trial in self.trials)

    @property
    def unsure(self) -> int:
        """How many gained in final pairs by no more than chance may give."""
        return sum(trial.is_proved and not trial.is_faster and trial.measured > 1 for trial in self.trials)

    @property
    def share(self) -> float:
        """Return the share of the time that could be saved at most which the best option saved: the median."""
        return statistics.median(trial.share for trial in self.trials)

    def __str__(self) -> str:
        said = self._sentence() if self.trials else f"No results of tune for {self.place} yet."
        others = Counter(str(trial.place) for trial in self.others)
        return f"{said} Left out: {_listed(others, 'run of ', 'runs of ')}." if others else said

    def _sentence(self) -> str:
        several = len(self.trials) > 1
        machines = Counter(trial.place.machine or "machine not recorded" for trial in self.trials)
        on = next(iter(machines)) if len(machines) == 1 else _listed(machines, "run on ", "runs on ")
        alone = f", {self.screened} of {len(self.trials)} by screening alone" if self.screened else ""
        alone += f", {self.unsure} of {len(self.trials)} not told from chance" if self.unsure else ""
        return (
            f"Measured by tune: in {len(self.trials)} run{'s' if several else ''} of {self.trials[-1].place} at hand "
            f"({on}), the best option gave {100 * max(0.0, self.share):.0f} % of this saving"
            f"{' (median)' if several else ''}; reached in {self.reached} of {len(self.trials)} within a factor of "
            f"{WITHIN:g}{alone}."
        )


def measured(rule: str, place: Place) -> Measured | None:
    """Return the results for the bound of a rule on such a place, and what was left out; None without any trial."""
    known = [trial for trial in _trials() if trial.rule == rule][-MOST:]
    fitting = tuple(trial for trial in known if place.framework and trial.place.kind == place.kind)
    others = tuple(trial for trial in known if trial not in fitting)
    return Measured(place, fitting, others) if known else None


def _listed(counted: Counter[str], one: str, several: str) -> str:
    """The most frequent ones with their numbers, and how many more there are."""
    parts = [f"{n} {one if n == 1 else several}{name}" for name, n in counted.most_common(NAMED)]
    rest = counted.total() - sum(n for _, n in counted.most_common(NAMED))
    return ", ".join([*parts, *([f"{rest} more"] if rest else [])])


def _trials() -> list[Trial]:
    found = []
    with contextlib.suppress(OSError):
        for line in _lines(_file()):
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
                value = json.loads(line)
                trial = Trial(**{**value, "place": Place(**value["place"])})
                if trial.bound > 1 and trial.measured > 0 and math.isfinite(trial.bound + trial.measured):
                    found.append(trial)
    return found


def _file() -> Path:
    return own_folder(user_cache() / "tuned") / "rules.jsonl"


def _lines(file: Path) -> list[str]:
    if not file.exists() or file.stat().st_size > LONGEST_BYTES:
        return []
    return file.read_text(encoding="utf-8", errors="replace").splitlines()
