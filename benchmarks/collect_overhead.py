"""Measure the cost of recording a training step: bare, under torch.profiler, and under `traceview collect`.

    python benchmarks/collect_overhead.py [--sample samples/training/alexnet_torch.py] [--batch 16] [--rounds 5]

Every contender is a whole process that runs the same sample on one thread; contenders take turns. `profiler` is
torch.profiler as its documentation shows it, with shapes; `profiler, minimum` records no shapes. A step lasts from one
end of the optimizer's `step` to the next; the steps that are recorded count, without the first, which also holds the
profiler's start. A ratio is taken within a round, of the medians of that round's steps; the table shows its median over
the rounds, and from which to which it went. `fastest step` compares the least processor time of any step: what else the
machine does only adds to it. Where other programs load the machine compare processor times.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
WAIT, WARMUP = 3, 1

# Runs a sample and notes when each of its steps ended; drives torch.profiler as a program would do itself.
RUNNER = """
import json, os, runpy, sys, time, torch
from torch.optim.optimizer import register_optimizer_step_post_hook

kind, wait, warmup, steps, target = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
profiler = None
if kind != "bare":
    profiler = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=kind == "shapes",
        schedule=torch.profiler.schedule(wait=wait, warmup=warmup, active=steps, repeat=1),
        on_trace_ready=lambda profile: profile.export_chrome_trace(target + ".trace"))
    profiler.start()
ends = []

def ended(*rest):
    ends.append((time.perf_counter(), time.process_time()))
    if profiler is not None:
        profiler.step()

register_optimizer_step_post_hook(ended)
sys.argv[:] = sys.argv[6:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    with open(target, "w") as file:
        json.dump(ends, file)
"""


@dataclass(frozen=True)
class Contender:
    """`kind` is what the runner does by itself; `collect` are the options of a `traceview collect` around it."""

    kind: str
    collect: list[str] | None = None
    against: tuple[str, float] | None = None
    """The contender that it is held against, and the ratio that is aimed at."""


CONTENDERS = {
    "bare": Contender("bare"),
    "profiler": Contender("shapes"),
    "profiler, minimum": Contender("minimum"),
    "collect": Contender("bare", [], ("profiler", 1.05)),
    "collect --light": Contender("bare", ["--light"], ("profiler, minimum", 1.02)),
}


Steps = list[tuple[float, float]]
"""Seconds and processor seconds of each recorded step of a process."""


def run(contender: Contender, folder: Path, args: argparse.Namespace) -> Steps:
    """Run a process and return the times of its recorded steps. Raises when it fails."""
    steps = args.steps + 1
    words = [sys.executable, "-c", RUNNER, contender.kind, *map(str, (WAIT, WARMUP, steps)), str(folder / "ends.json")]
    words += [str(args.sample), "--batch", str(args.batch), "--steps", str(WAIT + WARMUP + steps), "--threads", "1"]
    words += [] if args.device is None else ["--device", args.device]
    if contender.collect is not None:
        window = ["--wait", str(WAIT), "--warmup", str(WARMUP), "--steps", str(steps)]
        ours = [sys.executable, "-m", "traceview", "collect", "-o", str(folder / "capture"), *window]
        words = [*ours, *contender.collect, "--", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode or (contender.collect is not None and f"recorded {steps} steps" not in done.stderr):
        raise SystemExit(f"{shlex.join(words)[:300]} failed ({done.returncode})\n{done.stderr}")
    ends = json.loads((folder / "ends.json").read_text())[WAIT + WARMUP :]
    return [(later[0] - earlier[0], later[1] - earlier[1]) for earlier, later in itertools.pairwise(ends)]


def spread(values: list[float]) -> str:
    """Median, least and greatest."""
    return f"{median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=Path, default=ROOT / "samples/training/alexnet_torch.py")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=6, help="recorded steps that count, of each process (default 6)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: the sample's own choice")
    args = parser.parse_args()
    taken: dict[str, list[Steps]] = {name: [] for name in CONTENDERS}
    for number in range(args.rounds):
        # The order turns, so that what a process leaves behind (a warm cache, a hot processor) meets each in turn.
        turn = number % len(CONTENDERS)
        for name in [*list(CONTENDERS)[turn:], *list(CONTENDERS)[:turn]]:
            with tempfile.TemporaryDirectory(prefix="traceview-overhead-") as place:
                taken[name].append(run(CONTENDERS[name], Path(place), args))
    report(taken, args)
    return 0


def report(taken: dict[str, list[Steps]], args: argparse.Namespace) -> None:
    """Print the table: times, and ratios to the bare run and to what a contender is held against."""

    def middle(name: str, clock: int) -> list[float]:
        return [median(step[clock] for step in steps) for steps in taken[name]]

    def fastest(name: str, clock: int) -> float:
        return min(step[clock] for steps in taken[name] for step in steps)

    def ratios(name: str, base: str, clock: int) -> str:
        pairs = zip(middle(name, clock), middle(base, clock), strict=True)
        return spread([mine / other for mine, other in pairs])

    print(f"{args.sample.name}, batch {args.batch}: {args.steps} steps x {args.rounds} rounds, one thread\n")
    print(
        "| | step [ms] | processor [ms] | of bare, processor | held against | step | processor | fastest step | aim |"
    )
    print("|---|---:|---:|---:|---|---:|---:|---:|---:|")
    for name, contender in CONTENDERS.items():
        seconds, processor = (1e3 * median(middle(name, clock)) for clock in (0, 1))
        line = f"| {name} | {seconds:.1f} | {processor:.1f} | {ratios(name, 'bare', 1)} |"
        if contender.against is None:
            print(f"{line} | | | | |")
        else:
            base, aim = contender.against
            least = fastest(name, 1) / fastest(base, 1)
            print(f"{line} {base} | {ratios(name, base, 0)} | {ratios(name, base, 1)} | {least:.3f} | {aim:.2f} |")
    print(f"\n(load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")


if __name__ == "__main__":
    sys.exit(main())
