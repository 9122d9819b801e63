"""Whether advice keeps its word on this machine's CPU: a run as it is, the rule's bound, the run with the change.

    python benchmarks/advice.py [--case NAME ...] [--runs 6] [--cores 2] [--keep FOLDER] [--tensorflow PYTHON]

Every row of advice_pairs.toml is collected before and after its change, in turns, each second pair the other way round,
so that what else the machine does falls on both. All of it runs on the same few cores. Prints the median step and
processor time of each, the bound that the rule named before the change, the gain over pairs with its interval (from six
pairs on: Hodges-Lehmann, exact signed-rank test), what `compare` says of the last pair, and how much of the cores' time
other programs took: pairs in which they took more than a tenth count only where there are no others. A gain that is
surely above its bound, and what the rule calls speculative besides, ends with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from traceview.experiments import quiet, verdict  # noqa: E402

FOLDERS = (ROOT / "benchmarks", ROOT / "samples" / "training")
USED = """SELECT (SELECT median(dur_ns) FROM step_times WHERE NOT is_warmup) AS step_ns,
    (user_ns + system_ns) / n_recorded AS cpu_ns FROM processes"""


@dataclass(frozen=True)
class Run:
    """One way to run a script: its options and environment."""

    words: tuple[str, ...]
    environment: dict[str, str]


@dataclass(frozen=True)
class Case:
    """A change, and the rule that should have named it."""

    rule: str
    script: Path
    before: Run
    after: Run
    needs: str
    """The framework, where it is not PyTorch."""
    record: tuple[str, ...] = ()
    """Options of `collect` on both sides."""


def cases(cores: int) -> dict[str, Case]:
    """Every row of `advice_pairs.toml`, for so many cores."""
    rows = tomllib.loads((ROOT / "benchmarks" / "advice_pairs.toml").read_text(encoding="utf-8"))["pair"]
    return {row["name"]: _case(row, cores) for row in rows}


def _case(row: Mapping[str, Any], cores: int) -> Case:
    runs = [
        Run(
            tuple(word.format(cores=cores, more=4 * cores) for word in row[side]),
            {"OMP_NUM_THREADS": "1", **row.get(f"{side}_set", {})},
        )
        for side in ("before", "after")
    ]
    script = next(path for folder in FOLDERS if (path := folder / row["script"]).exists())
    return Case(row["rule"], script, runs[0], runs[1], row.get("needs", ""), tuple(row.get("record", ())))


@dataclass(frozen=True)
class Measured:
    """Result of one run."""

    step_ms: float
    cpu_ms: float
    answer: dict[str, Any]
    others_pct: float
    """Share of the cores' time used by other programs."""


@dataclass(frozen=True)
class Gain:
    """Gain from a change, in percent of the time before it."""

    value: float
    least: float
    """Lower bound of the gain; minus infinity where there are too few pairs for an interval."""
    most: float | None

    @staticmethod
    def of(times: list[tuple[float, float]]) -> Gain:
        """Return the gain from the times before and after, pair by pair."""
        judged = verdict.judge([before for before, _ in times], [after for _, after in times])
        assert judged.speedup is not None
        value = 100 * (1 - 1 / judged.speedup)
        if judged.interval is None:
            return Gain(value, -math.inf, None)
        return Gain(value, 100 * (1 - 1 / judged.interval.low), 100 * (1 - 1 / judged.interval.high))

    def __str__(self) -> str:
        interval = "" if self.most is None else f" ({self.least:.1f} to {self.most:.1f})"
        return f"{self.value:.1f} %{interval}"


def traceview(*words: str, environment: dict[str, str] | None = None) -> str:
    """Return the output of a verb of traceview."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    command = [sys.executable, "-m", "traceview", *words]
    return subprocess.run(command, env=settings, check=True, capture_output=True, text=True).stdout


def measure(case: Case, run: Run, folder: Path, python: str) -> Measured:
    """One run: the median of its steps, its processor time per step, and what the rule says of it."""
    command = (python, str(case.script), "--steps", "12", *run.words)
    begun = quiet.now()
    traceview("collect", "-o", str(folder), "--steps", "6", *case.record, "--", *command, environment=run.environment)
    others = quiet.others_pct(begun, quiet.now())
    sections = json.loads(traceview("advise", str(folder), case.rule, "--format", "json"))["sections"]
    (answer,) = sections[0]["rows"]
    (used,) = json.loads(traceview("sql", str(folder), USED, "--format", "json"))
    return Measured(used["step_ns"] / 1e6, used["cpu_ns"] / 1e6, answer, others or 0.0)


def compare(name: str, case: Case, runs: int, place: Path, python: str) -> bool:
    """Print one case; returns whether the gain stays under the bound."""
    pairs: list[dict[str, Measured]] = []
    for number in range(runs):
        sides = [("before", case.before), ("after", case.after)]
        if number % 2:
            sides.reverse()
        pairs.append({side: measure(case, run, place / f"{name}-{side}-{number}", python) for side, run in sides})
    calm = [pair for pair in pairs if all(quiet.is_quiet(run.others_pct) for run in pair.values())]
    counted = calm or pairs
    step = {side: statistics.median(pair[side].step_ms for pair in counted) for side in ("before", "after")}
    cpu = {side: statistics.median(pair[side].cpu_ms for pair in counted) for side in ("before", "after")}
    answers = [pair["before"].answer for pair in counted]
    found = [answer for answer in answers if answer["status"] == "found"]
    told = [float(answer["saving_pct"]) for answer in found if answer["saving_pct"] is not None]
    bound = statistics.median(told) if told else None
    rest = max((speculative_pct(answer) for answer in answers), default=0.0)
    gain = Gain.of([(pair["before"].step_ms, pair["after"].step_ms) for pair in counted])
    cpu_gain = Gain.of([(pair["before"].cpu_ms, pair["after"].cpu_ms) for pair in counted])
    after = ", ".join(sorted({str(pair["after"].answer["status"]) for pair in counted}))
    others = statistics.median(run.others_pct for pair in counted for run in pair.values())
    told_bound = "none" if bound is None else f"{bound:.1f} %"
    print(
        f"{name}: step {step['before']:,.0f} -> {step['after']:,.0f} ms, processor {cpu['before']:,.0f} -> "
        f"{cpu['after']:,.0f} ms; {case.rule} found in {len(found)} of {len(counted)}, "
        f"bound {told_bound}, "
        f"speculative {rest:.1f} %, gain {gain}, in processor time {cpu_gain}; after the change: {after}; "
        f"compare: {compared(name, runs, place)}; "
        f"other programs took {others:.0f} % of the cores, {len(calm)} of {runs} pairs were quiet",
        flush=True,
    )
    # Where others took the cores only processor time says something.
    return (gain if calm else cpu_gain).least <= (bound if bound is not None else 100.0) + rest


def speculative_pct(answer: Mapping[str, Any]) -> float:
    """Return the gain that the rule names besides its bound, in percent of the step; 0 if it names none."""
    lines = [line for line in answer["evidence"] or () if line.startswith("speculative:")]
    return sum(float(number) for line in lines for number in re.findall(r"\(([\d.]+) % of the step\)", line))


def compared(name: str, runs: int, place: Path) -> str:
    """Compare the last pair with `traceview compare`."""
    folders = [str(place / f"{name}-{side}-{runs - 1}") for side in ("before", "after")]
    sections = json.loads(traceview("compare", *folders, "--format", "json"))["sections"]
    row = next(part for part in sections if part["name"] == "ranking")["rows"][1]
    return f"{row['speedup']:.2f} times as fast, {row['verdict']}"


def main() -> int:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = list(cases(1))
    parser.add_argument("--case", action="append", choices=sorted(every), help="default: all that can run")
    parser.add_argument("--runs", type=int, default=6, help="runs of each side (default 6)")
    parser.add_argument("--cores", type=int, default=2, help="cores that all of it may use (default 2)")
    parser.add_argument("--keep", type=Path, help="keep the captures there")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow, for its pairs")
    args = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
    known = cases(len(os.sched_getaffinity(0)))
    names = args.case or [name for name, case in known.items() if not case.needs or args.tensorflow]
    with tempfile.TemporaryDirectory() as folder:
        place = args.keep or Path(folder)
        held = []
        for name in names:
            python = args.tensorflow if known[name].needs else sys.executable
            held.append(compare(name, known[name], args.runs, place, python))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
