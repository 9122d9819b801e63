"""First lines of the overview of traces, and every finding of advice: `diff` compares those of two versions.

    python benchmarks/findings.py [--code CHECKOUT] TRACE_OR_FOLDER ... > after.txt
    diff before.txt after.txt
    python benchmarks/findings.py --table docs/accuracy.md ../shared/traces samples

A folder stands for every trace in it, a folder of `worker*` or `rank*` files for the ranks of one job. `--code` is a
checkout of another version, which is imported instead of this one. `--table` writes a row for each rule, with the
traces in which it found something, between two marks of a page, to look for false alarms. Nothing is written beside the
traces.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NO_TRACES = (".traceview", ".md", ".tsv", ".py", ".pyc", ".toml", ".ipynb", "training", "notebooks", "legacy")
MARKS = (
    "<!-- findings: python benchmarks/findings.py --table docs/accuracy.md ../shared/traces samples -->\n",
    "<!-- -->",
)
ADVISE = """
import json, sys, traceview
with traceview.open(sys.argv[1]) as trace:
    answers = trace.advise().data.sections[0]
    rows = [{column.name: value for column, value in zip(answers.columns, row)} for row in answers.rows]
    found = [row for row in rows if row["status"] == "found"]
"""
SHORT = (
    ADVISE + 'print(json.dumps([[row["rule"], row["saving_pct"], row["confidence"], row["path"]] for row in found]))'
)
LONG = (
    ADVISE
    + """
    for line in repr(trace.report()).splitlines()[2:]:
        if not line:
            break
        print(line)
for row in found:
    saving = "-" if row["saving_ns"] is None else f"{row['saving_ns'] / 1e6:.3f} ms"
    share = "-" if row["saving_pct"] is None else f"{row['saving_pct']:.1f} % of {row['of']}"
    print(f"  {row['rule']}: {saving}, {share}, {row['confidence']}; {row['path'] or 'no path'}")
"""
)


def traces(paths: list[Path]) -> Iterator[Path]:
    """The files and folders of ranks that these stand for."""
    for path in paths:
        inside = sorted(path.iterdir()) if path.is_dir() else []
        if not inside or any(re.match(r"(worker|rank)[-_]?\d", entry.name) for entry in inside):
            yield path
        else:
            yield from traces([entry for entry in inside if not entry.name.endswith(NO_TRACES)])


def told(path: Path, code: Path, program: str) -> str | None:
    """The output of a program about a trace; None where it cannot be read, with the reason on standard error."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
        done = subprocess.run(
            [sys.executable, "-c", program, str(copy)], cwd=code, capture_output=True, text=True, check=False
        )
    if done.returncode:
        print(f"{path}: {(done.stderr.splitlines() or [''])[-1]}", file=sys.stderr)
        return None
    return done.stdout


def rows(found: dict[str, list[list[Any]]]) -> Iterator[str]:
    """A table of the rules that found something, the most frequent first."""
    where: dict[str, list[tuple[bool, bool, str]]] = {}
    for trace, findings in found.items():
        for place, (rule, share, confidence, path) in enumerate(findings):
            is_guess = confidence.startswith("low") or path == "not on the critical path"
            leads = place == 0 and not is_guess
            text = f"{trace}{'' if share is None else f' {share:.1f}'}"
            where.setdefault(rule, []).append(
                (leads, is_guess, f"**{text}**" if leads else f"({text})" if is_guess else text)
            )
    yield f"| rule | of {len(found)} traces | leads | guess | in, with its share in percent |"
    yield "|---|---:|---:|---:|---|"
    for rule, texts in sorted(where.items(), key=lambda each: (-len(each[1]), each[0])):
        n_leads, n_guesses = sum(text[0] for text in texts), sum(text[1] for text in texts)
        yield f"| `{rule}` | {len(texts)} | {n_leads} | {n_guesses} | {', '.join(text[2] for text in texts)} |"


def short(path: Path) -> str:
    """The name of a trace without its endings."""
    return re.sub(r"(\.(json|gz|log|txt|xplane|pb|sqlite|nvvp|rpd))+$", "", path.name)


def main() -> None:
    """Print what is said of each trace, or write what each rule found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--code", type=Path, default=ROOT)
    parser.add_argument("--table", type=Path, metavar="PAGE", help="write the table of rules and traces into this page")
    args = parser.parse_args()
    code, found = args.code.resolve(), {}
    for path in traces(args.paths):
        text = told(path.resolve(), code, SHORT if args.table else LONG)
        if args.table and text is not None:
            name = short(path)
            found[f"{name} ({path.parent.name})" if name in found else name] = json.loads(text)
        elif not args.table:
            print(f"== {path}\n{'fails' if text is None else text}", flush=True)
    if args.table:
        page = args.table.read_text(encoding="utf-8")
        before, rest = page.split(MARKS[0])
        after = rest[rest.index(MARKS[1]) :]
        table = "\n".join(rows(found))
        args.table.write_text(f"{before}{MARKS[0]}\n{table}\n\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
