"""How much faster a plan makes the training step of the networks of the studies, in pairs of fresh processes.

    python benchmarks/schedule.py alexnet [--pairs 6] [--threads 1] [--workspace 8MB] [--keep FOLDER] [--plan PLAN]

Makes a plan with `traceview schedule` for a network of samples/training, unless one is given, then runs that sample's
training script, unchanged, in rounds of fresh processes, one with the plan and two without it: the same threads and
the same malloc settings on all sides. Prints the ratio of step times with its interval, and exits with 1 where it is
below the network's target on one thread without a cap.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from traceview.experiments import command
from traceview.experiments.pairs import new_seed, prove
from traceview.experiments.results import Journal
from traceview.experiments.schedule.job import MALLOC
from traceview.experiments.schedule.proof import rounds

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples" / "training"
NETWORKS = {
    "alexnet": ("alexnet_torch.py:AlexNet", 16, "3x227x227", 1.5),
    "alexnet_owt": ("alexnet_owt_torch.py:alexnet_owt", 16, "3x224x224", 1.5),
    "vgg_a": ("vgg_a_torch.py:vgg_a", 4, "3x224x224", 1.7),
    "googlenet": ("googlenet_torch.py:googlenet", 8, "3x224x224", 1.4),
    "resnet18": ("resnet50_torch.py:resnet18", 4, "3x224x224", 1.15),
    "resnet50": ("resnet50_torch.py:resnet50", 4, "3x224x224", 0.97),
}
"""The model's constructor, images in a step, their size, and the minimum ratio."""


def main() -> int:
    """One network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workspace", help="cap on workspace, for example 8MB")
    parser.add_argument("--plan", type=Path, help="a plan that was made before")
    parser.add_argument("--keep", type=Path, help="a folder for the plan and what was measured")
    args = parser.parse_args()
    factory, batch, image, target = NETWORKS[args.network]
    with tempfile.TemporaryDirectory() as folder:
        place = args.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        plan = args.plan or place / "plan.json"
        if not args.plan:
            words = [sys.executable, "-m", "traceview", "schedule", f"{SAMPLES / factory}", "--batch", str(batch)]
            words += ["--image", image, "--threads", str(args.threads), "--pairs", "0", "--plan", str(plan)]
            words += ["--workspace", args.workspace] if args.workspace else []
            subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        script = str(SAMPLES / factory.partition(":")[0])
        words = [sys.executable, script, "--steps", "64", "--batch", str(batch), "--threads", str(args.threads)]
        words += ["--depth", args.network.removeprefix("resnet")] if args.network.startswith("resnet") else []
        environment = {"OMP_NUM_THREADS": str(args.threads), **MALLOC}
        limits = command.Limits(discard=3, steps=6)
        journal = Journal(Path(folder) / "pairs", {"kind": "schedule"})
        log = place / "log.txt"
        found, repeated = rounds("plan", words, plan, environment, args.pairs, log, journal, new_seed(), limits)
    proof = prove(found, repeated, args.threads)
    judged = proof.judged
    interval = f" ({judged.interval.low:.2f} to {judged.interval.high:.2f})" if judged.interval else ""
    for pair in found:
        times = f"{pair.base['step_ns'] / 1e6:.0f} -> {pair.other['step_ns'] / 1e6:.0f} ms"
        print(f"  {times}{'' if pair.is_quiet else ', others were busy'}")
    print(
        f"{args.network}, batch {batch}, {args.threads} thread(s): {judged.speedup or 0:.2f}{interval} times as fast, "
        f"{proof.verdict}, {args.pairs} rounds, {proof.clock} time"
    )
    return 0 if args.workspace or args.threads > 1 or (judged.speedup or 0) >= target else 1


if __name__ == "__main__":
    sys.exit(main())
