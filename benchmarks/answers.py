"""The answers of every report and every rule about traces, kept in a folder; and two such folders compared.

    python benchmarks/answers.py save FOLDER [TRACE ...] [--formats json table]
    python benchmarks/answers.py compare BEFORE AFTER

`save` runs each report and all of advice in every format as the command line does, with a cache of its own, over the
samples where no trace is named; PYTHONPATH chooses another traceview. `compare` prints each answer that differs with
its first line that does, and how many are the same; it returns 1 where one differs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMATS = ("json", "csv", "markdown", "table")


def save(folder: Path, traces: list[Path], formats: Sequence[str] = FORMATS) -> None:
    """Write the answers about each trace, one file for each."""
    from traceview.analysis import reports

    folder.mkdir(parents=True, exist_ok=True)
    every = (ROOT / "samples").glob("*/[!.]*")
    samples = sorted(path for path in every if not path.name.endswith((".py", ".traceview")))
    words = [["report", name] for name in reports.names()] + [["advise", "--all", "--evidence"]]
    for trace in traces or samples:
        with tempfile.TemporaryDirectory() as place:
            os.environ["XDG_CACHE_HOME"] = place
            # What is converted lies beside the trace.
            copy = Path(place) / trace.name
            if trace.is_dir():
                shutil.copytree(trace, copy)
            else:
                shutil.copyfile(trace, copy)
            for verb, *rest in words:
                for form in formats:
                    name = f"{trace.parent.name}-{trace.name}.{rest[0] if verb == 'report' else verb}.{form}"
                    answer = said([verb, str(copy), *rest, "--format", form]).replace(place, "PLACE")
                    (folder / name).write_text(answer, encoding="utf-8")
        print(trace, flush=True)


def said(words: list[str]) -> str:
    """Return what the command line writes to stdout, and to stderr where it fails."""
    from traceview import cli

    found, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(found), contextlib.redirect_stderr(errors):
        code = cli.main(words)
    return found.getvalue() + (f"exit {code}: {errors.getvalue()}" if code else "")


def compare(before: Path, after: Path) -> int:
    """Print what differs; returns 1 where anything does."""
    names = sorted({path.name for folder in (before, after) for path in folder.iterdir()})
    n_same = 0
    for name in names:
        one, two = (lines(folder / name) for folder in (before, after))
        pairs = [pair for pair in itertools.zip_longest(one, two, fillvalue="") if pair[0] != pair[1]]
        n_same += not pairs
        if pairs:
            print(f"{name}: {len(pairs)} lines differ")
            print(f"  - {pairs[0][0][:300]}\n  + {pairs[0][1][:300]}")
    print(f"{n_same} of {len(names)} answers are the same")
    return int(n_same != len(names))


def lines(path: Path) -> list[str]:
    """Return an answer with fractions of nine digits: several threads add up, and the last digits of a sum differ."""
    if not path.exists():
        return ["absent"]
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.9g}", path.read_text(encoding="utf-8")).splitlines()


def main() -> int:
    """Save or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    saving = verbs.add_parser("save")
    saving.add_argument("folder", type=Path)
    saving.add_argument("traces", type=Path, nargs="*")
    saving.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.verb == "compare":
        return compare(arguments.before, arguments.after)
    save(arguments.folder, arguments.traces, arguments.formats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
