"""How much an agent has to read for a diagnosis, and whether the evidence that it needs is in it. No model is called.

    python benchmarks/agents.py [--most 8000]

A scripted agent asks `traceview mcp`'s tools about ten jobs whose truth is known, as the skill says: the overview, the
advice, of several ranks their report, and the first finding with its evidence. Prints for each job the calls, bytes and
tokens (one for four bytes), and which of the expected sentences were not in the answers. Exits with 1 where one is
missing, where something is said that is false, or where a diagnosis takes more than `--most` tokens.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from given import Given, write  # noqa: E402
from jobs import Job  # noqa: E402

from traceview import store  # noqa: E402
from traceview.analysis.served import Answers  # noqa: E402
from traceview.tables import SCHEMA_VERSION  # noqa: E402

BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class Case:
    """A job, what has to be in the answers about it, and what would be false."""

    name: str
    make: Callable[[], list[Given]]
    expected: tuple[str, ...]
    false: tuple[str, ...] = ()
    world_size: int | None = None


def half(rank: int) -> str:
    """Name of the host of a rank, four to a host."""
    return f"node{rank // 4}"


def late_one(step: int, rank: int) -> float:
    """Rank 1 is late in every step."""
    return 60.0 if rank == 1 else 0.0


def alone() -> list[Given]:
    """One rank whose device only copies for half of a step."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for step in range(4):
        at = 1000.0 * step
        given.span("step", f"step#{step}", at, at + 1000)
        given.copy("HtoD", at + 10, at + 500, at + 1, source_kind="pageable", target_kind="device", size_bytes=10**7)
        given.kernel("ampere_sgemm_128x64_nn", at + 510, at + 980, at + 20)
    return [given]


def some(job: Job, *missing: int) -> list[Given]:
    """The ranks of a job of which there is a trace."""
    return [given for given in job.build() if given.rank not in missing]


CASES = [
    Case("nothing is wrong", lambda: Job(ranks=4).build(), ("No rank makes the others wait",), ("comes last",)),
    Case(
        "a rank hangs",
        lambda: Job(absent=lambda number, rank: (number, rank) == (11, 2)).build(),
        ("Rank 2 never entered all_reduce 11 of group 0", "absent_rank", "last on its device: ampere_sgemm"),
        ("bucket_cap_mb=25",),
    ),
    Case(
        "a trace is missing",
        lambda: some(Job(late=late_one), 1),
        ("Ranks missing: 1 of 4 (1)", "are not known of them"),
        ("comes last", "is waiting for the last rank"),
        world_size=4,
    ),
    Case(
        "a slow host",
        lambda: Job(ranks=8, host=half, slow=lambda step, rank: 1.4 if rank >= 4 else 1.0).build(),
        ("Ranks 4 to 7 (host node1) come last", "compute 1.30 times as long", '"straggler"'),
    ),
    Case(
        "a slow rank",
        lambda: Job(late=late_one).build(),
        ("Rank 1 comes last", "gemm (0.060 ms per step)", '"straggler"'),
    ),
    Case(
        "slow loading on a rank",
        lambda: Job(late=late_one, why="data").build(),
        ("Rank 1 comes last", "data loading (0.060 ms per step)"),
        ("compute 1.",),
    ),
    Case("a slow program on a rank", lambda: Job(late=late_one, why="host").build(), ("Rank 1 comes last", "host (")),
    Case(
        "last by chance",
        lambda: Job(ranks=2, steps=4, late=lambda step, rank: 80.0 if rank == 1 and step != 2 else 0.0).build(),
        ("no more clearly than chance allows",),
        ("Rank 1 comes last",),
    ),
    Case(
        "a rank stops recording",
        lambda: Job(recorded_steps=lambda rank: 4 if rank == 3 else None).build(),
        ("Fewer steps than on the other ranks (4 instead of 6): rank 3",),
        ("never entered",),
    ),
    Case("copies with nothing beside them", alone, ('"copy_bound"', "0.490 ms of it (49.0 %)"), ("other ranks wait",)),
]  # fmt: skip


def diagnose(case: Case) -> list[str]:
    """The answers that a diagnosis of a job takes."""
    with tempfile.TemporaryDirectory() as folder:
        job, made = Path(folder) / "job", case.make()
        write(job, *made, world_size=case.world_size)
        (job / store.KEY_FILE).write_text(json.dumps({"schema": SCHEMA_VERSION}), encoding="utf-8")
        answers = Answers([str(job)], store.Options())
        read: list[dict[str, Any]] = [answers.report(), answers.advise()]
        if len(made) > 1:
            read.append(answers.report("ranks"))
        found = read[1]["data"].get("found", [])
        if found:
            read.append(answers.advise(found[0]["rule"]))
    return [json.dumps(answer) for answer in read]


def faults(case: Case, read: list[str]) -> tuple[list[str], list[str]]:
    """Sentences that are expected and are not in the answers, and those that are in them and false."""
    text = "\n".join(read)
    return [part for part in case.expected if part not in text], [part for part in case.false if part in text]


def main() -> int:
    """Ask about every job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=8000, help="tokens of a diagnosis that are not too many (8000)")
    most = parser.parse_args().most
    failed = False
    print("job  calls  bytes  tokens  missing  false")
    for number, case in enumerate(CASES):
        read = diagnose(case)
        n_bytes = sum(map(len, read))
        missing, false = faults(case, read)
        failed = failed or bool(missing or false or n_bytes > most * BYTES_PER_TOKEN)
        figures = f"{len(read)}  {n_bytes}  {n_bytes // BYTES_PER_TOKEN}"
        print(f"{number + 1}. {case.name}  {figures}  {missing or '-'}  {false or '-'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
