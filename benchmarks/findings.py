"""First lines of the overview of traces, and every finding of advice: `diff` compares those of two versions.

    python benchmarks/findings.py [--table] [--code CHECKOUT] TRACE_OR_FOLDER ... > after.txt
    diff before.txt after.txt

A folder stands for every trace in it, a folder of `worker*` or `rank*` files for the ranks of one job. `--code` is a
checkout of another version, which is imported instead of this one. `--table` prints a row for each rule instead: the
traces in which it found something, to look for false alarms. Nothing is written beside the traces.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASK = """
import sys, traceview
with traceview.open(sys.argv[1]) as trace:
    for line in repr(trace.report()).splitlines()[2:]:
        if not line:
            break
        print(line)
    answers = trace.advise().data.sections[0]
    for row in answers.rows:
        found = {column.name: value for column, value in zip(answers.columns, row)}
        if found["status"] == "found":
            saving = "-" if found["saving_ns"] is None else f"{found['saving_ns'] / 1e6:.3f} ms"
            share = "-" if found["saving_pct"] is None else f"{found['saving_pct']:.1f} % of {found['of']}"
            print(f"  {found['rule']}: {saving}, {share}, {found['confidence']}; {found['path'] or 'no path'}")
"""


def traces(paths: list[Path]) -> Iterator[Path]:
    """The files and folders of ranks that these stand for."""
    for path in paths:
        inside = sorted(path.iterdir()) if path.is_dir() else []
        if not inside or any(re.match(r"(worker|rank)[-_]?\d", entry.name) for entry in inside):
            yield path
        else:
            yield from traces([entry for entry in inside if not entry.name.endswith((".traceview", ".md", ".tsv"))])


def told(path: Path, code: Path) -> str:
    """The first lines of the overview, and the findings."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
        done = subprocess.run(
            [sys.executable, "-c", ASK, str(copy)], cwd=code, capture_output=True, text=True, check=False
        )
    return done.stdout if done.returncode == 0 else f"fails: {(done.stderr.splitlines() or [''])[-1]}\n"


def by_rule(said: dict[str, str]) -> Iterator[str]:
    """A table of the rules that found something: in how many of the traces, and in which, with the share."""
    yield f"| rule | traces, of {len(said)} | which |"
    yield "|---|---:|---|"
    found: dict[str, list[str]] = {}
    for trace, text in said.items():
        for rule, share, level in re.findall(r"(?m)^  (\w+): [^,]*, (-|[\d.]+) ?%?[^,]*, (\w+)", text):
            guess = " (a guess)" if level == "low" else ""
            found.setdefault(rule, []).append(f"{trace}{'' if share == '-' else f' {share} %'}{guess}")
    for rule, where in sorted(found.items()):
        yield f"| `{rule}` | {len(where)} | {', '.join(where)} |"


def main() -> None:
    """Print what is said of each trace, or what each rule found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--code", type=Path, default=ROOT)
    parser.add_argument(
        "--table", action="store_true", help="a table of rules and the traces in which each found something"
    )
    args = parser.parse_args()
    said = {}
    for path in traces(args.paths):
        said[path.name] = told(path.resolve(), args.code.resolve())
        if not args.table:
            print(f"== {path}\n{said[path.name]}", flush=True)
    if args.table:
        print("\n".join(by_rule(said)))


if __name__ == "__main__":
    main()
