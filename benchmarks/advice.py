"""Whether advice keeps its word on this machine's CPU: a run as it is, the rule's bound, the run with the change.

    python benchmarks/advice.py [--case NAME ...] [--runs 3] [--keep FOLDER] [--tensorflow PYTHON]

Every case collects AlexNet before and after the change, in turns, so that what else the machine does falls on both.
Prints the mean step and the processor time per step of each (medians of the runs), the bound that the rule named before
the change, and the gain. A gain above its bound ends with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples" / "training"
USED = "SELECT (user_ns + system_ns) / n_recorded AS cpu_ns FROM processes"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Run:
    """One way to run a sample: its options and environment."""

    words: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A change, and the rule that should have named it."""

    rule: str
    sample: str
    before: Run
    after: Run


CASES = {
    "channels_last": Case(
        "plain_layout_on_cpu",
        "alexnet_torch.py",
        Run(("--layout", "nchw"), ONE_THREAD),
        Run(("--layout", "nhwc"), ONE_THREAD),
    ),
    "onednn": Case(
        "library_off_on_cpu",
        "alexnet_tensorflow.py",
        Run(("--threads", "1"), {"TF_ENABLE_ONEDNN_OPTS": "0"}),
        Run(("--threads", "1")),
    ),
    "threads": Case(
        "threads_idle",
        "alexnet_torch.py",
        Run(("--layout", "nhwc", "--threads", "1")),
        Run(("--layout", "nhwc", "--threads", str(os.cpu_count()))),
    ),
    "oversubscribed": Case(
        "threads_oversubscribed",
        "alexnet_torch.py",
        Run(("--layout", "nhwc", "--threads", str(4 * (os.cpu_count() or 1)))),
        Run(("--layout", "nhwc", "--threads", str(os.cpu_count()))),
    ),
    "allocator": Case(
        "page_faults",
        "alexnet_torch.py",
        Run(("--layout", "nchw"), ONE_THREAD),
        Run(("--layout", "nchw"), {**ONE_THREAD, "MALLOC_TRIM_THRESHOLD_": "-1", "MALLOC_MMAP_MAX_": "0"}),
    ),
    "isa": Case(
        "isa_below_cpu",
        "alexnet_torch.py",
        Run(("--layout", "nhwc"), {**ONE_THREAD, "ONEDNN_MAX_CPU_ISA": "AVX2"}),
        Run(("--layout", "nhwc"), ONE_THREAD),
    ),
}


def traceview(*words: str, environment: dict[str, str] | None = None) -> str:
    """What a verb of traceview prints."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    command = [sys.executable, "-m", "traceview", *words]
    return subprocess.run(command, env=settings, check=True, capture_output=True, text=True).stdout


def measure(case: Case, run: Run, folder: Path, python: str) -> tuple[float, float, dict[str, float | str]]:
    """One run: milliseconds and processor milliseconds per step, and what the rule says of it."""
    command = (python, str(SAMPLES / case.sample), "--steps", "12", *run.words)
    traceview("collect", "-o", str(folder), "--steps", "6", "--", *command, environment=run.environment)
    sections = json.loads(traceview("advise", str(folder), case.rule, "--format", "json"))["sections"]
    (answer,) = sections[0]["rows"]
    (used,) = json.loads(traceview("sql", str(folder), USED, "--format", "json"))
    (step,) = json.loads(traceview("sql", str(folder), "SELECT step_ns FROM scope", "--format", "json"))
    return step["step_ns"] / 1e6, used["cpu_ns"] / 1e6, answer


def compare(name: str, runs: int, place: Path, python: str) -> bool:
    """Print one case; returns whether the gain stays under the bound."""
    case = CASES[name]
    found: dict[str, list[tuple[float, float, dict[str, float | str]]]] = {"before": [], "after": []}
    for number in range(runs):
        for side, run in (("before", case.before), ("after", case.after)):
            found[side].append(measure(case, run, place / f"{name}-{side}-{number}", python))
    step = {side: statistics.median(entry[0] for entry in entries) for side, entries in found.items()}
    cpu = {side: statistics.median(entry[1] for entry in entries) for side, entries in found.items()}
    answers = [entry[2] for entry in found["before"]]
    told = [float(answer["saving_pct"]) for answer in answers if answer["status"] == "found"]
    bound = statistics.median(told) if told else 0.0
    gain = 100 * (1 - step["after"] / step["before"])
    after = ", ".join(sorted({str(entry[2]["status"]) for entry in found["after"]}))
    print(
        f"{name}: step {step['before']:,.0f} -> {step['after']:,.0f} ms, processor {cpu['before']:,.0f} -> "
        f"{cpu['after']:,.0f} ms; {case.rule} found in {len(told)} of {runs}, bound {bound:.1f} %, gain {gain:.1f} %; "
        f"after the change: {after}",
        flush=True,
    )
    return gain <= bound


def main() -> int:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=sorted(CASES), help="default: all that can run")
    parser.add_argument("--runs", type=int, default=3, help="runs of each side (default 3)")
    parser.add_argument("--keep", type=Path, help="keep the captures there")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow, for the case onednn")
    args = parser.parse_args()
    names = args.case or [name for name in CASES if name != "onednn" or args.tensorflow]
    with tempfile.TemporaryDirectory() as folder:
        place = args.keep or Path(folder)
        held = [
            compare(name, args.runs, place, args.tensorflow if name == "onednn" else sys.executable) for name in names
        ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
