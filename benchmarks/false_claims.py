"""How often `tune` claims a difference where there is none: the same command against itself, again and again.

    python benchmarks/false_claims.py [--times 10] [--most 1] [--keep FOLDER] [-- COMMAND]

Each time `traceview tune --try nothing` runs the command (LeNet, unless another is given) in six final rounds of fresh
processes, as it would for an option. Prints the speed-up with its interval, the pairs that were quiet enough to count,
and the verdict of each, then how many claims there were; all of them are false. Exits with 1 where there are more than
`--most`, and with 3 where not even one had pairs enough to claim anything.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LENET = [sys.executable, str(ROOT / "samples" / "training" / "lenet_torch.py"), "--batch", "64", "--steps", "40"]
ASKED = "SELECT speedup, low, high, pairs, verdict FROM raw.tune_options WHERE name = 'nothing' AND kind = 'option'"
CLAIMS = ("faster", "slower")


def main() -> int:
    """All of them, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--most", type=int, default=1, help="claims that are not too many (default 1)")
    parser.add_argument("--steps", type=int, default=12, help="steps timed in each run (default 12)")
    parser.add_argument("--budget", default="5m", help="for the runs of each (default 5m)")
    parser.add_argument("--keep", type=Path, help="a folder for all results")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="default: LeNet")
    args = parser.parse_args()
    command = args.command[args.command[:1] == ["--"] :] or LENET
    with tempfile.TemporaryDirectory() as folder:
        found = [tuned((args.keep or Path(folder)) / f"runs-{n + 1}", args, command) for n in range(args.times)]
    return told(found, args.most)


def tuned(folder: Path, args: argparse.Namespace, command: list[str]) -> dict[str, Any]:
    """Run one search for nothing and return its result."""
    words = ["-o", str(folder), "--try", "nothing", "--budget", args.budget, "--limit-steps", str(args.steps)]
    traceview("tune", *words, "--", *command)
    row: dict[str, Any] = json.loads(traceview("sql", str(folder), ASKED, "--format", "json"))[0]
    interval = "no interval" if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
    speedup = "no pairs" if row["speedup"] is None else f"{row['speedup']:.3f} times as fast"
    print(f"{folder.name}: {speedup}, {interval}, {row['pairs']} quiet pairs: {row['verdict']}", flush=True)
    return row


def told(found: list[dict[str, Any]], most: int) -> int:
    """How many claims there were, and whether these are too many."""
    able = [row for row in found if row["low"] is not None]
    claims = [row for row in able if row["verdict"] in CLAIMS]
    print(
        f"{len(claims)} false claims in {len(found)} searches, of which {len(able)} had pairs enough to claim anything"
    )
    return 3 if not able else int(len(claims) > most)


def traceview(*words: str) -> str:
    """Return the output of a verb of traceview."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "traceview", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
